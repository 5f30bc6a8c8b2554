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
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: x.mm(y)), "an n × m matrix.*AttributeError"),
        (lambda: nr.GPUCB(["a", "b"], lambda x, y: x[:, 0] * y), "an n × m matrix.*IndexError"),
    ],
)
def test_wrong_kernels_are_refused(build, words):
    with pytest.raises((ValueError, TypeError), match=words):
        build()
