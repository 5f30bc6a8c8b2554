"""Every reward counts as it is."""

from dataclasses import replace

import numpy as np
import pytest

import noregret as nr
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.least_squares import LeastSquares, RewardEstimate, checked_sums

MODEL = SparseGP(nr.RBF(), (1.0,), np.empty((0, 1)), 1.0)


def test_sums_are_those_of_the_rewards_as_the_model_sees_them():
    seen = Observations(np.empty((0, 1)))
    rows = seen.rows(np.array([4, 7, 4]), np.array([[4.0], [7.0], [4.0]]))
    seen.tell(rows, np.array([1.0, 2.0, 4.0]))
    assumed = nr.GPUCB(np.eye(2), nr.RBF()).assumed
    np.testing.assert_array_equal(LeastSquares().sums(MODEL, seen, assumed), [5.0, 2.0])
    standard = replace(assumed, shift=1.0, unit=2.0)
    np.testing.assert_array_equal(LeastSquares().sums(MODEL, seen, standard), [1.5, 0.5])


@pytest.mark.parametrize("sums", [[1.0], [1.0, np.nan], None, 3.0, [[1.0, 2.0]]])
def test_other_sums_than_one_number_for_each_choice_are_refused(sums):
    """The error names the estimate, not a line of the model."""
    seen = Observations(np.empty((0, 1)))
    seen.rows(np.array([4, 7]), np.array([[4.0], [7.0]]))
    assumed = nr.GPUCB(np.eye(2), nr.RBF()).assumed
    Mistaken = type("Mistaken", (RewardEstimate,), {"sums": lambda *given: sums})
    with pytest.raises((ValueError, TypeError), match=r"Mistaken\.sums must return 2 finite"):
        checked_sums(Mistaken(), MODEL, seen, assumed)


def test_an_estimate_must_define_sums():
    with pytest.raises(TypeError, match="sums"):
        type("Empty", (RewardEstimate,), {})()
