"""Parameters of kernels: there and back, and derivatives against finite differences."""

import numpy as np
import pytest
from kernel_list import FITTED

import noregret as nr
from noregret.kernels.parameters import parameters, with_derivatives, with_parameters


@pytest.mark.parametrize("kernel", FITTED, ids=repr)
def test_parameters_round_trip_and_differentiate(kernel):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(6, 2))
    logs = np.array([p.log for p in parameters(kernel)])
    np.testing.assert_allclose(with_parameters(kernel, logs)(X, X), kernel(X, X))
    weights = rng.normal(size=(6, 6))
    weights = weights + weights.T
    numerical = [
        np.sum(
            weights
            * (with_parameters(kernel, logs + e)(X, X) - with_parameters(kernel, logs - e)(X, X))
        )
        / 2e-6
        for e in 1e-6 * np.eye(len(logs))
    ]
    gram, contract = with_derivatives(kernel, X)
    np.testing.assert_allclose(gram, kernel(X, X), rtol=1e-12)
    np.testing.assert_allclose(contract(weights), numerical, rtol=1e-5, atol=1e-7)


def test_derivatives_in_many_dimensions():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(7, 20))
    kernel, weights = nr.Matern(2.0, variance=3.0), np.ones((7, 7))
    gram, contract = with_derivatives(kernel, X)
    np.testing.assert_allclose(gram, kernel(X, X), rtol=1e-12)
    ahead, behind = (nr.Matern(2.0 * np.exp(step), variance=3.0)(X, X) for step in (1e-6, -1e-6))
    assert contract(weights)[0] == pytest.approx(np.sum(ahead - behind) / 2e-6, rel=1e-6)
    with pytest.raises(ValueError, match="lengthscale has 2 entries but points have 20"):
        with_derivatives(nr.RBF([1.0, 2.0]), X)


X = np.array([[0.1, 0, 1, 2], [0.5, 2, 1, 0], [0.9, 0, 0, 2], [0.5, 1, 1, 1]], dtype=float)


def test_derivatives_by_the_parameters_are_those_of_the_kernel():
    kernel = nr.Columns(nr.Matern([0.5], variance=2.0), [0]) * nr.Columns(
        nr.Hamming([0.4, 0.9, 1.5]), [3, 1, 2]
    )
    found = parameters(kernel)
    assert [one.kind for one in found] == ["lengthscale", "variance", *["weight"] * 3]
    assert [one.axis for one in found[2:]] == [3, 1, 2]
    weights = np.random.default_rng(0).normal(size=(4, 4))
    weights = weights + weights.T
    logs, step = np.array([one.log for one in found]), 1e-6
    np.testing.assert_allclose(with_parameters(kernel, logs)(X, X), kernel(X, X))
    _, contract = with_derivatives(kernel, X)
    for i, slope in enumerate(contract(weights)):
        moved = step * np.eye(len(logs))[i]
        ahead, behind = (with_parameters(kernel, logs + side * moved)(X, X) for side in (1, -1))
        assert slope == pytest.approx(np.sum(weights * (ahead - behind)) / (2 * step), abs=1e-6)


def test_one_weight_for_all_columns_is_one_parameter():
    kernel = nr.Hamming(0.4)
    _, contract = with_derivatives(kernel, X[:, 1:])
    (slope,) = contract(np.ones((4, 4)))
    step = 1e-6
    ahead, behind = (nr.Hamming(0.4 * np.exp(side * step))(X[:, 1:], X[:, 1:]) for side in (1, -1))
    assert slope == pytest.approx(np.sum(ahead - behind) / (2 * step), abs=1e-6)
