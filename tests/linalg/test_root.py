"""A root that follows its matrix: against the inverse itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.linalg.factors import InverseRoot

EPS = np.finfo(float).eps


@settings(max_examples=40, deadline=None)
@given(
    power=st.integers(-8, 8),
    seed=st.integers(0, 1000),
    moves=st.lists(st.sampled_from(["rows", "columns"]), min_size=1, max_size=12),
)
def test_root_and_determinant_follow_rows_and_columns(power, seed, moves):
    lam, rng = 10.0**power, np.random.default_rng(seed)
    root, gram = InverseRoot(lam), np.empty((0, 0))
    for move in moves:
        m = len(gram)
        if move == "rows":
            rows = rng.standard_normal((2, m))
            gram = gram + rows.T @ rows
            falls = root.add_rows(rows) if m else None
        else:
            old = np.linalg.cholesky(gram + 1e-3 * np.eye(m))
            factor = np.concatenate([old, rng.uniform(size=(2, m))])
            grown = factor @ factor.T + np.diag(np.r_[np.zeros(m), 1.0, 1.0])
            grown[:m, :m] = gram
            root.add_columns(grown[:m, m:], grown[m:, m:])
            gram = grown
            falls = None
        if not root.is_accurate(gram):
            root.compute(gram)
    V = gram + lam * np.eye(len(gram))
    condition = np.linalg.cond(V) if len(V) else 1.0
    F = root.matrix
    np.testing.assert_allclose(V @ F @ F.T, np.eye(len(V)), atol=1e-7 + 1e3 * EPS * condition)
    expected = np.linalg.slogdet(V / lam)[1] if len(V) else 0.0
    assert root.log_det == pytest.approx(expected, abs=1e-7 + 1e3 * EPS * condition)
    assert falls is None or falls.shape == (2, len(gram))


def test_falls_say_what_quadratic_forms_lose():
    rng = np.random.default_rng(0)
    root = InverseRoot(0.5)
    root.compute(np.diag([1.0, 2.0, 3.0]))
    z = rng.standard_normal(3)
    before = z @ root.solve(z)
    falls = root.add_rows(rng.standard_normal((2, 3)))
    assert before - z @ root.solve(z) == pytest.approx(float(np.square(falls @ z).sum()))


def test_a_root_that_lost_its_digits_is_noticed():
    """λ = 1e-8 beside a large G: steps lose what a fresh computation keeps."""
    rng, lam = np.random.default_rng(0), 1e-8
    root, gram = InverseRoot(lam), np.zeros((5, 5))
    root.compute(gram)
    noticed = False
    for _ in range(200):
        rows = 1e3 * np.outer(rng.standard_normal(1), np.ones(5)) + rng.standard_normal((1, 5))
        gram = gram + rows.T @ rows
        root.add_rows(rows)
        F = root.matrix
        x = rng.standard_normal(5)
        off = np.linalg.norm((gram + lam * np.eye(5)) @ F @ (F.T @ x) - x) / np.linalg.norm(x)
        if not root.is_accurate(gram):
            noticed = True
            root.compute(gram)
        else:
            assert off < 1e-5
    assert noticed
