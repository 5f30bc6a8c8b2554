"""The bounds that are kept from batch to batch on a list, and when they start again."""

import numpy as np
import pytest
from dense import beside
from reference import problem

import noregret as nr


def rewards(f, ids, rng):
    return f[ids] + 0.1 * rng.standard_normal(len(ids))


def test_the_largest_lower_bound_at_the_start_of_a_batch_is_kept():
    """Of the arms whose rewards came in last, at every batch start; beside those of now."""
    X, f, rng = problem(3, arms=60)
    opt = nr.GPUCB(X, nr.RBF(0.3), noise=0.1, norm=4.0, lam=0.01, seed=0)
    kept, fallen = np.full(60, -np.inf), 0
    ids = np.array([4, 9, 30])
    for _ in range(60):
        opt.tell(ids, rewards(f, ids, rng))
        mean, std = opt.predict(pending=False)
        lower = mean - opt.beta * std
        kept[ids] = np.maximum(kept[ids], lower[ids])
        for one in opt.top(60):
            assert one.lower == pytest.approx(max(kept[one.id], lower[one.id]), abs=1e-6)
            fallen += kept[one.id] > lower[one.id] + 1e-4
        ids = opt.ask().ids
    assert fallen  # kept bounds were better than those of now


@pytest.mark.parametrize("case", ["gpucb", "bbkb"])
@pytest.mark.parametrize("options", [{}, {"width": 2.0}], ids=str)
def test_the_largest_bound_of_those_that_are_left(case, options):
    X, f, rng = problem(3, arms=100)
    dense, without = beside(case, X, lam=0.01, **options), np.arange(0, 100, 3)
    opt = dense.opt
    for _ in range(12):
        ids = dense.ask().ids
        dense.tell(ids, rewards(f, ids, rng))
        mean, std = opt.predict(pending=False)
        upper = mean + opt.beta * std
        if dense.intersected:
            upper = np.minimum(upper, dense.bounds_kept())
        now = opt.situation(pending=False)
        found = opt.chooser.highest(now, without)
        assert found == pytest.approx(np.delete(upper, without).max(), abs=1e-5)
        assert opt.chooser.highest(now, np.arange(100)) == -np.inf


@pytest.mark.parametrize("width", ["theory", 2.0])
def test_candidates_that_are_added_start_from_the_prior(width):
    X, f, rng = problem(3, arms=50)
    opt = nr.GPUCB(X, nr.RBF(0.2), noise=0.1, norm=2.0, width=width, seed=0)
    for _ in range(20):
        ids = opt.ask().ids
        opt.tell(ids, rewards(f, ids, rng))
    now, old = opt.situation(), np.arange(50)
    known = [opt.chooser.highest(now, np.delete(old, id_)) for id_ in old]
    opt.add_candidates(X + 10.0)  # far from all that was told
    now, both = opt.situation(), np.arange(100)
    prior = min(2.0, now.bounds.upper(X + 10.0).max())  # 2.0 = F√k(x, x), or the deviations
    assert opt.chooser.highest(now, old) == pytest.approx(prior, abs=1e-6)
    after = [opt.chooser.highest(now, np.delete(both, id_)) for id_ in old]
    np.testing.assert_array_equal(after, known)
