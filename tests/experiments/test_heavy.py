"""The heavy-tails paper's Figure 1 (a) to (c): rewards and regret by hand, numbers of a table."""

import math

import numpy as np
import polars as pl
import pytest

from noregret.experiments import heavy
from noregret.experiments.registry import experiments
from noregret.problems.kernel_sums import LINE


def naive_function(number, kernel, low, seed):
    """f by a double loop from the same draws, and the generator that has made them."""
    rng = np.random.default_rng([2019, number, seed])
    centres = LINE.points[rng.integers(100, size=100), 0]
    heights = rng.uniform(low, 1.0, 100)
    f = np.array(
        [sum(a * kernel(abs(x - c)) for a, c in zip(heights, centres, strict=True))
         for x in LINE.points[:, 0]]
    )  # fmt: skip
    return f / np.abs(f).max(), rng


def squared_exponential(r):
    return math.exp(-(r**2) / (2 * 0.2**2))


def matern(r):
    s = math.sqrt(5.0) * r / 0.2
    return (1 + s + s**2 / 3) * math.exp(-s)


@pytest.mark.parametrize(
    ("problem", "number", "kernel"),
    [("student", 11, squared_exponential), ("matern", 13, matern)],
)
def test_student_rewards_and_regret_by_hand(record, problem, number, kernel):
    frame = heavy.regret(problem, "tgp", "practical", 60, seed=4)
    f, rng = naive_function(number, kernel, -1.0, 4)
    errors = rng.standard_t(3.0, 60)
    ((_, _, options, player),) = record
    ids, rewards = map(np.array, zip(*player.told, strict=True))
    np.testing.assert_allclose(rewards, f[ids] + errors, atol=1e-9)
    np.testing.assert_allclose(frame["regret"], np.cumsum(f.max() - f[ids]), atol=1e-9)
    assert frame["uniform"][0] == pytest.approx(f.max() - f.mean())
    assert (options["alpha"], options["v"], options["norm"]) == (1.0, 4.0, 1.0)


def test_pareto_rewards_have_scale_half_f(record):
    heavy.regret("pareto", "nystrom", "practical", 50, seed=1)
    f, rng = naive_function(12, squared_exponential, 0.0, 1)
    factors = 1.0 + rng.pareto(2.0, 50)
    ((_, _, options, player),) = record
    ids, rewards = map(np.array, zip(*player.told, strict=True))
    np.testing.assert_allclose(rewards, 0.5 * f[ids] * factors, atol=1e-9)
    assert np.all(rewards >= 0.5 * f[ids] - 1e-12)
    # E y^1.9 of Pareto with shape 2 and scale 1/2 is 2 · (1/2)^1.9 / (2 − 1.9).
    assert options["v"] == pytest.approx(2 * 0.5**1.9 / 0.1)


@pytest.mark.parametrize("problem", ["student", "pareto"])
def test_noise_is_paired_and_does_not_depend_on_the_horizon(record, problem):
    for name, horizon in (("nystrom", 40), ("huber", 15)):
        heavy.regret(problem, name, "practical", horizon, seed=2)
    long, short = (made[3].told for made in record)
    assert long[:15] == short


def made_up():
    """Three runs of two algorithms with regret t·level, after half of the horizon t·level/2."""
    rows = [
        {"problem": "p", "algorithm": name, "width": "practical", "horizon": 60, "seed": seed,
         "t": t, "regret": level * min(t, 30) + level / 2 * max(t - 30, 0), "seconds": 2.0,
         "uniform": 0.5}
        for name, levels in (("tgp", (1.0, 2.0, 3.0)), ("nystrom", (0.5, 1.0, 4.0)))
        for seed, level in enumerate(levels)
        for t in range(1, 61)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_numbers_of_a_made_up_table():
    found = heavy.measure_regret(made_up().sample(fraction=1.0, shuffle=True, seed=0), {})
    tgp, nystrom = found["rows"]
    assert tgp["algorithm"] == "TGP-UCB"
    assert tgp["R_T / T"] == pytest.approx(0.75 * 2.0)
    assert tgp["deviation over runs"] == pytest.approx(0.75)
    assert tgp["95 % interval ±"] == pytest.approx(4.302653 * 0.75 / math.sqrt(3), rel=1e-6)
    assert tgp["average regret, last quarter"] == pytest.approx(1.0)
    assert nystrom["R_T / T"] == pytest.approx(0.75 * 5.5 / 3)
    # Run by run ATA-GP-UCB is ahead by 0.75 · (0.5, 1, −1).
    pair = found["ahead"]["practical"]["nystrom_tgp"]
    assert (pair["runs"], pair["of"]) == (2, 3)
    assert pair["by"] == pytest.approx(0.125)
    assert pair["half"] == pytest.approx(4.302653 * 0.75 * np.std([0.5, 1, -1], ddof=1) / 3**0.5)
    assert list(found["ahead"]) == ["practical"]
    assert found["average"]["practical"]["tgp"] == tgp["R_T / T"]


def test_marks_hold_three_quarters_and_the_end():
    for horizon in (1, 7, 60, 4000, 20_000):
        marks = heavy.marks(horizon)
        assert marks[0] >= 1
        assert marks[-1] == horizon
        assert len(marks) <= 60
        assert np.all(np.diff(marks) > 0)
    assert 15_000 in heavy.marks(20_000)


def test_full_settings_are_the_papers():
    full = {one.id: one.settings("full") for one in experiments().values()}
    for letter in "abc":
        assert full[f"heavy-fig1{letter}"]["runs"] == 20
        assert full[f"heavy-fig1{letter}"]["horizon"] == 20_000
    assert full["heavy-fig1d"]["runs"] == 10
    assert (full["heavy-fig1f"]["runs"], full["heavy-fig1f"]["horizon"]) == (50, 10_000)
