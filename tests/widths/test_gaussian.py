"""Widths against numbers worked by hand, and as the algorithms use them."""

import numpy as np
import pytest
from reference import problem, run

import noregret as nr
from noregret.widths import gaussian as widths


def test_gp_ucb_by_hand():
    # √0.25·2 + 0.1·√(2(3 + log 10)) = 1 + 0.1·√10.60517 = 1.325656
    assert widths.gp_ucb(0.1, 2.0, 0.25, 0.1, 3.0) == pytest.approx(1.325656, abs=1e-6)


def test_srinivas_by_hand():
    # 2 log(100·16·π²/0.6) = 2 log(26318.945) = 20.35613; its root is 4.511777
    assert widths.srinivas(100, 4, 0.1) == pytest.approx(4.511777, abs=1e-5)


def test_bkb_by_hand():
    # 2·0.1·√(3·log(100)·5 + log 10) + (1+√2)·√1·1 = 0.2·√71.38014 + 2.414214 = 4.103949
    assert widths.bkb(0.1, 1.0, 1.0, 0.1, 5.0, 100) == pytest.approx(4.103949, abs=1e-5)


def test_bkb_never_uses_a_step_that_fails():
    """2 log(κ²t) ≥ 1 + log(κ²t/λ + 1) fails for small t or λ."""
    for t, lam in ((1, 1.0), (3, 1.0), (2, 1e-6)):
        valid = 3 * 0.5 * (1 + np.log1p(t / lam)) * 2.0 + np.log(10)
        assert widths.bkb(1.0, 1e-9, lam, 0.1, 2.0, t) >= 2 * np.sqrt(valid) - 1e-6


def test_bbkb_and_practical_by_hand():
    # 2·0.1·√(7 + log 10) + (1+√2)·0.5·3 = 0.2·3.049998 + 3.621320 = 4.231320
    assert widths.bbkb(0.1, 3.0, 0.25, 0.1, 7.0) == pytest.approx(4.231320, abs=1e-5)
    # 0.5·3 + 0.1·√(2·7 + log 10) = 1.5 + 0.1·4.037646 = 1.903765
    assert widths.practical(0.1, 3.0, 0.25, 0.1, 2.0, 7.0) == pytest.approx(1.903765, abs=1e-6)


def test_theory_qbar_by_hand():
    # 72·2·log(4·1000/0.1) = 144·10.596635 = 1525.9154
    assert widths.bbkb_qbar(2.0, 1000, 0.1) == pytest.approx(1525.9154, abs=1e-3)


def test_a_number_is_the_width_in_deviations():
    X, f, rng = problem()
    for cls in (nr.GPUCB, nr.GPBUCB, nr.BKB, nr.BBKB):
        opt = run(cls(X, nr.RBF(0.4), lam=0.3, width=1.7, seed=0), f, 0.1, rng, 20)
        assert opt.beta == pytest.approx(1.7)
        best = opt.recommend()
        _, std = opt.predict([best.id])
        assert best.upper - best.mean == pytest.approx(1.7 * std[0])
        assert best.mean - best.lower == pytest.approx(1.7 * std[0])
