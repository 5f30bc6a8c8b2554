"""The simple rules where candidates may be measured a few times only; the bounds they report."""

import numpy as np
import pytest
from reference import problem

import noregret as nr

X, F, _ = problem(arms=60)
BITS = np.array([[float(i >> j & 1) for j in range(5)] for i in range(32)])


def told(cls, **options):
    opt = cls(X, nr.RBF(0.3), noise=0.1, norm=3.0, seed=0, **options)
    opt.tell([5, 20, 40], F[[5, 20, 40]])
    return opt


def test_without_exploration_the_largest_means_come_in_order():
    opt = told(nr.EpsilonGreedy, epsilon=0.0, repeats=1)
    order = np.argsort(-opt.predict()[0], kind="stable")
    order = order[np.isin(order, [5, 20, 40], invert=True)]
    np.testing.assert_array_equal(opt.ask(12).ids, order[:12])


def test_greedy_and_uniform_picks_share_the_room():
    opt = told(nr.EpsilonGreedy, epsilon=0.5, repeats=2)
    ids = np.concatenate([opt.ask(50).ids, opt.ask(67).ids])
    np.testing.assert_array_equal(np.bincount([*ids, 5, 20, 40], minlength=60), 2)
    assert opt.exhausted


def test_picks_are_reported_with_the_bounds_of_the_batch_start():
    for cls, options in ((nr.EpsilonGreedy, {"epsilon": 0.4}), (nr.Uniform, {})):
        opt = told(cls, width=2.0, **options)
        opt.expect([7, 7])
        mean, std = opt.predict(pending=False)
        batch = opt.ask(30)
        expected = (mean + 2.0 * std)[batch.ids]
        np.testing.assert_allclose(batch.info.upper, expected, atol=1e-6)


def test_pending_evaluations_count_as_steps():
    """ε_t = t^(−1/3) after 5,000 that are pending is that after 5,000 told."""
    opt = told(nr.EpsilonGreedy)
    best = int(np.argmax(opt.predict()[0]))
    opt.ask(5000)
    t = 5004.0 + np.arange(20_000)
    share = np.mean(opt.ask(20_000).ids != best)
    assert share == pytest.approx((t ** (-1 / 3)).mean() * 59 / 60, abs=0.005)


def test_children_are_the_nearest_that_are_open():
    """One member, the last evaluation; every candidate once: then the fewest changes count."""
    opt = nr.RegularizedEvolution(
        BITS, nr.RBF(1.0), norm=20.0, seed=0, population=1, tournament=1, repeats=1
    )
    opt.tell([0], [0.0])
    seen = [0]
    for _ in range(31):
        distance = np.abs(BITS - BITS[seen[-1]]).sum(axis=1)
        distance[seen] = np.inf
        batch = opt.ask()
        assert distance[batch.ids[0]] == distance.min()
        seen.append(int(batch.ids[0]))
        opt.tell(batch, [0.0])
    assert opt.exhausted
    assert sorted(seen) == list(range(32))
    assert not len(opt.ask(3).ids)
