"""The proved widths: against dense computations, their inequalities, and coverage in short runs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.widths import gaussian, proved

DELTA = 0.1
NOISE = 0.3
GRID = NOISE**2 * np.array([1.0, 3.0, 10.0, 30.0, 100.0])


def rbf(X, Y, lengthscale=0.2):
    return np.exp(-((X[:, None] - Y[None]) ** 2).sum(-1) / (2 * lengthscale**2))


def log_det(K, lam):
    return np.linalg.slogdet(np.eye(len(K)) + K / lam)[1]


def ridge(K, y, lam):
    return lam * y @ np.linalg.solve(K + lam * np.eye(len(K)), y)


def projected(K, dictionary):
    """Q: the kernel matrix of all points, projected on the span of a dictionary's points."""
    values, vectors = np.linalg.eigh(K[np.ix_(dictionary, dictionary)])
    keep = values > 1e-10
    Z = K[:, dictionary] @ (vectors[:, keep] / np.sqrt(values[keep]))
    return Z @ Z.T


def test_exact_by_hand():
    # √(0.25·4 + 0.01·(3 + 2 log 10)) = √(1 + 0.07605170) = 1.03733
    assert proved.exact(0.1, 2.0, 0.25, 0.1, 3.0) == pytest.approx(1.0373291, abs=1e-6)


def test_sparse_by_hand():
    # ε = 0.1/0.4 = 0.25, c = 1 + 0.125 + √(0.25 + 0.015625) = 1.6403882
    # n² = 0.04·(5 + 2 log 20) = 0.4396586, n = 0.6630675
    # n² + 2n·3·√0.5 + c·0.4·9 = 0.4396586 + 2.8131566 + 5.9053975 = 9.1582127
    assert proved.leverage_ratio(0.1, 0.4) == pytest.approx(1.6403882, abs=1e-6)
    assert proved.sparse(0.2, 3.0, 0.4, 0.05, 5.0, 0.1) == pytest.approx(3.0262539, abs=1e-6)


def test_sparse_without_residual_is_the_sum_of_bias_and_noise_and_not_exact():
    args = 0.2, 3.0, 0.4, 0.05, 5.0
    width = proved.sparse(*args, 0.0)
    assert width == pytest.approx(math.sqrt(0.4) * 3 + 0.2 * math.sqrt(5 + 2 * math.log(20)))
    assert proved.exact(*args) < width <= math.sqrt(2) * proved.exact(*args)


@pytest.mark.parametrize("trace", [1e-3, 0.1, 1.0, 30.0])
def test_sparse_is_below_its_three_terms_added(trace):
    three = 3 * (math.sqrt(0.4) + math.sqrt(trace)) + 0.2 * math.sqrt(5 + 2 * math.log(20))
    assert proved.sparse(0.2, 3.0, 0.4, 0.05, 5.0, trace) < three


def test_one_lambda_and_no_residual_is_exact():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(12, 1))[rng.integers(12, size=30)]  # with replicates
    y = rng.standard_normal(30)
    K, lam = rbf(X, X), 0.3
    widths, refuted = proved.for_each_lambda(
        0.5, 4.0, 0.1, np.array([lam]), np.array([log_det(K, lam)]), np.array([ridge(K, y, lam)])
    )
    assert widths[0] == pytest.approx(proved.exact(0.5, 4.0, lam, 0.1, log_det(K, lam)))
    assert not refuted


def test_squared_radius_is_the_log_of_a_mean_of_gaussian_likelihoods():
    """S² = −2ξ² log( mean_g N(y; 0, ξ²(K/λ_g + I)) (2πξ²)^(t/2) δ ), densities computed densely."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(8, 2))[rng.integers(8, size=20)]
    y, K, noise = 0.4 * rng.standard_normal(20), rbf(X, X), 0.4
    likelihoods = []
    for lam in GRID:
        covariance = noise**2 * (K / lam + np.eye(20))
        quadratic = y @ np.linalg.solve(covariance, y)
        likelihoods.append(np.linalg.det(covariance / noise**2) ** -0.5 * np.exp(-quadratic / 2))
    expected = -2 * noise**2 * np.log(np.mean(likelihoods) * 0.05)
    log_dets = np.array([log_det(K, lam) for lam in GRID])
    ridges = np.array([ridge(K, y, lam) for lam in GRID])
    assert proved.squared_radius(noise, 0.05, log_dets, ridges) == pytest.approx(expected)


def test_squared_radius_tends_to_the_smallest_ridge_as_noise_vanishes():
    log_dets, ridges = np.array([9.0, 5.0, 2.0]), np.array([0.25, 0.7, 1.9])
    for noise in (1e-3, 1e-20, 1e-170, 0.0):
        square = proved.squared_radius(noise, 0.1, log_dets, ridges)
        assert square == pytest.approx(0.25, abs=30 * noise**2 + 1e-15)


def test_squared_radius_of_huge_sums_neither_overflows_nor_vanishes():
    square = proved.squared_radius(1.0, 0.1, np.array([1e4, 2e4]), np.array([1e8, 1e8]))
    assert square == pytest.approx(1e8 + 1e4 + 2 * math.log(2 / 0.1), rel=1e-14)


def test_the_price_of_a_grid_is_at_most_the_log_of_its_size():
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(25, 1))
    K = rbf(X, X)
    y = K @ rng.standard_normal(25) + NOISE * rng.standard_normal(25)
    log_dets = np.array([log_det(K, lam) for lam in GRID])
    ridges = np.array([ridge(K, y, lam) for lam in GRID])
    widths, _ = proved.for_each_lambda(NOISE, 5.0, DELTA, GRID, log_dets, ridges)
    for width, lam, gain in zip(widths, GRID, log_dets, strict=True):
        assert width <= proved.exact(NOISE, 5.0, lam, DELTA / len(GRID), gain) * (1 + 1e-9)


def rewards_of(norm, noise, seed, t=80):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(30, 1))
    weights = rng.standard_normal(30)
    weights *= norm / math.sqrt(weights @ rbf(X, X) @ weights)
    ids = rng.integers(30, size=t)
    K = rbf(X[ids], X[ids])
    y = (rbf(X, X) @ weights)[ids] + noise * rng.standard_normal(t)
    return np.array([log_det(K, lam) for lam in GRID]), np.array([ridge(K, y, lam) for lam in GRID])


def test_true_assumptions_are_rarely_refuted_and_wrong_ones_found():
    right = [rewards_of(2.0, NOISE, seed) for seed in range(40)]
    assert sum(proved.for_each_lambda(NOISE, 2.0, DELTA, GRID, *data)[1] for data in right) <= 4
    square = proved.squared_noise(NOISE, DELTA, 80)
    assert sum(proved.smallest_norm(square, GRID, data[1]) > 2.0 for data in right) <= 4
    norm = [rewards_of(20.0, NOISE, seed) for seed in range(10)]
    assert all(proved.for_each_lambda(NOISE, 2.0, DELTA, GRID, *data)[1] for data in norm)
    noise = [rewards_of(2.0, 2 * NOISE, seed) for seed in range(10)]
    assert all(proved.smallest_norm(square, GRID, data[1]) > 2.0 for data in noise)


def test_round_off_refutes_nothing():
    lams = np.array([0.5, 1.0])
    ridges = lams * 4.0 * (1 + 1e-12)  # the largest that noiseless rewards of norm 2 can have
    widths, refuted = proved.for_each_lambda(0.0, 2.0, 0.1, lams[1:], np.zeros(1), ridges[1:])
    assert widths[0] == pytest.approx(2.0)
    assert not refuted
    assert proved.squared_noise(0.0, 0.1, 10) == 0.0
    assert proved.smallest_norm(0.0, lams, ridges) <= 2.0
    assert proved.smallest_norm(0.0, lams, ridges * 1.01) > 2.0


@pytest.mark.parametrize("bounded", [False, True])
def test_squared_noise_holds_for_all_times_at_once(bounded):
    rng = np.random.default_rng(3)
    noise = rng.choice([-1.0, 1.0], (200, 400)) if bounded else rng.standard_normal((200, 400))
    bounds = [proved.squared_noise(1.0, DELTA, t) for t in range(1, 401)]
    assert np.mean(np.any((noise**2).cumsum(1) > bounds, axis=1)) <= DELTA
    assert proved.squared_noise(1.0, DELTA, 100_000) < 1.03 * 100_000


@st.composite
def projections(draw):
    """Features of t evaluations with replicates (t × d), and the first m coordinates kept."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, arms, t = draw(st.integers(1, 6)), draw(st.integers(1, 8)), draw(st.integers(1, 20))
    decay = np.exp(-draw(st.floats(0.0, 3.0)) * np.arange(d))
    # A rotation, so that what is kept and what is dropped are correlated.
    rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
    unique = rng.standard_normal((arms, d)) * decay @ rotation
    ids = rng.integers(arms, size=t)
    lam = 10 ** draw(st.floats(-3.0, 2.0))
    return unique, ids, draw(st.integers(0, d)), lam, rng


@given(projections())
@settings(max_examples=200, deadline=None)
def test_projected_noise_is_smaller_and_log_det_bounds_hold(case):
    unique, ids, m, lam, rng = case
    full, kept = unique[ids], unique[ids, :m]
    K, Q, eye = full @ full.T, kept @ kept.T, np.eye(len(ids))
    noise = rng.standard_normal(len(ids))
    smaller = noise @ Q @ np.linalg.solve(Q + lam * eye, noise)
    larger = noise @ K @ np.linalg.solve(K + lam * eye, noise)
    assert smaller <= larger * (1 + 1e-9) + 1e-9
    counts = np.bincount(ids, minlength=len(unique)).astype(float)
    priors, residuals = (unique**2).sum(1), (unique[:, m:] ** 2).sum(1)
    on_span = np.array([log_det(Q, lam)])
    bound = proved.log_det_bounds(on_span, counts, priors, residuals, np.array([lam]))[0]
    truth, trace = log_det(K, lam), counts @ residuals
    assert truth <= bound * (1 + 1e-9) + 1e-9
    outside = max(int((counts * residuals > 0).sum()), 1)
    weaker = log_det(Q, lam) + outside * math.log1p(trace / (outside * lam))
    assert bound <= weaker + 1e-9 <= log_det(Q, lam) + trace / lam + 2e-9


@given(projections())
@settings(max_examples=200, deadline=None)
def test_leverages_of_a_dictionary_are_within_the_ratio(case):
    """Both ways at once: V~ ⪯ cV and V ⪯ cV~."""
    unique, ids, m, lam, _ = case
    full = unique[ids]
    kept = np.where(np.arange(full.shape[1]) < m, full, 0.0)
    eye = lam * np.eye(full.shape[1])
    V, sparse = full.T @ full + eye, kept.T @ kept + eye
    ratio = proved.leverage_ratio((full[:, m:] ** 2).sum(), lam)
    for larger, smaller in ((V, sparse), (sparse, V)):
        root = np.linalg.inv(np.linalg.cholesky(smaller))
        assert np.linalg.eigvalsh(root @ larger @ root.T)[-1] <= ratio * (1 + 1e-7)


@given(projections(), st.floats(0.0, 1.0))
@settings(max_examples=200, deadline=None)
def test_bias_of_a_dictionary_is_within_the_bound(case, share):
    """Without noise, |f − mean| at every point; with noise, the whole of ``sparse``'s argument."""
    unique, ids, m, lam, rng = case
    full = unique[ids]
    kept = np.where(np.arange(full.shape[1]) < m, full, 0.0)
    V = kept.T @ kept + lam * np.eye(full.shape[1])
    f, noise = rng.standard_normal(full.shape[1]), share * rng.standard_normal(len(ids))
    error = f - np.linalg.solve(V, kept.T @ (full @ f + noise))
    K = full @ full.T
    spread = noise @ K @ np.linalg.solve(K + lam * np.eye(len(ids)), noise)
    # With δ = 1, log det = spread/ξ²: the noise part of the width is what the noise was.
    width = proved.sparse(
        1.0, np.linalg.norm(f), lam, 1.0, max(spread, 0.0), (full[:, m:] ** 2).sum()
    )
    assert math.sqrt(error @ V @ error) <= width * (1 + 1e-7) + 1e-9


@given(projections())
@settings(max_examples=200, deadline=None)
def test_a_mean_moves_by_at_most_the_distance_in_the_old_norm(case):
    """A dictionary that grows from m features to all, with evaluations added."""
    unique, ids, m, lam, rng = case
    d, s = unique.shape[1], len(ids) // 2
    y = rng.standard_normal(len(ids))
    old, new = unique[ids[:s], :m], unique[ids]
    V_old, V_new = old.T @ old + lam * np.eye(m), new.T @ new + lam * np.eye(d)
    theta_old, theta_new = np.linalg.solve(V_old, old.T @ y[:s]), np.linalg.solve(V_new, new.T @ y)
    leverage = (unique[:, m:] ** 2).sum(1) / lam
    leverage += np.einsum("ij,ij->i", unique[:, :m], np.linalg.solve(V_old, unique[:, :m].T).T)
    moved = np.abs(unique @ theta_new - unique[:, :m] @ theta_old)
    change = theta_new - np.pad(theta_old, (0, d - m))
    old_norm = math.sqrt(change[:m] @ V_old @ change[:m] + lam * change[m:] @ change[m:])
    ratio = proved.leverage_ratio((unique[ids[:s], m:] ** 2).sum(), lam)
    new_norm = math.sqrt(change @ V_new @ change)
    for distance in (old_norm, math.sqrt(ratio) * new_norm):
        assert np.all(moved <= distance * np.sqrt(leverage) * (1 + 1e-7) + 1e-9)


class World:
    """40 points, a function of known norm, noise of known size, and what has been told so far."""

    def __init__(self, seed, bounded):
        self.rng = np.random.default_rng(seed)
        self.X = self.rng.uniform(size=(40, 1 + seed % 2))
        self.K = rbf(self.X, self.X)
        weights = np.zeros(40)
        weights[self.rng.choice(40, 6, replace=False)] = self.rng.standard_normal(6)
        self.norm = 2.0
        weights *= self.norm / math.sqrt(weights @ self.K @ weights)
        self.f = self.K @ weights
        self.bounded = bounded
        self.ids, self.y = [], []

    def tell(self, id_):
        noise = self.rng.choice([-1.0, 1.0]) if self.bounded else self.rng.standard_normal()
        self.ids.append(id_)
        self.y.append(self.f[id_] + NOISE * noise)

    def posteriors(self, Q, lams):
        """Mean, leverage (n each), log det and ridge for each λ, with Q in the place of K."""
        ids, y = np.array(self.ids), np.array(self.y)
        values, vectors = np.linalg.eigh(Q[np.ix_(ids, ids)])
        values = np.maximum(values, 0.0)
        cross, seen = Q[:, ids] @ vectors, vectors.T @ y
        for lam in lams:
            mean = cross @ (seen / (values + lam))
            variance = 1.0 - (cross**2 / (values + lam)).sum(1)
            leverage = np.maximum(variance, 0.0) / lam
            yield (
                mean,
                leverage,
                np.log1p(values / lam).sum(),
                lam * (seen**2 / (values + lam)).sum(),
            )


def exact_intervals(world):
    ((mean, leverage, gain, _),) = world.posteriors(world.K, GRID[:1])
    width = proved.exact(NOISE, world.norm, GRID[0], DELTA, gain)
    return [(mean, width, leverage)], gaussian.gp_ucb(NOISE, world.norm, GRID[0], DELTA, gain)


def sparse_intervals(world):
    """The dictionary holds the arms with the luckiest rewards: it depends on the noise itself."""
    ids, y = np.array(world.ids), np.array(world.y)
    lucky = ids[np.argsort(world.f[ids] - y)]
    dictionary = np.unique(lucky[: 1 + len(ids) // 3])
    Q, lam = projected(world.K, dictionary), GRID[2]
    ((mean, leverage, on_span, _),) = world.posteriors(Q, [lam])
    trace, gain = outside(world, Q, [lam], [on_span])
    width = proved.sparse(NOISE, world.norm, lam, DELTA, gain[0], trace)
    paper = gaussian.bkb(NOISE, world.norm, lam, DELTA, leverage[ids].sum(), len(ids))
    return [(mean, width, leverage)], paper


def outside(world, Q, lams, on_span):
    """tr R, and the bound on log det(I + K/λ) for each λ."""
    counts = np.bincount(world.ids, minlength=40).astype(float)
    residuals = np.maximum(1.0 - np.diag(Q), 0.0)
    arms = counts, np.ones(40), residuals
    return counts @ residuals, proved.log_det_bounds(np.array(on_span), *arms, np.array(lams))


def nearly_complete_intervals(world):
    """All λ on a dictionary that grows, greedily, until tr R is at most a thousandth of ξ²."""
    ids = np.unique(world.ids)
    counts = np.bincount(world.ids, minlength=40)
    dictionary = [int(ids[0])]
    while True:
        Q = projected(world.K, dictionary)
        outside = counts * np.maximum(1.0 - np.diag(Q), 0.0)
        if outside.sum() <= 1e-3 * NOISE**2:
            return all_intervals(world, Q)
        dictionary.append(int(np.argmax(outside)))


def all_intervals(world, Q):
    means, leverages, on_span, ridges = zip(*world.posteriors(Q, GRID), strict=True)
    trace, gains = outside(world, Q, GRID, on_span)
    widths, _ = proved.for_each_lambda(
        NOISE, world.norm, DELTA, GRID, gains, np.array(ridges), trace
    )
    paper = gaussian.gp_ucb(NOISE, world.norm, GRID[0], DELTA, on_span[0])
    return list(zip(means, widths, leverages, strict=True)), paper


KINDS = {
    "exact": exact_intervals,
    "sparse": sparse_intervals,
    "all": lambda world: all_intervals(world, world.K),
    "nearly complete": nearly_complete_intervals,
}


def run(kind, seed, *, adversary, bounded, steps=50, scale=1.0):
    """Whether f left an interval at any point and any time; the mean width over the paper's."""
    world = World(seed, bounded)
    world.tell(int(world.rng.integers(40)))
    shares = []
    for _ in range(steps):
        intervals, paper = KINDS[kind](world)
        upper, strain = np.full(40, np.inf), np.zeros(40)
        for mean, width, leverage in intervals:
            half = scale * width * np.sqrt(leverage)
            upper = np.minimum(upper, mean + half)
            strain = np.maximum(strain, np.abs(world.f - mean) / (half + 1e-9))
        if strain.max() > 1.0:
            return True, np.mean(shares or [1.0])
        shares.append(intervals[0][1] / paper)
        # The adversary knows f and evaluates where an interval is about to break.
        world.tell(int(np.argmax(strain if adversary else upper)))
    return False, np.mean(shares)


def miss_rate(kind, runs, **options):
    """The share of runs that miss: equal numbers of both choosers and both kinds of noise."""
    missed = [
        run(
            kind,
            4 * seed + 2 * adversary + bounded,
            adversary=adversary,
            bounded=bounded,
            **options,
        )
        for seed in range(runs // 4)
        for adversary in (False, True)
        for bounded in (False, True)
    ]
    return np.mean([miss for miss, _ in missed]), np.mean([share for _, share in missed])


@pytest.mark.parametrize("kind", KINDS)
def test_few_runs_miss_and_widths_are_below_the_papers(kind):
    misses, share = miss_rate(kind, 20, steps=40)
    assert misses <= DELTA
    assert share < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_at_most_delta_of_many_runs_miss(kind):
    misses, share = miss_rate(kind, 500)
    assert misses <= DELTA + 3 * math.sqrt(DELTA * (1 - DELTA) / 500)
    assert share < 1.0


def test_coverage_would_notice_widths_that_are_too_small():
    assert miss_rate("exact", 20, steps=40, scale=0.4)[0] > 0.5
