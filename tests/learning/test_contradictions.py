"""Bounds of arms by themselves, beside those of the model and of the norm."""

import warnings

import numpy as np
import pytest

import noregret as nr
from noregret.learning.contradictions import BoundsOfArms
from noregret.models.sparse import SparseGP

KERNEL = nr.RBF(0.3)
X = np.random.default_rng(0).uniform(size=(40, 2))


def model_of(rewards):
    """The exact posterior of a reward for each of the first arms."""
    model = SparseGP(KERNEL, (0.01, 0.1), X[:0], 1.0)
    n = len(rewards)
    model.rebuild(X[:n], np.ones(n, dtype=np.int64), np.array(rewards), np.arange(n))
    return model


@pytest.mark.parametrize(("low", "high", "expected"), [(-1.0, 1.0, False), (0.9, 1.0, True)])
def test_intervals_that_do_not_meet_contradict_each_other(low, high, expected):
    model = model_of([0.0, 0.1, -0.1])
    rows = np.array([0, 2])
    own = BoundsOfArms(rows, np.array([-1.0, low]), np.array([1.0, high]))
    assert own.contradict(model, np.array([0.2, 0.5])) == expected


def test_a_value_that_is_bounded_away_from_zero_asks_for_a_norm():
    rows = np.array([0, 1, 2])
    own = BoundsOfArms(rows, np.array([-1.0, 2.0, -9.0]), np.array([1.0, 3.0, -4.5]))
    assert own.smallest_norm(model_of([0.0, 2.5, -6.0])) == pytest.approx(4.5)


def test_rewards_beyond_the_norm_refute_it_where_only_a_moment_is_known():
    """A constant 5 cannot have the norm 4: the kernel is 1 everywhere, so |f| is at most 4."""
    opt = nr.ClippedGPUCB(X, KERNEL, noise=0.1, norm=4.0, seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        while opt.t < 30:
            batch = opt.ask(30 - opt.t)
            opt.tell(batch, np.full(len(batch), 5.0))
        opt.ask()
    assert [one["event"] for one in opt.events] == ["refuted"]
    assert opt.events[0]["smallest_norm"] > 4.0
    assert "contradict norm=4" in str(caught[0].message)
    assert not opt.proved
    assert opt.recommend().gap == np.inf


def test_a_norm_that_is_right_is_not_refuted():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        centres, weights = rng.uniform(size=(8, 2)), rng.standard_normal(8)
        weights *= 2.0 / np.sqrt(weights @ KERNEL(centres, centres) @ weights)
        f = KERNEL(X, centres) @ weights
        opt = nr.ClippedGPUCB(X, KERNEL, noise=0.3, norm=2.0, seed=seed)
        while opt.t < 100:
            batch = opt.ask(100 - opt.t)
            opt.tell(batch, f[batch.ids] + rng.choice([-0.3, 0.3], len(batch)))
        assert opt.proved
