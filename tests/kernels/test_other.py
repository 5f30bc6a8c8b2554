"""Linear and precomputed kernels."""

import numpy as np
import pytest

import noregret as nr


def test_objects_have_no_linear_kernel():
    with pytest.raises(TypeError, match="Linear needs arrays of numbers, not objects"):
        nr.GPUCB(["ant", "bee", "cat"], nr.Linear(), seed=0)


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
