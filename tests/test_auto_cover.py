"""IGP-UCB and π-GP-UCB that learn kernel, noise and norm."""

import numpy as np
import pytest
from learners import learning

import noregret as nr
from noregret.testing import AlgorithmSuite, BoxSuite

AUTO = {"noise": "auto", "norm": "auto"}
BOX = nr.Box([(0, 1), (0, 100)])


def early(opt):
    """With a design so small that the suites' few rounds get past it."""
    opt._auto.n_init = 3
    return opt


class TestIGPUCBOnAList(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return early(learning(nr.IGPUCB, domain, options))


class TestIGPUCBOnABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return early(learning(nr.IGPUCB, domain, options))


class TestPiGPUCBOnAList(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return early(learning(nr.PiGPUCB, domain, options, horizon=6))


class TestPiGPUCBOnABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return early(learning(nr.PiGPUCB, domain, options, local="sparse", horizon=6))


def hill(points):
    """One hill, far from zero mean and unit scale."""
    return 500.0 + 40.0 * np.exp(-8 * np.square(points / [1, 100] - 0.53).sum(axis=1))


def play(opt, steps, seed=0):
    rng = np.random.default_rng(seed)
    while opt.t < steps:
        batch = opt.ask()
        opt.tell(batch, hill(batch.points) + rng.standard_normal(len(batch)))
    return opt


@pytest.mark.parametrize("name", ["igpucb", "pigpucb"])
@pytest.mark.parametrize("on_box", [False, True])
def test_everything_learnt(name, on_box):
    opt = nr.make(name, BOX if on_box else BOX.grid(15), "auto", width=2.0, seed=1, **AUTO)
    play(opt, 60)
    fits = [event for event in opt.events if event["event"] == "fit"]
    assert [event["t"] for event in fits] == [10, 20, 40]
    assert len(opt._auto.random) == pytest.approx(10 + 0.2 * 50, abs=1)
    best = opt.recommend()
    assert hill(best.point[None])[0] > 530
    assert best.lower <= best.mean <= best.upper
    mean, _ = opt.predict(best.point[None] if on_box else [best.id])
    assert mean[0] == pytest.approx(best.mean)
    assert opt.noise * opt.standardisation[1] == pytest.approx(1.0, abs=1.0)
    assert opt.lam == opt.noise**2


def test_one_cell_is_gpucb_with_the_learnt_kernel():
    """Predictions are those of an exact GP on standardised rewards, told from scratch."""
    opt = play(nr.IGPUCB(BOX.grid(12), "auto", width=2.0, seed=0, **AUTO), 50)
    shift, scale = opt.standardisation
    twin = nr.GPUCB(BOX.grid(12), opt.kernel, lam=opt.lam, width=2.0, seed=0)
    twin.tell(opt.history.ids, (opt.history.rewards - shift) / scale)
    mean, std = twin.predict()
    np.testing.assert_allclose(opt.predict()[0], shift + scale * mean, rtol=1e-7)
    np.testing.assert_allclose(opt.predict()[1], scale * std, atol=1e-6)
    np.testing.assert_allclose(opt.upper(), opt.predict()[0] + 2.0 * opt.predict()[1])


def test_the_cover_has_one_lengthscale_in_sides_of_its_box():
    opt = play(nr.PiGPUCB(BOX, "auto", nu=1.5, width=2.0, seed=0, **AUTO), 25)
    first, second = opt.kernel.lengthscale
    assert second == pytest.approx(100.0 * first)
    assert opt.kernel.nu == opt.nu == 1.5
    assert not any(event["event"] == "note" for event in opt.events)
    with pytest.raises(ValueError, match="nu"):
        nr.PiGPUCB(BOX, "auto", nu=0.5)


@pytest.mark.parametrize("name", ["igpucb", "pigpucb"])
def test_norm_is_doubled_when_rewards_contradict_the_bounds(name):
    grid = np.linspace(0, 1, 50)[:, None]
    opt = nr.make(name, grid, nr.Matern(0.1), noise=0.01, norm="auto", seed=0)
    rng = np.random.default_rng(0)
    while opt.t < 12:
        batch = opt.ask()
        opt.tell(batch, 0.01 * rng.standard_normal(len(batch)))
    _, std = opt.predict([25])
    before = opt.norm
    opt.tell([25], [50.0])
    opt.predict()
    doublings = [event for event in opt.events if event["event"] == "norm doubled"]
    assert doublings
    assert opt.norm == before * 2.0 ** len(doublings)
    # β is a little more than the norm: the last doubling was needed, and no other.
    assert 0.5 * opt.norm * std[0] < 50.0 < (opt.norm + 0.2) * std[0] + 0.2
    opt.predict()
    assert opt.norm == doublings[-1]["norm"]


def test_lam_stays_the_papers_where_the_kernel_is_given():
    assert nr.IGPUCB(BOX, nr.Matern(), **AUTO).lam == 1.0
    assert nr.PiGPUCB(BOX, nr.Matern(), horizon=100, **AUTO).lam == pytest.approx(1.02)
    assert nr.IGPUCB(BOX, "auto", lam=0.5, **AUTO).lam == 0.5


def test_objects_need_a_kernel():
    for cls in (nr.IGPUCB, nr.PiGPUCB):
        with pytest.raises(ValueError, match="kernel 'auto'"):
            cls(["a", "b"], "auto")
