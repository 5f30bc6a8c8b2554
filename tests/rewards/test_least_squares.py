"""Every reward counts as it is."""

from dataclasses import replace

import numpy as np

import noregret as nr
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.least_squares import LeastSquares

MODEL = SparseGP(nr.RBF(), (1.0,), np.empty((0, 1)), 1.0)


def test_sums_are_those_of_the_rewards_as_the_model_sees_them():
    seen = Observations(np.empty((0, 1)))
    rows = seen.rows(np.array([4, 7, 4]), np.array([[4.0], [7.0], [4.0]]))
    seen.tell(rows, np.array([1.0, 2.0, 4.0]))
    assumed = nr.GPUCB(np.eye(2), nr.RBF()).assumed
    np.testing.assert_array_equal(LeastSquares().sums(MODEL, seen, assumed), [5.0, 2.0])
    standard = replace(assumed, shift=1.0, unit=2.0)
    np.testing.assert_array_equal(LeastSquares().sums(MODEL, seen, standard), [1.5, 0.5])
