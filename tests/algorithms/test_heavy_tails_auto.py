"""Learnt kernels and norms under heavy tails: robust fits, the rewards' own units."""

import numpy as np
import pytest

import noregret as nr

NAMES = ("tgpucb", "atagpucb", "hubergpucb")
#: and an algorithm that finds the outliers by itself
FINDERS = (*NAMES, "gpucb")
BOX = nr.Box([(0, 1), (0, 2)])


def hill(points):
    return 3.0 * np.exp(-2.0 * np.square(points - [0.6, 1.2]).sum(axis=1))


def first_fit(name, outliers, seed=0):
    """What is assumed after a fit to 60 uniform draws, three of them as given."""
    opt = nr.make(name, BOX, "auto", norm="auto", noise="auto", width=2.0, seed=seed)
    batch = opt.ask(60)
    y = hill(batch.points) + 0.2 * np.random.default_rng(seed).standard_normal(60)
    y[[3, 20, 41]] = y[[3, 20, 41]] if outliers is None else outliers
    opt.tell(batch, y)
    return opt.assumed


@pytest.mark.parametrize("outliers", [[1e6, 1e6, 1e6], [1e6, -1e6, 1e9]])
@pytest.mark.parametrize("name", FINDERS)
def test_a_few_outliers_leave_the_fit_near_that_without(name, outliers):
    clean, dirty = first_fit(name, None), first_fit(name, outliers)
    scale = dirty.unit / clean.unit
    assert 0.6 < scale < 1.6
    ratios = np.divide(dirty.kernel.lengthscale, clean.kernel.lengthscale)
    assert np.all((ratios > 0.5) & (ratios < 2.0))
    assert 0.3 < dirty.kernel.variance * scale**2 / clean.kernel.variance < 3.0
    assert dirty.noise * dirty.unit < 1.5
    assert 0.5 < dirty.norm / clean.norm < 2.0


@pytest.mark.parametrize("name", NAMES)
def test_units_of_the_rewards_do_not_matter(name):
    """Rewards times 10⁴: the same choices, predictions times 10⁴."""
    domain = BOX.grid(8)
    opts = [nr.make(name, domain, "auto", norm="auto", width=2.0, seed=3) for _ in range(2)]
    for i in range(30):
        one, two = (opt.ask() for opt in opts)
        np.testing.assert_array_equal(one.ids, two.ids)
        y = hill(one.points) + 0.2 * np.random.default_rng(i).standard_t(2, len(one))
        opts[0].tell(one, y)
        opts[1].tell(two, 1e4 * y)
    np.testing.assert_allclose(opts[1].predict()[0], 1e4 * opts[0].predict()[0], rtol=1e-3)
    small, large = (opt.assumed for opt in opts)
    assert large.norm == pytest.approx(small.norm, rel=1e-3)
    if name == "hubergpucb":
        assert large.unit == pytest.approx(1e4 * small.unit)
    else:
        assert (small.shift, small.unit) == (large.shift, large.unit) == (0.0, 1.0)
        assert large.kernel.variance == pytest.approx(1e8 * small.kernel.variance, rel=1e-3)
    assert large.lam == large.scale == large.kernel.variance


@pytest.mark.parametrize("on_box", [False, True])
def test_huber_finds_the_hill_among_outliers(on_box):
    values = []
    for seed in range(2):
        opt = nr.HuberGPUCB(BOX if on_box else BOX.grid(12), "auto", norm="auto", seed=seed)
        rng = np.random.default_rng(seed)
        while opt.t < 60:
            batch = opt.ask(6)
            y = hill(batch.points) + 0.2 * rng.standard_t(2, len(batch))
            y[rng.random(len(batch)) < 0.03] = 1e6
            opt.tell(batch, y)
        best = opt.recommend()
        values.append(hill(best.point[None])[0])
        assert best.mean < 6.0
    assert min(values) > 2.5


def doublings(opt):
    return [event for event in opt.events if event["event"] == "norm doubled"]


def test_norm_is_doubled_by_many_rewards_and_not_by_one():
    """A quiet design; then a tower at one place, seen once or again and again."""
    grid = np.linspace(0, 1, 50)[:, None]
    rng = np.random.default_rng(0)
    opt = nr.HuberGPUCB(grid, nr.RBF(0.1), norm="auto", lam=0.01, seed=0)
    batch = opt.ask(32)
    opt.tell(batch, 0.01 * rng.standard_normal(32))
    opt.ask()
    before = opt.assumed.norm
    opt.tell([25], [50.0])
    opt.ask()
    assert opt.assumed.norm == before
    assert not doublings(opt)
    opt.tell(np.full(30, 25), np.full(30, 50.0))
    opt.ask()
    (event,) = doublings(opt)
    assert event["norm"] == opt.assumed.norm > before
    assert np.log2(opt.assumed.norm / before) % 1 == 0


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb"])
@pytest.mark.parametrize("width", ["theory", "practical"])
def test_outliers_and_new_moments_double_no_norm(name, width):
    opt = nr.make(name, BOX.grid(8), "auto", norm="auto", width=width, seed=0)
    rng = np.random.default_rng(0)
    while opt.t < 70:
        batch = opt.ask()
        y = hill(batch.points) + 0.2 * rng.standard_t(2, len(batch))
        y[rng.random(len(batch)) < 0.1] = 1e6
        opt.tell(batch, y)
    assert len([event for event in opt.events if event["event"] == "fit"]) >= 3
    assert not doublings(opt)


def test_noise_alone_needs_no_draws():
    """Where nothing else is learnt, noise "auto" is what the algorithms do anyway."""
    for name in NAMES:
        opt = nr.make(name, BOX.grid(5), nr.RBF(0.5), noise="auto", seed=0)
        while opt.t < 15:
            opt.tell(opt.ask(), [1.0])
        assert opt.assumed.lam == 1.0
        assert not opt.events
    robust = nr.RobustUCB(BOX.grid(5), "auto", noise="auto", norm="auto", seed=0)
    robust.tell(robust.ask(), [1.0])
    with pytest.raises((ValueError, TypeError), match="noise"):
        nr.RobustUCB(BOX.grid(5), nr.RBF(), noise="loud")


@pytest.mark.parametrize("features", ["nystrom", "qff"])
def test_norm_alone_with_a_given_kernel(features):
    kernel = nr.RBF([0.5, 1.0])
    opt = nr.ATAGPUCB(BOX, kernel, v=4.0, norm="auto", noise="auto", features=features, seed=0)
    rng = np.random.default_rng(0)
    while opt.t < 14:
        batch = opt.ask()
        opt.tell(batch, hill(batch.points) + 0.1 * rng.standard_normal(len(batch)))
    assert opt.kernel is kernel
    assert opt.assumed.lam == 1.0
    assert [event["t"] for event in opt.events if event["event"] == "fit"] == [10]
    assert opt.assumed.norm != 1.0
