"""The Gaussian kernel in closed form."""

import numpy as np
import pytest

import noregret as nr


def test_closed_form_with_one_lengthscale_or_one_per_dimension():
    x, y = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    r = 5.0 / 2.0
    assert nr.RBF(2.0)(x, y).item() == pytest.approx(np.exp(-(r**2) / 2))
    assert nr.RBF([3.0, 4.0])(x, y).item() == pytest.approx(np.exp(-1))
