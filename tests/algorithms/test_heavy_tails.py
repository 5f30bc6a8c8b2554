"""What the algorithms for heavy-tailed rewards have in common."""

import numpy as np
import pytest
from heavy_runs import FEATURES, GRID, KERNEL, heavy_run, ridge
from scipy import stats

import noregret as nr

NAMES = ("tgpucb", "atagpucb", "robustucb", "hubergpucb")


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", ["tgpucb", "atagpucb"])
def test_without_truncation_the_mean_is_ridge_regression(name, features):
    opt = heavy_run(name, v=1e12, lam=0.7, width=2.0, features=features)
    history = opt.history
    expected = ridge(KERNEL, history.ids, history.rewards, 0.7)
    np.testing.assert_allclose(opt.predict()[0], expected, atol=1e-5)


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


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tgpucb", {}),
        ("atagpucb", {"ratio": 2.0}),
        ("hubergpucb", {"norm": "auto"}),
        ("robustucb", {}),
    ],
)
def test_looking_changes_nothing(name, options):
    """Means, moments, events and batches are the same, bit for bit, with looks at any time."""
    rng = np.random.default_rng(0)
    plain, watched = (nr.make(name, GRID, KERNEL, seed=3, **options) for _ in range(2))
    for _ in range(25):
        batch, other = plain.ask(3), watched.ask(3)
        np.testing.assert_array_equal(batch.ids, other.ids)
        y = rng.standard_t(1.5, len(batch))
        plain.tell(batch, y)
        watched.tell(other[:1], y[:1])
        watched.predict()
        assert watched.recommend().gap >= 0
        watched.tell(other[1:], y[1:])
        assert watched.beta >= 0
    for ours, theirs in zip(plain.predict(), watched.predict(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert plain.events == watched.events


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("tgpucb", "noregret.models.sparse.SparseGP.advance"),
        ("atagpucb", "noregret.rewards.directions.truncated_directions"),
        ("atagpucb", "noregret.rewards.sorted_sums.SortedSums.add"),
        ("hubergpucb", "noregret.rewards.huber.fit"),
        ("robustucb", "noregret.rewards.sorted_sums.SortedSums.add"),
    ],
)
def test_an_interrupted_ask_can_be_made_again(name, step, monkeypatch):
    """Ctrl-C while rewards are taken in: the means are those of a run without it."""

    def interrupted(*_):
        raise KeyboardInterrupt

    # Every arm at once: whatever dictionary is drawn, it spans them all.
    straight, stopped = (nr.make(name, GRID[::8], KERNEL, seed=3) for _ in range(2))
    rng = np.random.default_rng(0)
    for _ in range(6):
        ids, y = np.arange(5), rng.standard_t(1.5, 5)
        for opt in (straight, stopped):
            opt.tell(ids, y)
        straight.ask()
        with monkeypatch.context() as patch:
            patch.setattr(step, interrupted)
            with pytest.raises(KeyboardInterrupt):
                stopped.ask()
        stopped.ask()
    np.testing.assert_allclose(straight.predict()[0], stopped.predict()[0], atol=1e-9)


def test_a_noise_that_nobody_gave_certifies_nothing():
    certificate = heavy_run("tgpucb", t=20, v=4.0).certify()
    assert not certificate.certified
    assert "noise" in certificate.assumptions


@pytest.mark.parametrize("name", NAMES)
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


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb"])
def test_an_estimated_moment_follows_the_rewards_scale(name):
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e4):
        opt = nr.make(name, GRID, KERNEL, v="estimate", seed=0, width=2.0)
        opt.tell(rng.integers(0, 40, 512), scale * rng.standard_normal(512))
        assert opt.v_in_use == pytest.approx(scale**2, rel=0.3)
    given = nr.make(name, GRID, KERNEL, v=3.0, seed=0)
    given.tell([0, 1], [1.0, 2.0])
    assert given.v_in_use == 3.0


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb"])
def test_an_estimated_moment_depends_on_the_rewards_alone(name, tmp_path):
    """Estimates of mostly zero rewards are zero, and the last that was not stays: loaded too."""
    opt = nr.make(name, GRID, KERNEL, v="estimate", seed=0)
    for reward in [5.0] * 8 + [0.0] * 32:
        batch = opt.ask()
        opt.tell(batch, [reward])
    assert opt.v_in_use == 12.5  # 16 rewards: group means of 25, 25, 0 and 0
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.v_in_use == opt.v_in_use
    at_once = nr.make(name, GRID, KERNEL, v="estimate", seed=0)
    at_once.tell(opt.history.ids, opt.history.rewards)
    assert at_once.v_in_use == opt.v_in_use
    np.testing.assert_array_equal(opt.ask(3).ids, again.ask(3).ids)
    np.testing.assert_array_equal(opt.predict(), again.predict())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rewards", [np.zeros(20), np.full(20, 7.0), np.r_[np.zeros(19), 1e100]])
def test_strange_rewards_give_finite_answers(name, rewards):
    opt = nr.make(name, GRID, KERNEL, seed=0)
    opt.tell(np.arange(20), rewards)
    mean, std = opt.predict()
    best = opt.recommend()
    assert np.all(np.isfinite(mean))
    assert np.all(np.isfinite(std))
    assert np.isfinite(best.gap)


@pytest.mark.parametrize("name", NAMES)
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
            opt.ask()
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


def test_boxes_have_limits_of_their_own():
    box = nr.Box([(0, 1)])
    with pytest.raises(ValueError, match="RBF"):
        nr.ATAGPUCB(box, nr.Matern(), features="qff")
    with pytest.raises(ValueError, match="lengthscale"):
        nr.ATAGPUCB(box, "auto", features="qff")
    with pytest.raises(TypeError, match="box"):
        nr.RobustUCB(box, nr.RBF())


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        (nr.TGPUCB, {"v": 4.0}),
        (nr.ATAGPUCB, {"v": 4.0, "width": 2.0}),
        (nr.HuberGPUCB, {}),
        (nr.ClippedGPUCB, {}),
    ],
)
def test_boxes_are_searched_as_asked_for(algorithm, options):
    """DIRECT and many starts find upper bounds of the same height, at points of their own."""
    box = nr.Box([(0, 1)] * 2)
    uppers = []
    for search in ("gradients", "direct"):
        opt = algorithm(box, nr.RBF(0.4), norm=2.0, search=search, seed=0, **options)
        assert opt.chooser.search.method == search
        points = box.sample(12, np.random.default_rng(0))[1]
        opt.tell(points, np.sin(5 * points.sum(axis=1)))
        (point,) = opt.ask().points
        mean, deviation = opt.predict([point], pending=False)
        uppers.append(float(mean[0] + opt.beta * deviation[0]))
    assert uppers[1] == pytest.approx(uppers[0], rel=0.02)
    with pytest.raises(ValueError, match="search"):
        algorithm(nr.Box([(0, 1)] * 4), nr.RBF(0.4), norm=2.0, search="direct", **options)


NOISES = {
    "t(3)": (1.0, lambda rng, n: rng.standard_t(3, n)),
    # E η² is infinite for both: α = 0.9 and 0.4.
    "pareto(2)": (0.9, lambda rng, n: rng.pareto(2.0, n) - 1.0),
    "stable(1.5)": (
        0.4,
        lambda rng, n: stats.levy_stable.rvs(1.5, 0.0, size=n, random_state=rng),
    ),
}


@pytest.fixture(scope="module", params=NOISES)
def noise(request):
    """α, how to draw the noise, and 200,000 draws of its size."""
    alpha, draw = NOISES[request.param]
    return alpha, draw, np.abs(draw(np.random.default_rng(9), 200_000))


def covered(noise, name, seed, **options):
    """Whether f lies inside mean ± β·std everywhere, at every batch start of one run."""
    alpha, draw, sample = noise
    rng = np.random.default_rng(seed)
    centre, weights = GRID[[4, 20, 33]], rng.uniform(-1, 1, 3)
    f = KERNEL(GRID, centre) @ weights
    options |= {
        "alpha": alpha,
        "v": float(np.mean((np.abs(f).max() + sample) ** (1 + alpha))),
        "norm": float(np.sqrt(weights @ KERNEL(centre, centre) @ weights)),
    }
    opt = nr.make(name, GRID, KERNEL, delta=0.2, seed=seed, horizon=60, **options)
    while opt.t < 60:
        batch = opt.ask(60 - opt.t) if options["ratio"] > 1 else opt.ask()
        opt.tell(batch, f[batch.ids] + draw(rng, len(batch)))
        mean, std = opt.predict()
        if np.any(np.abs(f - mean) > opt.beta * std + 1e-9):
            return False
    return True


COVERING = pytest.mark.parametrize(
    ("name", "features", "ratio"),
    [
        ("tgpucb", "exact", 1.0),
        ("tgpucb", "exact", 2.0),
        ("atagpucb", "nystrom", 1.0),
        ("atagpucb", "nystrom", 2.0),
        ("atagpucb", "qff", 1.0),
        ("atagpucb", "qff", 2.0),
    ],
)


@COVERING
def test_theory_covers_f(noise, name, features, ratio):
    assert all(covered(noise, name, seed, features=features, ratio=ratio) for seed in range(2))


@pytest.mark.slow
@COVERING
def test_theory_covers_f_in_at_least_1_minus_delta_of_many_runs(noise, name, features, ratio):
    runs = [covered(noise, name, seed, features=features, ratio=ratio) for seed in range(40)]
    assert np.mean(runs) >= 0.8
