"""Recommendations, intervals and who can still be the best, on a list."""

import itertools

import numpy as np
import pytest
from dense import DenseRun
from reference import differences, problem, run

import noregret as nr
from noregret.picking.lists import ranking

KERNEL = nr.RBF(0.3)


def played(steps=60, **options):
    X, f, rng = problem(arms=100)
    options = {"noise": 0.1, "norm": 4.0, "seed": 0, **options}
    return run(nr.GPUCB(X, KERNEL, **options), f, 0.1, rng, steps), f


@pytest.mark.parametrize("width", [2.0, "practical"])
def test_current_intervals_are_mean_and_width(width):
    opt, _ = played(width=width)
    told = np.unique(opt.history.ids)
    mean, std = opt.predict(pending=False)
    lower, upper = mean - opt.beta * std, mean + opt.beta * std
    by_hand = told[np.argsort(-lower[told], kind="stable")]
    for best, id_ in zip(opt.top(4), by_hand, strict=False):
        assert best.id == id_
        assert (best.lower, best.upper) == pytest.approx((lower[id_], upper[id_]))
        assert best.gap == pytest.approx(np.delete(upper, id_).max() - lower[id_])


def test_pending_evaluations_prove_nothing():
    opt, _ = played()
    before, alive = opt.recommend(), opt.alive
    opt.expect(np.arange(100))
    after = opt.recommend()
    assert (after.id, opt.alive) == (before.id, alive)
    assert (after.lower, after.upper, after.gap) == pytest.approx(
        (before.lower, before.upper, before.gap)
    )


def test_intersected_intervals_lie_within_the_current_ones():
    """And they hold: nothing is better than the recommendation by more than its gap."""
    X, f, rng = problem(arms=100)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, norm=4.0, lam=0.01, seed=0)
    alive = [100]
    for _ in range(100):
        batch = opt.ask()
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(1))
        best = opt.recommend()
        mean, std = opt.predict()
        assert best.lower >= (mean - opt.beta * std)[best.id] - 1e-9
        assert best.upper <= (mean + opt.beta * std)[best.id] + 1e-9
        assert best.lower <= f[best.id] <= best.upper
        assert f.max() - f[best.id] <= best.gap
        alive.append(opt.alive)
    assert alive[-1] < 90
    assert all(later <= earlier + 2 for earlier, later in itertools.pairwise(alive))


def test_alive_counts_by_the_bounds_kept_and_those_of_now(monkeypatch):
    X, f, rng = problem(arms=100)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, norm=4.0, lam=0.01, seed=0)
    dense = DenseRun(opt)

    def between(upper, best, count, better):
        """Whether so many are alive, by upper bounds and bounds of differences to the best."""
        few, many = ((upper >= best + s) & (better >= s) for s in (1e-6, -1e-6))
        return few.sum() <= count <= many.sum()

    for _ in range(80):
        batch = dense.ask()
        dense.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(1))
        found, (mean, std) = opt.recommend(), opt.predict()
        kept, best = dense.bounds_kept(), found.lower
        better = differences(opt, found.id)
        assert between(np.minimum(kept, mean + opt.beta * std), best, opt.alive, better)
        with monkeypatch.context() as patch:  # a list that is too long to compute all bounds
            patch.setattr(ranking, "_MOST_WORK", 0)
            assert between(kept, best, opt.alive, np.inf)
    assert opt.alive < 90


def test_before_the_first_reward_the_prior_speaks():
    opt = nr.GPUCB(np.eye(3), nr.RBF(1.0, variance=4.0), norm=1.5, seed=0)
    best = opt.recommend()
    assert (best.id, best.mean) == (0, 0.0)
    assert best.lower == -best.upper
    assert 3.0 <= best.upper < 3.1
    assert opt.alive == 3


def test_top_gives_as_many_as_were_told():
    opt, _ = played(steps=3)
    assert len(opt.top(10)) == len(np.unique(opt.history.ids))


def test_a_new_list_starts_from_the_prior_bound():
    opt, f = played()
    assert opt.alive < 100
    opt.replace_candidates(np.random.default_rng(1).uniform(5, 6, size=(30, 2)))
    assert opt.alive == 30
    assert 3.0 < opt.ask().info.upper[0] <= 4.0
