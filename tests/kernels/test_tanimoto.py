"""The Tanimoto kernel against its definition, on bits and counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.learning.fit import fit_kernel


def by_definition(X, Y):
    least = np.minimum(X[:, None], Y[None]).sum(axis=2)
    most = np.maximum(X[:, None], Y[None]).sum(axis=2)
    return np.where(most > 0, least / np.where(most > 0, most, 1), 1.0)


@given(st.integers(0, 2**32), st.integers(1, 70), st.sampled_from([0.0, 0.05, 0.5, 1.0]))
def test_packed_bits_are_compared_bit_by_bit(seed, bits, share):
    rng = np.random.default_rng(seed)
    X, Y = (rng.random((n, bits)) < share for n in (5, 21))
    packed = nr.Tanimoto(2.0)(np.packbits(X, axis=1), np.packbits(Y, axis=1))
    expected = 2.0 * by_definition(X.astype(float), Y.astype(float))
    assert np.allclose(packed, expected, rtol=0, atol=1e-14)
    assert np.allclose(nr.Tanimoto(2.0)(X.astype(float), Y.astype(float)), expected, atol=1e-14)


@pytest.mark.parametrize("largest", [3, 500])
def test_counts_are_compared_by_their_smallest_and_largest(largest):
    rng = np.random.default_rng(0)
    X, Y = (rng.integers(0, largest + 1, (n, 9)) * (rng.random((n, 9)) < 0.5) for n in (6, 4))
    assert np.allclose(nr.Tanimoto()(X.astype(float), Y.astype(float)), by_definition(X, Y))
    assert np.allclose(nr.Tanimoto()(X + 0.25, Y + 0.25), by_definition(X + 0.25, Y + 0.25))


@given(st.integers(0, 2**32), st.sampled_from([2, 7]))
def test_it_is_positive_definite(seed, largest):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, largest, (30, 12)).astype(float)
    assert np.linalg.eigvalsh(nr.Tanimoto()(X, X)).min() > -1e-10


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_more_rows_than_one_strip_are_all_compared(share):
    rng = np.random.default_rng(1)
    X, Y = rng.random((370, 100)) < share, rng.random((1030, 100)) < share
    packed = nr.Tanimoto()(np.packbits(X, axis=1), np.packbits(Y, axis=1))
    assert np.allclose(packed, by_definition(X.astype(float), Y.astype(float)), atol=1e-14)
    assert np.array_equal(packed.T, nr.Tanimoto()(np.packbits(Y, axis=1), np.packbits(X, axis=1)))


def test_negative_counts_and_objects_are_refused():
    with pytest.raises(ValueError, match=r"at least 0, got -1"):
        nr.Tanimoto()(np.array([[-1.0]]), np.array([[1.0]]))
    with pytest.raises(TypeError, match="not objects"):
        nr.Tanimoto()(np.array(["a"], dtype=object), np.array(["b"], dtype=object))


def fingerprints(n, seed=0, bits=128):
    rng = np.random.default_rng(seed)
    return np.packbits(rng.random((n, bits)) < 0.2, axis=1)


def test_variance_and_noise_are_fitted():
    X = fingerprints(400)
    rng = np.random.default_rng(2)
    K = 4.0 * nr.Tanimoto()(X, X) + 0.25 * np.eye(400)
    fits = [
        fit_kernel(nr.Tanimoto(), X, np.linalg.cholesky(K) @ rng.standard_normal(400), priors=None)
        for _ in range(5)
    ]
    assert np.mean([fit.kernel.variance for fit in fits]) == pytest.approx(4.0, rel=0.3)
    # Bits that are drawn on their own share so little that some noise goes to the variance.
    assert np.mean([fit.kernel.variance + fit.noise**2 for fit in fits]) == pytest.approx(
        4.25, rel=0.2
    )


def test_packed_bits_stay_bytes_for_kernels_that_take_them():
    X = fingerprints(60)
    opt = nr.GPUCB(nr.Candidates(X), nr.Tanimoto(), seed=0)
    assert opt.domain.points.dtype == np.uint8
    batch = opt.ask(5)
    assert batch.points.dtype == np.uint8
    opt.tell(batch, np.arange(5.0))
    assert np.array_equal(opt.dictionary_points, X[opt.dictionary])
    assert nr.GPUCB(X, nr.Tanimoto() + 2.0 * nr.Tanimoto(), seed=0).domain.are_bits


def test_other_kernels_see_bytes_as_numbers():
    X = np.array([[250, 3], [10, 200], [0, 0]], dtype=np.uint8)
    opt = nr.GPUCB(nr.Candidates(X), nr.Linear(), seed=0)
    assert opt.domain.points.dtype == np.float64
    assert opt.assumed.scale == 250.0**2 + 9.0


def test_auto_takes_tanimoto_for_fingerprints_and_says_so():
    X = fingerprints(200)
    packed = nr.GPUCB(X, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    assert packed.events[0]["kernel"] == "Tanimoto(variance=1.0)"
    assert packed.events[0]["why"] == "the candidates are packed bits"
    columns = np.unpackbits(X, axis=1).astype(float)
    opt = nr.GPUCB(columns, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    assert opt.events[0]["why"] == "all columns are 0 or 1"
    for one in (packed, opt):
        batch = one.ask(40)
        one.tell(batch, columns[batch.ids, :10].sum(axis=1))
    assert isinstance(opt.assumed.kernel, nr.Tanimoto)
    assert np.allclose(packed.predict(np.arange(9)), opt.predict(np.arange(9)), atol=1e-8)


def test_few_columns_of_bits_are_compared_by_lengthscales():
    X = np.random.default_rng(0).integers(0, 2, (50, 5)).astype(float)
    assert isinstance(nr.GPUCB(X, "auto", noise="auto", seed=0).assumed.kernel, nr.Matern)


def test_a_run_on_packed_bits_is_saved_and_goes_on_the_same(tmp_path):
    def told(opt, n):
        for _ in range(n):
            batch = opt.ask(4)
            opt.tell(batch, batch.points.sum(axis=1) % 7)
        return opt

    opt = told(nr.GPUCB(fingerprints(80), "auto", noise="auto", width=2.0, seed=0), 12)
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.domain.points.dtype == np.uint8
    assert np.array_equal(told(again, 2).history.ids, told(opt, 2).history.ids)
