"""Bounds of arms by themselves, beside those of the model and of the norm."""

import numpy as np
import pytest

import noregret as nr
from noregret.learning.own_bounds import BoundsOfArms
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
