"""Truncated directions against Algorithm 2, reward by reward."""

import numpy as np
import pytest

import noregret as nr
from noregret.models.fourier import QuadratureFourier
from noregret.models.sparse import SparseGP
from noregret.rewards.directions import rotation, symmetric_root, truncated_directions
from noregret.rewards.sorted_sums import SortedSums


def sorted_rewards(arms, rewards):
    sums = SortedSums()
    sums.grow(int(arms.max()) + 1)
    sums.add(arms, np.abs(rewards), rewards)
    return sums


def test_directions_equal_algorithm_2():
    rng = np.random.default_rng(3)
    arms, rewards = rng.integers(0, 7, 400), rng.standard_t(1.2, 400)
    weights = rng.standard_normal((7, 9))
    weights[2, 3] = 0.0
    level = 1.3
    found, nothing = truncated_directions(
        sorted_rewards(arms, rewards), weights, np.arange(7), level
    )
    u = weights[arms]  # one row an evaluation, as the paper writes it
    products = u * rewards[:, None]
    expected = np.where(np.abs(products) <= level, products, 0.0).sum(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert not nothing


def test_says_when_everything_is_truncated():
    sums = sorted_rewards(np.array([0, 0]), np.array([5.0, -6.0]))
    assert truncated_directions(sums, np.ones((1, 2)), np.array([0]), 1.0)[1]


@pytest.mark.parametrize("kernel", [nr.Matern(0.4, nu=0.5), QuadratureFourier(0.3, 1.5, 6)])
def test_the_model_keeps_the_features_of_the_paper_turned(kernel):
    """z = Rφ with RRᵀ = I, φ of the quadrature or K_D^(-1/2)k_D."""
    points = np.linspace(0.0, 1.0, 7)[:, None]
    model = SparseGP(kernel, (0.5,), points[:0], 1.5)
    model.rebuild(points, np.ones(7, dtype=int), np.zeros(7), np.array([3, 0, 6, 1]))
    R = rotation(model.posterior())
    np.testing.assert_allclose(R @ R.T, np.eye(model.size), atol=1e-6)
    if isinstance(kernel, QuadratureFourier):
        phi = kernel.features(points)
    else:
        inducing = points[model.dictionary]
        values, vectors = np.linalg.eigh(kernel(inducing, inducing))
        phi = kernel(points, inducing) @ (vectors / np.sqrt(values)) @ vectors.T
    np.testing.assert_allclose(phi @ R.T, model.features, atol=1e-6)


def test_the_symmetric_root_is_one():
    F = np.random.default_rng(0).standard_normal((5, 5))
    root = symmetric_root(F)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    np.testing.assert_allclose(root @ root, F @ F.T, atol=1e-10)
