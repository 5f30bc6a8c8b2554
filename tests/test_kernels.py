"""Kernels: closed forms, the laws every kernel keeps, adapters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import gamma, kv
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.kernels import as_kernel
from noregret.kernels.spec import from_spec, to_spec
from noregret.kernels.stationary import squared_distances

ALL = [
    nr.RBF(0.7),
    nr.RBF([0.5, 1.0, 2.0], variance=3.0),
    nr.Matern(0.7, nu=0.5),
    nr.Matern(0.7, nu=1.5),
    nr.Matern([0.5, 1.0, 2.0], nu=2.5, variance=0.5),
    nr.Matern(0.7, nu=0.8),
    nr.Matern(0.7, nu=7.3),
    nr.Linear(2.0, offset=1.0),
    nr.RBF(0.7) + nr.Linear(),
    nr.RBF(0.7) * nr.Matern(2.0) + 0.5 * nr.Linear(),
    as_kernel(sk.RBF(0.7) + sk.DotProduct()),
    as_kernel(lambda xs, ys: np.exp(-np.abs(xs[:, None] - ys[None]).sum(-1))),
]
points = arrays(np.float64, (6, 3), elements=st.floats(-5, 5, width=32))


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@settings(max_examples=20, deadline=None)
@given(X=points)
def test_every_kernel_is_symmetric_positive_and_agrees_with_its_diagonal(kernel, X):
    X[3] = X[0]  # duplicates are normal input
    K = kernel(X, X)
    scale = max(K.max(), 1.0)
    np.testing.assert_allclose(K, K.T, atol=1e-9 * scale)
    np.testing.assert_allclose(kernel.diag(X), K.diagonal(), atol=1e-9 * scale)
    np.testing.assert_allclose(K[3], K[0], atol=1e-12 * scale)
    assert np.linalg.eigvalsh(K).min() > -1e-8 * scale
    np.testing.assert_allclose(kernel(X[:2], X[2:]), K[:2, 2:], atol=1e-12 * scale)


def test_closed_forms():
    x, y = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    r = 5.0 / 2.0
    assert nr.RBF(2.0)(x, y).item() == pytest.approx(np.exp(-(r**2) / 2))
    assert nr.Matern(2.0, nu=0.5)(x, y).item() == pytest.approx(np.exp(-r))
    s = np.sqrt(3) * r
    assert nr.Matern(2.0, nu=1.5)(x, y).item() == pytest.approx((1 + s) * np.exp(-s))
    s = np.sqrt(5) * r
    assert nr.Matern(2.0, nu=2.5)(x, y).item() == pytest.approx((1 + s + s**2 / 3) * np.exp(-s))
    assert nr.RBF([3.0, 4.0])(x, y).item() == pytest.approx(np.exp(-1))


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_general_matern_meets_the_closed_forms(nu):
    r = np.linspace(0.01, 5, 50)[:, None]
    zero = np.zeros((1, 1))
    s = np.sqrt(2 * nu) * r
    bessel = 2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s)
    np.testing.assert_allclose(nr.Matern(1.0, nu=nu)(r, zero), bessel, rtol=1e-10)
    close = nr.Matern(1.0, nu=nu + 1e-9)(r, zero)
    np.testing.assert_allclose(close, bessel, rtol=1e-6)


def test_general_matern_far_away_and_close_by():
    x = np.array([[0.0], [1e-14], [1e-6], [1e6]])
    for nu in (0.3, 3.7, 30.0):
        values = nr.Matern(1.0, nu=nu)(x, x[:1])[:, 0]
        assert np.all(np.isfinite(values))
        assert values[0] == values[1] == 1.0
        assert values[3] == pytest.approx(0.0, abs=1e-300)


@pytest.mark.parametrize("dimension", [1, 3, 17, 200])
def test_squared_distances_are_exact_for_equal_rows_in_any_dimension(dimension):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, dimension)) + 1e3
    Y = np.vstack([X[:4], X[:4] + 1e-5])
    expected = ((X[:, None] - Y[None]) ** 2).sum(-1)
    np.testing.assert_allclose(squared_distances(X, Y), expected, rtol=1e-6, atol=1e-12)
    assert np.all(squared_distances(X, Y)[range(4), range(4)] == 0)


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


@pytest.mark.parametrize("kernel", [k for k in ALL if "Function" not in repr(k)], ids=repr)
def test_specs_give_the_same_kernel_back(kernel):
    store = {}
    again = from_spec(to_spec(kernel, store), store)
    X = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_array_equal(again(X, X), kernel(X, X))


def test_specs_build_nothing_but_kernels():
    with pytest.raises(ValueError, match="kernel class"):
        from_spec({"class": "Candidates", "params": {}}, {})
    with pytest.raises(ValueError, match="scikit-learn"):
        from_spec({"sklearn": {"class": "np", "params": {}}}, {})


def test_precomputed_kernels_take_row_numbers():
    base = nr.RBF(0.5)
    X = np.random.default_rng(0).uniform(size=(12, 2))
    f = X[:, 0]
    matrix = nr.GPUCB(nr.Candidates(range(12)), nr.Precomputed(base(X, X)), seed=0, width=2.0)
    plain = nr.GPUCB(X, base, seed=0, width=2.0)
    for opt in (matrix, plain):
        for _ in range(6):
            batch = opt.ask()
            opt.tell(batch, f[batch.ids])
    np.testing.assert_array_equal(matrix.history.ids, plain.history.ids)


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
        (lambda: nr.GPUCB(np.eye(3), "rbf"), "callable"),
        (lambda: nr.GPUCB(np.eye(3), nr.Precomputed(np.eye(3))), "row numbers"),
        (lambda: nr.GPUCB([0, 5], nr.Precomputed(np.eye(3))), "row numbers"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: np.ones((len(x), 1))), "shape"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: -np.ones((len(x), len(y)))), "positive"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: np.zeros((len(x), len(y)))), "positive"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: np.full((len(x), len(y)), np.nan)), "finite"),
        (lambda: nr.GPUCB(np.eye(3), lambda x, y: 2 * x[:, :1] + y[:, 0]), "symmetric"),
        (lambda: nr.GPUCB(np.eye(3), sk.WhiteKernel()), "diag"),
    ],
)
def test_wrong_kernels_are_refused(build, words):
    with pytest.raises((ValueError, TypeError), match=words):
        build()
