"""Kernels from elsewhere, and what is refused."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.kernels import as_kernel


def test_scikit_learn_kernels_agree_with_ours():
    X = np.random.default_rng(0).standard_normal((8, 2))
    pairs = [
        (sk.RBF(0.6), nr.RBF(0.6)),
        (sk.Matern(0.6, nu=1.5), nr.Matern(0.6, nu=1.5)),
        (sk.Matern([0.6, 2.0], nu=0.9), nr.Matern([0.6, 2.0], nu=0.9)),
        (2.0 * sk.RBF(1.0), nr.RBF(1.0, variance=2.0)),
    ]
    for theirs, ours in pairs:
        np.testing.assert_allclose(as_kernel(theirs)(X, X), ours(X, X), atol=1e-9)


GRID = np.linspace(0.0, 1.0, 40)[:, None]
DEFINITE = "positive semi-definite.* it has -"


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: nr.RBF(0.0), "lengthscale"),
        (lambda: nr.RBF([1.0, -1.0]), "lengthscale"),
        (lambda: nr.RBF(np.nan), "lengthscale"),
        (lambda: nr.RBF(1.0, variance=0.0), "variance"),
        (lambda: nr.Matern(1.0, nu=0.0), "nu"),
        (lambda: nr.Linear(offset=-1.0), "offset"),
        (lambda: nr.Precomputed(np.ones((2, 3))), "square"),
        (lambda: nr.Precomputed([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda: nr.GPUCB(np.eye(3), nr.RBF([1.0, 2.0])), "dimensions"),
        (lambda: nr.GPUCB(np.eye(3), nr.RBF), "call it first"),
        (lambda: nr.GPUCB(np.eye(3), "rbf"), r"nr.RBF.*, 'auto' or a callable .*, got 'rbf'"),
        (lambda: nr.GPUCB(np.eye(3), nr.Precomputed(np.eye(3))), "row numbers"),
        (lambda: nr.GPUCB(nr.Candidates([0, 5]), nr.Precomputed(np.eye(3))), "row numbers"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: np.ones((len(x), 1))), "shape"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: -np.ones((len(x), len(y)))), "positive"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: np.zeros((len(x), len(y)))), "positive"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: np.full((len(x), len(y)), np.nan)), "finite"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: 2 * x[:, :1] + y[:, 0]), "symmetric"),
        (lambda: nr.GPUCB(np.eye(3), sk.WhiteKernel()), r"diag.* give noise=\.\.\."),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: x + y[:2]), "return an n × m matrix"),
        (lambda: nr.GPUCB(GRID, lambda x, y: np.cos(9 * np.abs(x - y.T)) - abs(x - y.T)), DEFINITE),
        (lambda: nr.GPUCB(nr.Candidates([0, 1, 2]), nr.Precomputed(1.8 * np.eye(3) - 1)), DEFINITE),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: x.mm(y)), "an n × m matrix.*AttributeError"),
        (lambda: nr.GPUCB(["a", "b"], lambda x, y: x[:, 0] * y), "an n × m matrix.*IndexError"),
    ],
)
def test_wrong_kernels_are_refused(build, words):
    with pytest.raises((ValueError, TypeError), match=words):
        build()


def test_a_kernel_that_is_nan_for_some_points_is_refused():
    """The first three points do not show it."""

    class Undefined(nr.RBF):
        def __call__(self, X, Y):
            return np.where(X[:, :1] > 0.5, np.nan, super().__call__(X, Y))

    with pytest.raises(ValueError, match="finite numbers"):
        nr.GPUCB(GRID, Undefined(0.3), noise=0.1)


def test_kernels_of_32_bit_numbers_are_positive_enough():
    """Round-off makes eigenvalues that should be 0 negative."""
    X = np.random.default_rng(0).uniform(size=(200, 2))
    nr.GPUCB(X, lambda x, y: nr.RBF(3.0)(x, y).astype(np.float32), noise=0.1).ask()


@pytest.mark.parametrize(
    ("gradient", "words"),
    [
        (lambda kernel, X, Y: -nr.RBF(0.3).gradient(X, Y), "derivative of k"),
        (lambda kernel, X, Y: nr.RBF(0.3).gradient(X, Y)[..., ::-1], "derivative of k"),
        (lambda kernel, X, Y: nr.RBF(0.3).gradient(X, Y) / 0.3, "derivative of k"),
        (lambda kernel, X, Y: np.zeros(X.shape), r"gradient must return shape \(32, 32, 2\)"),
    ],
)
def test_a_wrong_gradient_is_refused_on_a_box(gradient, words):
    """It would only mislead the search, which nobody notices."""
    members = {"gradient": gradient, "__module__": __name__}
    kernel = type("Mistaken", (nr.RBF,), members)(0.3)
    with pytest.raises(ValueError, match=words):
        nr.GPUCB(nr.Box([(0, 1), (0, 1)]), kernel, noise=0.1)
    nr.GPUCB(GRID, kernel, noise=0.1)  # a list is not searched by gradients


def test_kinks_and_short_lengthscales_are_no_wrong_gradients():
    box = nr.Box([(0, 1), (-1e3, 1e3)])
    for kernel in (
        nr.Matern(0.2, nu=0.5),
        nr.Matern([1e-4, 1e-3]),
        nr.RBF([0.5, 1e6]) * nr.Linear(),
    ):
        nr.GPUCB(box, kernel, noise=0.1)
    far = nr.Box([(1e16, 1e16 + 8), (0, 1)])
    nr.GPUCB(far, nr.Matern([4.0, 0.3]), noise=0.1)
