"""Kernels as something that a file can hold."""

import io

import numpy as np
import pytest
from kernel_list import KERNELS

import noregret as nr
from noregret.kernels.spec import from_spec, to_spec


@pytest.mark.parametrize("kernel", [k for k in KERNELS if "Function" not in repr(k)], ids=repr)
def test_specs_give_the_same_kernel_back(kernel):
    store = {}
    again = from_spec(to_spec(kernel, store), store)
    X = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_array_equal(again(X, X), kernel(X, X))


def test_specs_build_nothing_but_kernels():
    with pytest.raises(ValueError, match=r"kernel class 'Candidates' is unknown here: .* import"):
        from_spec({"class": "Candidates", "params": {}}, {})
    with pytest.raises(ValueError, match="scikit-learn"):
        from_spec({"sklearn": {"class": "np", "params": {}}}, {})


class Hidden(nr.Kernel):
    """Keeps its argument under another name."""

    def __init__(self, lengthscale):
        self.inner = nr.RBF(lengthscale)

    def __call__(self, X, Y):
        return self.inner(X, Y)

    def diag(self, X):
        return np.ones(len(X))


def odd_kernels():
    """Kernels of which a file does not say enough."""
    members = {"__init__": lambda self, scale: setattr(self, "scale", scale)}
    unwritable = type("Unwritable", (Hidden,), members)(lambda x: x)
    namesake = type("RBF", (nr.RBF,), {"__call__": lambda self, X, Y: X @ Y.T})(0.3)
    return [Hidden(0.3), 2.0 * Hidden(0.3), unwritable, namesake]


@pytest.mark.parametrize("kernel", odd_kernels(), ids=lambda kernel: type(kernel).__name__)
def test_a_kernel_that_no_file_can_hold_is_given_again(kernel):
    assert to_spec(kernel, {}) is None


def test_a_run_with_such_a_kernel_is_saved_and_loaded():
    kernel, file = Hidden(0.3), io.BytesIO()
    opt = nr.GPUCB(np.random.default_rng(0).uniform(size=(20, 2)), kernel, noise=0.1, seed=0)
    opt.tell(opt.ask(), [0.2])
    opt.save(file)
    file.seek(0)
    with pytest.raises(ValueError, match="pass it again, load"):
        nr.load(file)
    file.seek(0)
    np.testing.assert_array_equal(nr.load(file, kernel=kernel).ask().ids, opt.ask().ids)


def test_a_namesake_does_not_take_the_place_of_a_kernel():
    """A class called RBF, defined anywhere, must not be made when a file names nr.RBF."""
    odd_kernels()
    assert type(from_spec(to_spec(nr.RBF(0.3), {}), {})) is nr.RBF
