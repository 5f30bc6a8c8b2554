"""Kernels as something that a file can hold."""

import numpy as np
import pytest
from kernel_list import KERNELS

from noregret.kernels.spec import from_spec, to_spec


@pytest.mark.parametrize("kernel", [k for k in KERNELS if "Function" not in repr(k)], ids=repr)
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
