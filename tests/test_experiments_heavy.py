"""The heavy-tails paper's experiments: cells against naive second computations and known facts."""

import math
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.experiments import heavy, heavy_data, heavy_robust, heavy_truncation
from noregret.problems.datasets import light_sensors, stocks
from noregret.problems.functions import LINE

ALL = [
    *heavy.EXPERIMENTS,
    *heavy_data.EXPERIMENTS,
    *heavy_truncation.EXPERIMENTS,
    *heavy_robust.EXPERIMENTS,
]


def needs(folder):
    there = Path(os.environ.get("NOREGRET_DATA", "nowhere"), folder).exists()
    return pytest.mark.skipif(not there, reason=f"NOREGRET_DATA holds no {folder} here")


STOCKS = pytest.param("stocks", marks=needs("stocks"))
SENSORS = pytest.param("sensors", marks=needs("lightsensor"))


class Record:
    """Stands in for an algorithm: plays the same arms every time and keeps what it is told."""

    def __init__(self, arms):
        self.arms, self.t, self.told = arms, 0, []

    def ask(self, n=None):
        self.t += 1
        return nr.Uniform(np.zeros((self.arms, 1)), nr.RBF(1.0), seed=self.t).ask()

    def tell(self, batch, rewards):
        self.told.append((int(batch.ids[0]), float(rewards[0])))


@pytest.fixture
def record(monkeypatch):
    """Cells play :class:`Record`; returns the calls of ``make`` and the players."""
    made = []

    def make(name, domain, kernel, **options):
        player = Record(len(domain))
        made.append((name, kernel, options, player))
        return player

    monkeypatch.setattr(heavy, "make", make)
    monkeypatch.setattr(heavy_data, "make", make)
    return made


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


@pytest.mark.parametrize("problem", ["student", "pareto", STOCKS, SENSORS])
def test_noise_is_paired_and_does_not_depend_on_the_horizon(record, problem):
    cell = heavy.regret if problem in ("student", "pareto") else heavy_data.recorded
    for name, horizon in (("nystrom", 40), ("huber", 15)):
        cell(problem, name, "practical", horizon, seed=2)
    long, short = (made[3].told for made in record)
    assert long[:15] == short


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_recorded_rewards_by_hand(record, problem):
    data = heavy_data.readings(problem)
    frame = heavy_data.recorded(problem, "tgp", "theory", 30, seed=3)
    number = {"stocks": 14, "sensors": 15}[problem]
    rows = np.random.default_rng([2019, number, 3]).integers(len(data.rewards), size=30)
    ((_, _, options, player),) = record
    for t, (arm, reward) in enumerate(player.told):
        assert reward == data.rewards[rows[t], arm]
    means = [sum(column) / len(column) for column in data.rewards.T.tolist()]
    best = max(means)
    lost = sum(best - means[arm] for arm, _ in player.told) / best
    assert frame["regret"][-1] == pytest.approx(lost)
    assert options["norm"] == pytest.approx(best)
    squares = [x * x for x in data.rewards.ravel().tolist()]
    assert options["v"] == pytest.approx(sum(squares) / len(squares))


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_the_kernel_is_the_covariance_of_normalised_readings(record, problem):
    heavy_data.recorded(problem, "nystrom", "practical", 1, seed=0)
    table = stocks().prices if problem == "stocks" else light_sensors().train
    normalised = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    expected = normalised.T @ normalised / (len(table) - 1)
    ((_, kernel, _, _),) = record
    np.testing.assert_allclose(kernel.matrix, expected, atol=1e-12)


@needs("lightsensor")
def test_quadrature_on_the_sensors_places(record):
    heavy_data.recorded("sensors", "qff", "practical", 5, seed=0)
    ((name, kernel, options, _),) = record
    assert (name, options["features"], options["nodes"]) == ("atagpucb", "qff", 16)
    assert kernel.lengthscale**2 == pytest.approx(0.1)
    places = heavy_data.readings("sensors").places
    assert places.min(axis=0).tolist() == [0.0, 0.0]
    assert places.max(axis=0).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_readings_are_not_gaussian_but_most_have_lighter_tails(problem):
    """The paper's test rejects every arm; by their excess kurtosis most are lighter-tailed."""
    found = heavy_data.facts(problem)
    assert np.all(found["pvalue"].to_numpy() < 0.01)
    assert np.median(found["kurtosis"].to_numpy()) < 0
    centred = heavy_data.readings(problem).rewards[:, 0]
    centred = centred - centred.mean()
    expected = np.mean(centred**4) / np.mean(centred**2) ** 2 - 3
    assert found["kurtosis"][0] == pytest.approx(expected)


@pytest.mark.parametrize("problem", [STOCKS, SENSORS])
def test_the_papers_bound_is_below_the_norm(problem):
    """B = max f, but f = Σ a_i k(·, x_i) has the norm √(aᵀKa), many times that."""
    data = heavy_data.readings(problem)
    f = data.rewards.mean(axis=0)
    heights = np.linalg.lstsq(data.covariance, f)[0]
    expected = np.sqrt(heights @ data.covariance @ heights) / f.max()
    assert heavy_data.facts(problem)["norm"][0] == pytest.approx(expected, rel=1e-6)
    assert expected > 5


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


def test_figures_share_their_cells():
    """Appendix E's runs on the sensors are those of Figure 1 (e), where both have them."""
    e = next(one for one in ALL if one.id == "heavy-fig1e")
    robust = next(one for one in ALL if one.id == "heavy-robust")
    keys = [{cell.key for cell in one.cells(one.settings())} for one in (e, robust)]
    shared = [cell for cell in robust.cells(robust.settings()) if cell.key in keys[0]]
    names = {cell.arguments.get("algorithm") for cell in shared}
    assert names == {"tgp", "nystrom", "huber", None}
    assert len(shared) == 3 * robust.settings()["runs"] + 1


def test_full_settings_are_the_papers():
    full = {one.id: one.settings("full") for one in ALL}
    for letter in "abc":
        assert full[f"heavy-fig1{letter}"]["runs"] == 20
        assert full[f"heavy-fig1{letter}"]["horizon"] == 20_000
    assert full["heavy-fig1d"]["runs"] == 10
    assert (full["heavy-fig1f"]["runs"], full["heavy-fig1f"]["horizon"]) == (50, 10_000)


# -- Figure 1 (f) --------------------------------------------------------------------------------


def naive_confidence(algorithm, signs, horizon, seed):
    """GP-UCB and truncation by the formulas, all matrices from scratch; starts where ours did."""
    f = heavy_truncation.function()
    rng = np.random.default_rng([2019, 16, seed])
    place = int(rng.integers(100))
    jumps = rng.choice([-10.0, 10.0], size=horizon)
    if signs == "run":
        jumps[:] = jumps[0]
    x = LINE.points[:, 0]
    K = np.exp(-np.square(x[:, None] - x) / (2 * 0.2**2))
    options = {"lam": 1.0, "seed": seed}
    ids = [int(nr.GPUCB(LINE, nr.RBF(0.2), **options).ask().ids[0])]
    y = []
    for t in range(1, horizon + 1):
        reward = f[ids[-1]] + jumps[t - 1] * (ids[-1] == place)
        if algorithm == "tgpucb" and abs(reward) > t**0.25:
            reward = 0.0
        y.append(reward)
        inverse = np.linalg.inv(K[np.ix_(ids, ids)] + np.eye(t))
        mean = K[:, ids] @ inverse @ np.array(y)
        variance = 1.0 - np.einsum("ij,jk,ik->i", K[:, ids], inverse, K[:, ids])
        ids.append(int(np.argmax(mean + math.log(t + 1) * np.sqrt(variance))))
    return mean, np.sqrt(variance)


#: a run that soon meets its noisy point, and +10 there
MET = 2


@pytest.mark.parametrize("algorithm", ["gpucb", "tgpucb"])
@pytest.mark.parametrize("signs", ["run", "round"])
def test_confidence_sets_by_the_formulas(algorithm, signs):
    frame = heavy_truncation.confidence(algorithm, signs, 60, MET)
    assert frame["hits"][0] > 0
    mean, std = naive_confidence(algorithm, signs, 60, MET)
    np.testing.assert_allclose(frame["mean"], mean, atol=1e-6)
    np.testing.assert_allclose(frame["std"], std, atol=1e-6)


def test_the_function_fills_the_unit_interval():
    f = heavy_truncation.function()
    assert (f.min(), f.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(f, heavy_truncation.function())


def test_truncation_saves_the_confidence_sets():
    """A constant +10 at the noisy point ruins GP-UCB's mean and leaves the truncated one alone."""
    found = {a: heavy_truncation.confidence(a, "run", 150, MET) for a in ("gpucb", "tgpucb")}
    errors = {a: np.abs(one["mean"] - one["f"]).max() for a, one in found.items()}
    assert errors["gpucb"] > 1.0
    assert errors["tgpucb"] < 0.2


def test_averaged_confidence_sets_by_hand():
    (one,) = heavy_truncation.EXPERIMENTS
    small = {**one.settings("quick"), "horizon": 20, "runs": 2}
    cells = one.cells(small)
    assert len(cells) == 2 * 2 * 2
    table = pl.concat([cell.compute() for cell in cells])
    found = one.measure(table, small)
    part = table.filter((pl.col("algorithm") == "gpucb") & (pl.col("signs") == "run"))
    means = part["mean"].to_numpy().reshape(2, 100).mean(axis=0)
    stds = part["std"].to_numpy().reshape(2, 100).mean(axis=0)
    off = np.abs(means - heavy_truncation.function())
    assert found["error"]["run"]["gpucb"] == pytest.approx(off.max())
    assert found["inside"]["run"]["gpucb"] == pytest.approx(100 * np.mean(off <= stds))
