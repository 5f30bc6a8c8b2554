"""The laws that every kernel keeps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from kernel_list import KERNELS

import noregret as nr

points = arrays(np.float64, (6, 3), elements=st.floats(-5, 5, width=32))


def name_of(kernel):
    """What a test is called: without the address of a function."""
    return repr(kernel).partition(" at 0x")[0]


@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
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


@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_no_points_give_no_values(kernel):
    X = np.random.default_rng(0).uniform(size=(4, 3))
    assert kernel(X, X[:0]).shape == (4, 0)
    assert kernel(X[:0], X).shape == (0, 4)
    assert kernel.diag(X[:0]).shape == (0,)


@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_kernels_cannot_be_changed(kernel):
    """A change would mix the factors of the old kernel with values of the new one."""
    for name, value in kernel.params().items():
        with pytest.raises(AttributeError, match=rf"{name} of {type(kernel).__name__}"):
            setattr(kernel, name, value)


@pytest.mark.parametrize(
    "kernel", [nr.RBF(0.3), nr.Matern([0.3, 0.4]), nr.Linear(), nr.Hamming(), nr.Tanimoto()]
)
@pytest.mark.parametrize(
    ("X", "Y", "words"),
    [
        ([[0.0, 1.0]], np.zeros((1, 2)), r"no array and shape \(1, 2\)"),
        (np.zeros((3, 2)), np.zeros((1, 3)), r"shape \(3, 2\) and shape \(1, 3\)"),
        (np.zeros(2), np.zeros((1, 2)), r"shape \(2,\) and shape \(1, 2\)"),
    ],
)
def test_points_that_are_no_rows_of_one_width_are_refused(kernel, X, Y, words):
    with pytest.raises(TypeError, match=f"{type(kernel).__name__}.* need.* not objects: .*{words}"):
        kernel(X, Y)
