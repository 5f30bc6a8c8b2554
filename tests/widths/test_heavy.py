"""Levels and widths against numbers worked by hand."""

import math

import pytest

from noregret.widths import heavy as w


def test_tgp_by_hand():
    # α = 1, v = 4, t = 81: b = 2·3 = 6.
    assert w.tgp_level(1.0, 4.0, 81) == pytest.approx(6.0)
    # α = 1/2, v = 8, t = 64: b = 8^(2/3)·64^(1/3) = 4·4.
    assert w.tgp_level(0.5, 8.0, 64) == pytest.approx(16.0)
    # B = 2, λ = 4, log det = 7, δ = e⁻¹: 2·2 + 3·6·√(7 + 2).
    width = w.tgp(1.0, 4.0, norm=2.0, lam=4.0, delta=math.exp(-1), log_det=7.0, t=81)
    assert width == pytest.approx(4.0 + 54.0)
    practical = w.tgp_practical(1.0, 4.0, norm=2.0, lam=4.0, t=81)
    assert practical == pytest.approx(4.0 + 6.0 * math.sqrt(math.log(81)))


def test_tgp_for_large_delta_keeps_the_step_that_holds():
    """With x = ½ log det + log 1/δ < 1 the proof gives √2(1 + 2√x), more than 3√2·√x."""
    width = w.tgp(1.0, 1.0, norm=1.0, lam=1.0, delta=0.9, log_det=0.0, t=1)
    x = math.log(1 / 0.9)
    assert width == pytest.approx(1.0 + math.sqrt(2) * (1 + 2 * math.sqrt(x)))


def test_ata_by_hand():
    # α = 1, v = 9, L = 4: b = √(9/4) whatever t is; width 2·3 + 4·√25·3·2.
    assert w.ata_level(1.0, 9.0, 7, log=4.0) == pytest.approx(1.5)
    width = w.ata(1.0, 9.0, norm=3.0, lam=4.0, features=25, t=7, log=4.0)
    assert width == pytest.approx(6.0 + 4 * 5 * 3 * 2)
    # α = 1/2, v = 8, L = 8, t = 64: b = 1·64^(1/6) = 2, L·b = 16.
    assert w.ata_level(0.5, 8.0, 64, log=8.0) == pytest.approx(2.0)
    practical = w.ata(0.5, 8.0, norm=1.0, lam=1.0, features=9, t=64, log=8.0, factor=1.0)
    assert practical == pytest.approx(1.0 + 3 * 16)
    assert w.ata_log(10, 500, 0.1) == pytest.approx(math.log(100_000))
    assert w.ata_log(10, 500, 0.1, union=4) == pytest.approx(math.log(200_000))
    assert w.ata_practical_log(9, 500) == pytest.approx(math.log(5000))


def test_nystrom_by_hand():
    assert w.nystrom_bias(0.75) == pytest.approx(3.0)
    # ρ = 3 at ε = 1/2: 6·3·log(400)/0.25.
    assert w.nystrom_q(0.5, 10, 0.1) == pytest.approx(72 * math.log(400))


def test_robust_ucb_by_hand():
    # α = 1, v = 4, t = e²: 4·2·√4.
    assert w.robust_ucb(1.0, 4.0, 100) == pytest.approx(8 * math.sqrt(2 * math.log(100)))


def test_before_the_first_evaluation_only_the_bias_counts():
    assert w.tgp(1.0, 4.0, 2.0, 4.0, 0.1, log_det=0.0, t=0) == 4.0
    assert w.tgp_practical(1.0, 4.0, 2.0, 4.0, t=0) == 4.0
    assert w.ata(1.0, 4.0, 2.0, 4.0, features=64, t=0, log=9.0) == 4.0


def test_horizons_double_and_deltas_halve():
    given, unknown = w.Horizon(10), w.Horizon(None)
    assert [given.after(t) for t in (0, 10, 11, 20, 21, 41)] == [10, 10, 20, 20, 40, 80]
    assert [given.delta(0.1, t) for t in (10, 11, 41)] == [0.1, 0.05, 0.0125]
    assert (unknown.after(1024), unknown.after(1025)) == (1024, 2048)
    assert unknown.delta(0.1, 5) == 0.05


def test_levels_of_many_times():
    levels = [w.tgp_level(0.5, 8.0, t) for t in (1, 7, 64)]
    assert w.tgp_levels(0.5, 8.0, [1, 7, 64]).tolist() == levels
