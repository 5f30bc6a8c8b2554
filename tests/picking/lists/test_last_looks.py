"""Last looks: what is said of a candidate now is never below its bound now."""

import numpy as np
import pytest
from reference import problem

import noregret as nr
from noregret.picking.lists import last_looks
from noregret.picking.lists.last_looks import LastLooks
from noregret.picking.lists.look_columns import LookColumns
from noregret.picking.lists.prior import PriorRoot

KERNEL, LAM, WIDTH = nr.Matern(0.3, nu=2.5), 0.05, 2.0
NOBODY = np.empty(0, dtype=int)

#: algorithm, its settings, and whether its dictionaries leave something out
CASES = {
    "exact": (nr.GPUCB, {}, False),
    "grown": (nr.BBKB, {"qbar": 0.3}, True),
    "drawn afresh": (nr.BBKB, {"qbar": 0.3, "dictionary": "resample"}, True),
}


def bounds_in_turn(case, X, f, rng):
    """The bounds at one batch start after the other."""
    cls, own, _ = CASES[case]
    opt = cls(X, KERNEL, lam=LAM, width=WIDTH, seed=0, **own)
    for _ in range(25):
        ids = rng.integers(len(X), size=4)
        opt.tell(ids, f[ids] + 0.2 * rng.standard_normal(4))
        opt.cancel(opt.ask(1))
        yield opt.situation().bounds


def stale_bounds(looks, bounds, X):
    """What is said of every candidate now (A)."""
    queue, found = looks.queue(bounds, lambda ids: X[ids], NOBODY), np.full(len(X), np.nan)
    while queue.floor > -np.inf:
        taken = queue.take(len(X))
        found[taken.ids] = taken.stale
    return found


@pytest.mark.parametrize("dates", [3, 64])
@pytest.mark.parametrize("case", CASES)
def test_stale_bounds_are_never_below_those_of_now(case, dates, monkeypatch):
    monkeypatch.setattr(last_looks, "_DATES", dates)
    X, f, rng = problem(arms=80)
    space, grows = nr.Candidates(X), CASES[case][2]
    looks = LastLooks(LookColumns.fresh(PriorRoot(KERNEL, lam=LAM), space), grows=grows)
    helped, inducing, forgotten = [], None, 0
    for bounds in bounds_in_turn(case, X, f, rng):
        mean, leverage = bounds.evaluate(X)
        upper, stale = mean + bounds.width * np.sqrt(leverage), stale_bounds(looks, bounds, X)
        assert np.all(stale >= upper)
        helped.append(np.mean(stale < bounds.width * np.sqrt(1.0 / LAM)))
        ids = rng.choice(80, size=15, replace=False)
        looks.put(bounds, ids, mean[ids], np.sqrt(leverage[ids]))
        assert not looks.are_empty
        now, others = stale_bounds(looks, bounds, X), np.delete(np.arange(80), ids)
        if case == "exact":  # nothing has moved since the look
            np.testing.assert_allclose(now[ids], upper[ids], atol=1e-6)
        inducing, before = bounds.posterior.inducing, inducing
        if before is not None and not np.array_equal(inducing[: len(before)], before):
            assert np.ptp(now[others]) < 1e-6  # all others are back at the prior's
            forgotten += 1
    assert np.mean(helped) > 0.3 or case != "exact"
    assert (forgotten > 3) == (case == "drawn afresh")


def test_a_mean_may_have_moved_by_the_distance_of_the_weights():
    """D = ‖θ_t − θ_s‖ in the norm of V_t, from the evaluations; the prior is a look at θ = 0."""
    X, f, rng = problem(arms=40)
    opt = nr.GPUCB(X, KERNEL, lam=LAM, width=WIDTH, seed=0)
    fresh = LookColumns.fresh(PriorRoot(KERNEL, lam=LAM), nr.Candidates(X))
    looks, factor = LastLooks(fresh, grows=False), WIDTH * np.sqrt(LAM)

    def weights_after(ids):
        """θ = Σ weights_i φ(x_i) over all evaluations."""
        opt.tell(ids, f[ids])
        opt.cancel(opt.ask())
        seen = X[opt.history.ids]
        ridge = KERNEL(seen, seen) + LAM * np.eye(opt.t)
        found = np.zeros(25)
        found[: opt.t] = np.linalg.solve(ridge, opt.history.rewards)
        return found

    old = weights_after(np.arange(10))
    mean, leverage = opt.situation().bounds.evaluate(X)
    looks.put(opt.situation().bounds, np.arange(40), mean, np.sqrt(leverage))
    new = weights_after(np.arange(5, 20))
    K = KERNEL(X[opt.history.ids], X[opt.history.ids])

    def reach(change):
        return np.sqrt(change @ (K @ K + LAM * K) @ change) + factor

    from_look = mean + reach(new - old) * np.sqrt(leverage)
    from_prior = np.full(40, reach(new) / np.sqrt(LAM))
    stale = stale_bounds(looks, opt.situation().bounds, X)
    np.testing.assert_allclose(stale, np.minimum(from_look, from_prior), atol=1e-6)
    assert np.any(from_look < from_prior)
