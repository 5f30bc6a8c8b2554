"""TGP-UCB and ATA-GP-UCB against their algorithm boxes, reward by reward."""

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import sqrtm

import noregret as nr
from noregret.models.fourier import QuadratureFourier
from noregret.widths import heavy as widths_heavy

GRID = np.linspace(0.0, 1.0, 40)[:, None]
KERNEL = nr.RBF(0.2)
FEATURES = ("exact", "nystrom", "qff")


def heavy_run(name, t=60, seed=0, noise=1.5, **options):
    """An optimiser after t evaluations with Student-t rewards."""
    rng = np.random.default_rng(seed)
    opt = nr.make(name, GRID, KERNEL, seed=seed, **options)
    f = np.sin(5 * GRID[:, 0])
    while opt.t < t:
        batch = opt.ask()
        opt.tell(batch, f[batch.ids] + rng.standard_t(noise, len(batch)))
    return opt


def ridge(kernel, ids, rewards, lam):
    K = kernel(GRID[ids], GRID[ids]) + lam * np.eye(len(ids))
    return kernel(GRID, GRID[ids]) @ np.linalg.solve(K, rewards)


def algorithm_2(phi, ids, rewards, lam, level, projection=None):
    """The mean of ATA-GP-UCB as the paper writes it, with one row of Φ an evaluation."""
    Phi = phi[ids]
    V = Phi.T @ Phi + lam * np.eye(phi.shape[1])
    inverse_root = np.real(sqrtm(np.linalg.inv(V)))
    u = inverse_root @ Phi.T
    products = u * rewards
    r = np.where(np.abs(products) <= level, products, 0.0).sum(axis=1)
    return phi @ inverse_root @ (r if projection is None else projection @ r)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", ["tgpucb", "atagpucb"])
def test_without_truncation_the_mean_is_ridge_regression(name, features):
    opt = heavy_run(name, v=1e12, lam=0.7, width=2.0, features=features)
    history = opt.history
    expected = ridge(KERNEL, history.ids, history.rewards, 0.7)
    np.testing.assert_allclose(opt.predict()[0], expected, atol=1e-5)


def test_without_truncation_tgp_is_gpucb():
    tgp = heavy_run("tgpucb", v=1e12, lam=1.0, width=2.0)
    plain = heavy_run("gpucb", noise=1.5, lam=1.0, width=2.0)
    assert np.array_equal(tgp.history.ids, plain.history.ids)
    assert np.array_equal(tgp.predict()[0], plain.predict()[0])


def test_tgp_equals_algorithm_1():
    opt = heavy_run("tgpucb", alpha=0.5, v=1.2, lam=0.5, width=2.0)
    ids, rewards = opt.history.ids, opt.history.rewards
    times = np.arange(1, len(ids) + 1)
    levels = 1.2 ** (1 / 1.5) * times ** (1 / 3)
    truncated = np.where(np.abs(rewards) <= levels, rewards, 0.0)
    assert np.any(truncated != rewards)
    expected = ridge(KERNEL, ids, truncated, 0.5)
    np.testing.assert_allclose(opt.predict()[0], expected, atol=1e-6)
    assert opt.recommend().mean == pytest.approx(expected[opt.recommend().id], abs=1e-6)


def test_ata_with_quadrature_features_equals_algorithm_2():
    opt = heavy_run("atagpucb", alpha=0.5, v=2.0, lam=0.5, width=2.0, features="qff", nodes=8)
    phi = QuadratureFourier(0.2, 1.0, 8).features(GRID)
    level = widths_heavy.ata_level(0.5, 2.0, 60, np.log(17 * 1024))
    history = opt.history
    expected = algorithm_2(phi, history.ids, history.rewards, 0.5, level)
    mean, std = opt.predict()
    np.testing.assert_allclose(mean, expected, atol=1e-7)
    assert np.abs(mean - ridge(KERNEL, history.ids, history.rewards, 0.5)).max() > 0.01
    V = phi[history.ids].T @ phi[history.ids] + 0.5 * np.eye(16)
    variance = 0.5 * np.einsum("ij,ij->i", phi, np.linalg.solve(V, phi.T).T)  # choice (i)
    np.testing.assert_allclose(std**2, variance, atol=1e-9)


def test_ata_on_a_box_equals_algorithm_2_anywhere():
    """Quadrature features of the whole box, the paper's own setting.

    Of 72 directions 30 evaluations know at most 30, and r̂ is projected onto those.
    """
    box = nr.Box([(0, 1), (2, 4)])
    kernel = nr.RBF([0.5, 1.1])
    options = {"alpha": 0.5, "v": 2.0, "lam": 0.5, "width": 2.0, "nodes": 6, "seed": 0}
    opt = nr.ATAGPUCB(box, kernel, features="qff", **options)
    rng = np.random.default_rng(0)
    X = box.sample(30, rng)
    opt.tell(X, np.sin(5 * X[:, 0]) + rng.standard_t(1.5, 30))
    tests, fourier = box.sample(20, rng), QuadratureFourier([0.5, 1.1], 1.0, 6)
    history = opt.history
    phi = fourier.features(np.concatenate([history.points, tests]))
    assert opt.feature_count == phi.shape[1] == 72
    level = widths_heavy.ata_level(0.5, 2.0, 30, np.log(73 * 1024))
    known, _ = np.linalg.qr(fourier.features(opt.dictionary_points).T)
    expected = algorithm_2(phi, np.arange(30), history.rewards, 0.5, level, known @ known.T)[30:]
    mean, std = opt.predict(tests)
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    V = phi[:30].T @ phi[:30] + 0.5 * np.eye(72)
    variance = 0.5 * np.einsum("ij,ij->i", phi[30:], np.linalg.solve(V, phi[30:].T).T)
    np.testing.assert_allclose(std**2, variance, atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.9])
def test_ata_with_a_dictionary_equals_algorithm_2(epsilon):
    # A rough kernel keeps the dictionary's matrix well conditioned for sqrtm.
    rng = np.random.default_rng(0)
    kernel = nr.Matern(0.3, nu=0.5)
    opt = nr.ATAGPUCB(GRID, kernel, alpha=1.0, v=1.0, width=2.0, epsilon=epsilon, seed=1)
    for _ in range(60):
        batch = opt.ask()
        opt.tell(batch, np.sin(5 * GRID[batch.ids, 0]) + rng.standard_t(1.5, 1))
    inducing = GRID[opt.dictionary]
    phi = kernel(GRID, inducing) @ np.real(np.linalg.inv(sqrtm(kernel(inducing, inducing))))
    level = widths_heavy.ata_level(1.0, 1.0, 60, np.log((len(inducing) + 1) * 1024))
    history = opt.history
    mean, std = opt.predict()
    expected = algorithm_2(phi, history.ids, history.rewards, 1.0, level)
    np.testing.assert_allclose(mean, expected, atol=1e-7)
    V = phi[history.ids].T @ phi[history.ids] + np.eye(phi.shape[1])
    quadratic = np.einsum("ij,ij->i", phi, np.linalg.solve(V, phi.T).T)
    variance = 1.0 - np.square(phi).sum(axis=1) + quadratic  # choice (ii)
    np.testing.assert_allclose(std**2, variance, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tgpucb", {"v": 4.0}),
        ("tgpucb", {"features": "nystrom", "ratio": 2.0}),
        ("atagpucb", {"v": 4.0, "alpha": 0.6}),
        ("atagpucb", {"features": "qff", "nodes": 10, "ratio": 3.0}),
        ("robustucb", {"v": 4.0}),
        ("robustucb", {"width": "practical"}),
        ("hubergpucb", {}),
        ("hubergpucb", {"features": "nystrom", "ratio": 2.0, "noise": 0.5}),
    ],
)
def test_a_saved_run_continues_bit_for_bit(name, options, tmp_path):
    def go_on(opt, rng, times):
        for _ in range(times):
            batch = opt.ask()
            opt.tell(batch, rng.standard_t(1.5, len(batch)))

    straight = nr.make(name, GRID, KERNEL, seed=3, **options)
    go_on(straight, np.random.default_rng(0), 25)
    resumed = nr.make(name, GRID, KERNEL, seed=3, **options)
    rng = np.random.default_rng(0)
    go_on(resumed, rng, 12)
    resumed.save(tmp_path / "run.npz")
    resumed = nr.load(tmp_path / "run.npz")
    go_on(resumed, rng, 13)
    assert np.array_equal(straight.history.ids, resumed.history.ids)
    for ours, theirs in zip(straight.predict(), resumed.predict(), strict=True):
        assert np.array_equal(ours, theirs)
    assert straight.recommend().gap == resumed.recommend().gap


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb", "hubergpucb"])
def test_empirical_covariances_work_throughout(name):
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 12))
    covariance = np.cov(samples.T) / np.cov(samples.T).max()
    opt = nr.make(name, range(12), nr.Precomputed(covariance), seed=0, width=2.0)
    f = samples.mean(axis=0)
    for _ in range(40):
        batch = opt.ask()
        opt.tell(batch, f[batch.ids] + rng.standard_t(3, 1))
    mean, std = opt.predict()
    assert np.all(np.isfinite(mean))
    assert np.all(std >= 0)
    assert opt.recommend().gap >= 0


@pytest.mark.parametrize("features", FEATURES)
def test_adaptive_batches_grow_and_obey_the_ratio(features):
    rng = np.random.default_rng(0)
    opt = nr.ATAGPUCB(GRID, KERNEL, v=4.0, width=2.0, features=features, ratio=2.0, seed=0)
    sizes = []
    for _ in range(12):
        before = opt.predict()[1]
        batch = opt.ask()
        after = opt.predict()[1]
        assert np.all(before**2 <= 2.0 * (1 + 1.0) * after**2 + 1e-12)  # the last pick crosses 2
        opt.tell(batch, rng.standard_t(3, len(batch)))
        sizes.append(len(batch))
    assert sizes[-1] > 5 > sizes[0]
    assert len(opt.ask(3)) <= 3


def test_batches_told_in_parts_end_where_they_would_in_one():
    one = nr.ATAGPUCB(GRID, KERNEL, v=4.0, width=2.0, seed=0, ratio=3.0)
    two = nr.ATAGPUCB(GRID, KERNEL, v=4.0, width=2.0, seed=0, ratio=3.0)
    rng = np.random.default_rng(0)
    for _ in range(6):
        batch, other = one.ask(), two.ask()
        assert np.array_equal(batch.ids, other.ids)
        y = rng.standard_t(2, len(batch))
        one.tell(batch, y)
        two.tell(other[:1], y[:1])
        two.tell(other[1:], y[1:])
    np.testing.assert_allclose(one.predict()[0], two.predict()[0], atol=1e-12)


def test_the_horizon_doubles_when_passed():
    opt = nr.ATAGPUCB(GRID, KERNEL, v=4.0, horizon=10, seed=0, features="qff", nodes=6)
    assert opt.horizon == 10
    opt.tell(np.zeros(10, dtype=int), np.ones(10))
    assert opt.horizon == 10
    before = opt.beta
    opt.tell([0], [1.0])
    assert opt.horizon == 20
    assert opt.beta > before  # T twice as large and δ half: log 4 more
    opt.tell(np.zeros(30, dtype=int), np.ones(30))
    assert opt.horizon == 80


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb"])
def test_an_estimated_moment_follows_the_rewards_scale(name):
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e4):
        opt = nr.make(name, GRID, KERNEL, v="estimate", seed=0, width=2.0)
        opt.tell(rng.integers(0, 40, 512), scale * rng.standard_normal(512))
        assert opt.v == pytest.approx(scale**2, rel=0.3)
    given = nr.make(name, GRID, KERNEL, v=3.0, seed=0)
    given.tell([0, 1], [1.0, 2.0])
    assert given.v == 3.0


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb"])
def test_an_estimated_moment_depends_on_the_rewards_alone(name, tmp_path):
    """Estimates of mostly zero rewards are zero, and the last that was not stays: loaded too."""
    opt = nr.make(name, GRID, KERNEL, v="estimate", seed=0)
    for reward in [5.0] * 8 + [0.0] * 32:
        batch = opt.ask()
        opt.tell(batch, [reward])
    assert opt.v == 12.5  # 16 rewards: group means of 25, 25, 0 and 0
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.v == opt.v
    at_once = nr.make(name, GRID, KERNEL, v="estimate", seed=0)
    at_once.tell(opt.history.ids, opt.history.rewards)
    assert at_once.v == opt.v
    np.testing.assert_array_equal(opt.ask(3).ids, again.ask(3).ids)
    np.testing.assert_array_equal(opt.predict(), again.predict())


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb", "hubergpucb"])
@pytest.mark.parametrize("rewards", [np.zeros(20), np.full(20, 7.0), np.r_[np.zeros(19), 1e100]])
def test_strange_rewards_give_finite_answers(name, rewards):
    opt = nr.make(name, GRID, KERNEL, seed=0)
    opt.tell(np.arange(20), rewards)
    mean, std = opt.predict()
    best = opt.recommend()
    assert np.all(np.isfinite(mean))
    assert np.all(np.isfinite(std))
    assert np.isfinite(best.gap)


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb", "hubergpucb"])
def test_one_candidate_and_duplicates(name):
    one = nr.make(name, [[0.5]], KERNEL, seed=0)
    for _ in range(5):
        one.tell(one.ask(), [1.0])
    assert one.recommend().id == 0
    twice = nr.make(name, np.repeat(GRID[:5], 2, axis=0), KERNEL, seed=0)
    for _ in range(25):
        twice.tell(twice.ask(), [1.0])
    assert np.all(np.isfinite(twice.predict()[0]))


def test_a_warning_says_that_everything_is_truncated():
    for name in ("tgpucb", "atagpucb"):
        opt = nr.make(name, GRID, KERNEL, v=1e-6, seed=0)
        opt.tell(np.arange(30), np.full(30, 50.0))
        with pytest.warns(UserWarning, match=r"all 30 rewards.*raise v, or use v='estimate'"):
            opt.predict()
        opt.tell([0], [50.0])
        opt.predict()  # said once


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb"])
@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        ({"alpha": 0.0}, ValueError, r"alpha must lie in \(0, 1\], got 0.0"),
        ({"alpha": 1.5}, ValueError, r"alpha must lie in \(0, 1\], got 1.5"),
        ({"alpha": "1"}, TypeError, "alpha must be a number"),
        ({"v": 0.0}, ValueError, "v must be above 0, got 0.0"),
        ({"v": -2}, ValueError, "v must be above 0, got -2"),
        ({"v": "guess"}, ValueError, "v must be one of 'estimate', got 'guess'"),
        ({"width": "wide"}, ValueError, "width must be one of"),
        ({"norm": -1.0}, ValueError, "norm must be above 0, got -1.0"),
    ],
)
def test_bad_options_are_named(name, bad, error, words):
    with pytest.raises(error, match=words):
        nr.make(name, GRID, KERNEL, **bad)


def test_bad_features_are_named():
    with pytest.raises(ValueError, match="features must be one of"):
        nr.ATAGPUCB(GRID, KERNEL, features="rff")
    with pytest.raises(ValueError, match="needs an RBF kernel"):
        nr.ATAGPUCB(GRID, nr.Matern(0.2), features="qff")
    with pytest.raises(ValueError, match="features in 5 dimensions"):
        nr.ATAGPUCB(np.random.default_rng(0).random((9, 5)), nr.RBF(1.0), features="qff")
    with pytest.raises(ValueError, match="ratio must be at least 1"):
        nr.ATAGPUCB(GRID, KERNEL, ratio=0.5)


def test_another_list_keeps_what_is_known():
    opt = heavy_run("atagpucb", v=4.0, width=2.0, features="qff", nodes=10)
    middle = opt.predict()[0][10:20]
    opt.replace_candidates(GRID[10:20])
    np.testing.assert_allclose(opt.predict()[0], middle, atol=1e-9)
    opt.tell(opt.ask(), [0.3])
    with pytest.raises(ValueError, match="box spanned by the old ones"):
        opt.replace_candidates(GRID + 5.0)


def test_a_shorter_list_keeps_its_features_in_a_file(tmp_path):
    """By default the nodes are those that the first list needs."""
    opt = heavy_run("atagpucb", t=20, v=4.0, width=2.0, features="qff")
    opt.replace_candidates(GRID[10:14])
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.nodes == opt.nodes
    np.testing.assert_array_equal(again.predict(), opt.predict())


NOISES = {
    "t(3)": (1.0, lambda rng, n: rng.standard_t(3, n)),
    # E η² is infinite for both: α = 0.9 and 0.4.
    "pareto(2)": (0.9, lambda rng, n: rng.pareto(2.0, n) - 1.0),
    "stable(1.5)": (
        0.4,
        lambda rng, n: stats.levy_stable.rvs(1.5, 0.0, size=n, random_state=rng),
    ),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(
    ("name", "features"), [("tgpucb", "exact"), ("atagpucb", "nystrom"), ("atagpucb", "qff")]
)
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_theory_covers_f(noise, name, features, ratio):
    """At every batch start f lies inside mean ± β·std everywhere, in at least 1 − δ of the runs."""
    alpha, draw = NOISES[noise]
    sample = draw(np.random.default_rng(9), 200_000)
    centre = GRID[[4, 20, 33]]
    failed, runs = 0, 8
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        weights = rng.uniform(-1, 1, 3)
        f = KERNEL(GRID, centre) @ weights
        norm = float(np.sqrt(weights @ KERNEL(centre, centre) @ weights))
        v = float(np.mean((np.abs(f).max() + np.abs(sample)) ** (1 + alpha)))
        opt = nr.make(
            name,
            GRID,
            KERNEL,
            alpha=alpha,
            v=v,
            norm=norm,
            delta=0.2,
            seed=seed,
            features=features,
            horizon=60,
            ratio=ratio,
        )
        inside = True
        while opt.t < 60:
            batch = opt.ask(60 - opt.t) if ratio > 1 else opt.ask()
            opt.tell(batch, f[batch.ids] + draw(rng, len(batch)))
            mean, std = opt.predict()
            inside = inside and bool(np.all(np.abs(f - mean) <= opt.beta * std + 1e-9))
        failed += not inside
    assert failed <= 0.2 * runs
