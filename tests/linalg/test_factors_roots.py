"""Roots that follow their matrices: against the inverses themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.linalg import factors
from noregret.linalg.factors import InverseRoots

EPS = np.finfo(float).eps


@settings(max_examples=40, deadline=None)
@given(
    power=st.integers(-8, 8),
    seed=st.integers(0, 1000),
    moves=st.lists(st.sampled_from(["rows", "row", "columns"]), min_size=1, max_size=12),
)
def test_roots_and_determinants_follow_rows_and_columns(power, seed, moves):
    lams, rng = 10.0**power * np.array([1.0, 3.0, 100.0]), np.random.default_rng(seed)
    roots, gram = InverseRoots(lams), np.empty((0, 0))
    for move in moves:
        m = len(gram)
        if move != "columns":
            rows = rng.standard_normal((2 if move == "rows" else 1, m))
            gram = gram + rows.T @ rows
            falls, gains, across = roots.add_rows(rows, roots.coordinates(rows))
            assert falls.shape == rows.shape
            np.testing.assert_allclose(gains[1], roots.solve(rows.T)[1].T, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(across @ falls, gains[0], rtol=1e-6, atol=1e-6)
        else:
            old = np.linalg.cholesky(gram + 1e-3 * np.eye(m))
            factor = np.concatenate([old, rng.uniform(size=(2, m))])
            grown = factor @ factor.T + np.diag(np.r_[np.zeros(m), 1.0, 1.0])
            grown[:m, :m] = gram
            roots.add_columns(grown[:m, m:], grown[m:, m:], roots.solve(grown[:m, m:]))
            gram = grown
        roots.repair(gram)
    target = rng.standard_normal(len(gram))
    for i, lam in enumerate(lams):
        V = gram + lam * np.eye(len(gram))
        condition = np.linalg.cond(V) if len(V) else 1.0
        tolerance = 1e-7 + 1e3 * EPS * condition
        F = roots.matrices[i]
        np.testing.assert_allclose(V @ F @ F.T, np.eye(len(V)), atol=tolerance)
        np.testing.assert_allclose(V @ roots.solve(target)[i], target, atol=10 * tolerance)
        expected = np.linalg.slogdet(V / lam)[1] if len(V) else 0.0
        assert roots.log_dets[i] == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("k", [1, 2])
def test_falls_say_what_quadratic_forms_lose(k):
    rng = np.random.default_rng(0)
    roots = InverseRoots(np.array([0.5, 7.0]))
    roots.compute(np.diag([1.0, 2.0, 3.0]))
    z = rng.standard_normal(3)
    before = z @ roots.solve(z)[0]
    rows = rng.standard_normal((k, 3))
    falls, *_ = roots.add_rows(rows, roots.coordinates(rows))
    assert before - z @ roots.solve(z)[0] == pytest.approx(float(np.square(falls @ z).sum()))


def test_roots_that_lost_their_digits_are_noticed():
    """λ = 1e-8 beside a large G: steps lose what a fresh computation keeps."""
    rng, lams = np.random.default_rng(0), np.array([1e-8, 1.0])
    roots, gram = InverseRoots(lams), np.zeros((5, 5))
    roots.compute(gram)
    noticed = 0
    for _ in range(200):
        rows = 1e3 * np.outer(rng.standard_normal(1), np.ones(5)) + rng.standard_normal((1, 5))
        gram = gram + rows.T @ rows
        roots.add_rows(rows, roots.coordinates(rows))
        x = rng.standard_normal(5)
        off = (gram + lams[0] * np.eye(5)) @ roots.solve(x)[0] - x
        if roots.repair(gram):
            assert np.linalg.norm(off) < 1e-5 * np.linalg.norm(x)
        else:
            noticed += 1
    assert noticed


@pytest.mark.parametrize("k", [1, 3, 40])
def test_steps_kept_beside_a_root_count_wherever_it_is_used(k, monkeypatch):
    monkeypatch.setattr(factors, "_IN_CACHE", 0)
    rng, lams = np.random.default_rng(k), np.array([0.5, 7.0])
    roots, gram = InverseRoots(lams), np.zeros((4, 4))
    roots.compute(gram)
    for step in range(30):
        rows = rng.standard_normal((k, len(gram)))
        gram = gram + rows.T @ rows
        roots.add_rows(rows, roots.coordinates(rows))
        if step % 4 == 0:
            cross, corner = np.zeros((len(gram), 1)), np.ones((1, 1))
            roots.add_columns(cross, corner, roots.solve(cross))
            gram = np.block([[gram, cross], [cross.T, corner]])
        Z, copied = rng.standard_normal((5, len(gram))), roots.copy()
        for i, lam in enumerate(lams):
            inverse = np.linalg.inv(gram + lam * np.eye(len(gram)))
            F, b = roots.matrices[i], roots.coordinates(Z, slice(i, i + 1))[0]
            np.testing.assert_allclose(F @ F.T, inverse, atol=1e-9)
            np.testing.assert_allclose(b, Z @ F, atol=1e-9)
            np.testing.assert_allclose(roots.solve(Z.T)[i], inverse @ Z.T, atol=1e-9)
        np.testing.assert_array_equal(copied.matrices, roots.matrices)
