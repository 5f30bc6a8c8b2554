"""Confidence sets with and without truncation, by the formulas."""

import math

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.experiments import heavy_truncation
from noregret.problems.kernel_sums import LINE


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
    tasks = one.tasks(small)
    assert len(tasks) == 2 * 2 * 2
    table = pl.concat([task.compute() for task in tasks])
    found = one.measure(table, small)
    part = table.filter((pl.col("algorithm") == "gpucb") & (pl.col("signs") == "run"))
    means = part["mean"].to_numpy().reshape(2, 100).mean(axis=0)
    stds = part["std"].to_numpy().reshape(2, 100).mean(axis=0)
    off = np.abs(means - heavy_truncation.function())
    assert found["error"]["run"]["gpucb"] == pytest.approx(off.max())
    assert found["inside"]["run"]["gpucb"] == pytest.approx(100 * np.mean(off <= stds))
