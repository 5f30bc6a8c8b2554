"""Quadrature Fourier features against the kernel they stand for."""

import math

import numpy as np
import pytest

from noregret import RBF, Candidates, Matern
from noregret.models.fourier import (
    QuadratureFeatures,
    QuadratureFourier,
    check_within,
    error_bound,
    nodes_for,
    quadrature_for,
    spans_of,
)


@pytest.mark.parametrize(("d", "lengthscale"), [(1, 0.5), (2, 0.8), (2, [0.6, 1.5]), (3, 1.0)])
def test_error_is_below_its_bound_and_falls(d, lengthscale):
    rng = np.random.default_rng(d)
    points = np.concatenate([rng.random((40, d)), np.zeros((1, d)), np.ones((1, d))])
    exact = RBF(lengthscale)(points, points)
    bounds, errors = [], []
    for nodes in (2, 4, 6, 8, 10):
        fourier = QuadratureFourier(lengthscale, 1.0, nodes)
        errors.append(np.abs(fourier(points, points) - exact).max())
        bounds.append(error_bound(nodes, spans_of(RBF(lengthscale), points)))
    for error, bound in zip(errors, bounds, strict=True):
        assert error <= bound + 1e-14
    assert np.all(np.diff(errors) < 0)


def test_bound_is_that_of_the_paper_or_lower():
    """Lemma 14: d 2^(d−1)/√2 (e/(4 l² m̄))^m̄ on the unit box, by Stirling without remainder."""
    for d in (1, 2, 3):
        for lengthscale in (0.3, 0.7, 1.0):
            for nodes in (8, 16, 40):
                base = math.e / (4 * lengthscale**2 * nodes)
                paper = d * 2 ** (d - 1) / math.sqrt(2) * base**nodes
                spans = np.full(d, 1 / lengthscale)
                assert error_bound(nodes, spans) <= min(paper, 2.0) * (1 + 1 / (20 * nodes))


def test_features_multiply_to_the_kernel():
    rng = np.random.default_rng(0)
    points = rng.random((15, 2))
    fourier = QuadratureFourier([0.4, 0.9], 2.5, 7)
    features = fourier.features(points)
    assert features.shape == (15, 2 * 7**2)
    np.testing.assert_allclose(features @ features.T, fourier(points, points), atol=1e-13)
    np.testing.assert_allclose(np.square(features).sum(axis=1), fourier.diag(points))


@pytest.mark.parametrize(("d", "lengthscale"), [(1, 0.3), (3, [0.6, 1.5, 0.9])])
def test_gradients_against_finite_differences(d, lengthscale):
    rng = np.random.default_rng(d)
    X, Y = rng.random((4, d)), rng.random((5, d))
    fourier = QuadratureFourier(lengthscale, 2.5, 9)
    gradient = fourier.gradient(X, Y)
    assert gradient.shape == (4, 5, d)
    for j, step in enumerate(1e-6 * np.eye(d)):
        numerical = (fourier(X + step, Y) - fourier(X - step, Y)) / 2e-6
        np.testing.assert_allclose(gradient[:, :, j], numerical, atol=1e-8)
    assert not fourier.diag_gradient(X).any()


def test_features_by_hand():
    """m̄ = 2: the roots of H₂ are ±1/√2, both with weight 1/2."""
    features = QuadratureFourier(0.5, 1.0, 2).features(np.array([[0.3]]))[0]
    angle = math.sqrt(2) / 0.5 / math.sqrt(2) * 0.3
    c, s = math.cos(angle) / math.sqrt(2), math.sin(angle) / math.sqrt(2)
    np.testing.assert_allclose(features, [c, c, -s, s], atol=1e-15)


@pytest.mark.parametrize("nodes", [1, 2, 5, 8])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_half_the_features_have_the_same_products(nodes, d):
    points = np.random.default_rng(0).uniform(-1, 2, (12, d))
    fourier = QuadratureFourier(np.linspace(0.5, 1.0, d), 1.7, nodes)
    features = QuadratureFeatures(fourier, d, 0.0)
    phi = features(points)
    assert phi.shape == (12, features.size)
    assert features.size <= nodes**d + 1
    np.testing.assert_allclose(phi @ phi.T, fourier(points, points), atol=1e-12)


def test_small_weights_are_left_out():
    """What is lost is at most the tolerance, and most features of a fine rule are not needed."""
    points = np.random.default_rng(0).random((30, 2))
    fourier = QuadratureFourier(0.5, 2.0, 20)
    features = QuadratureFeatures(fourier, 2, 1e-3)
    phi = features(points)
    lost = np.abs(phi @ phi.T - fourier(points, points)).max()
    assert 1e-6 < lost <= 2.0 * 1e-3
    assert features.size < 20**2 / 3


def test_gradients_of_quadrature_features():
    rng = np.random.default_rng(0)
    features = QuadratureFeatures(QuadratureFourier([0.4, 0.7], 1.5, 9), 2, 1e-9)
    X, theta = rng.random((5, 2)), rng.standard_normal((5, features.size))
    values, gradient = features.evaluate(X, theta)
    np.testing.assert_allclose(values, np.sum(features(X) * theta, axis=1))
    for j, step in enumerate(1e-6 * np.eye(2)):
        numeric = np.sum((features(X + step) - features(X - step)) * theta, axis=1) / 2e-6
        np.testing.assert_allclose(gradient[:, j], numeric, rtol=1e-6, atol=1e-7)


def test_nodes_are_the_fewest_that_do():
    spans = np.array([5.0])
    nodes = nodes_for(1e-12, spans)
    assert error_bound(nodes, spans) <= 1e-12 < error_bound(nodes - 1, spans)
    points = np.linspace(0, 1, 10)[:, None]
    assert quadrature_for(RBF(0.2), points, None, 1e-12).nodes == nodes


def test_one_point_or_flat_dimensions_need_one_node():
    assert nodes_for(1e-12, spans_of(RBF(1.0), np.zeros((3, 2)))) == 1


def test_errors_say_what_to_change():
    grid = np.linspace(0, 1, 10)[:, None]
    with pytest.raises(ValueError, match=r"needs an RBF kernel.*Matern.*nystrom"):
        quadrature_for(Matern(0.2), grid, None, 1e-12)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"2·10\^5 = 200000 features in 5 dimensions"):
        quadrature_for(RBF(1.0), rng.random((10, 5)), 10, 1e-12)
    with pytest.raises(ValueError, match=r"2·30\^3 = 54000 features in 3 dimensions"):
        quadrature_for(RBF(1.0), rng.random((10, 3)), 30, 1e-12)
    with pytest.raises(ValueError, match="nystrom"):
        quadrature_for(RBF(1e-3), grid, None, 1e-12)
    words = Candidates(["a", "b"]).points
    with pytest.raises(TypeError, match="numbers, not objects"):
        quadrature_for(RBF(1.0), words, None, 1e-12)


def test_points_outside_the_box_are_refused():
    corners = np.array([[0.0, 1.0], [2.0, 3.0]])
    kernel = quadrature_for(RBF(1.0), corners, 6, 1e-12)
    check_within(kernel, np.array([[0.0, 3.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="box spanned by the old ones"):
        check_within(kernel, np.array([[0.0, 3.1]]))
    check_within(RBF(1.0), np.array([[9.0, 9.0]]))
