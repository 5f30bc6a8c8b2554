"""What was measured of the choices that are recommended."""

import math
import statistics

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.reporting.measured import measured, recommended

X = np.random.default_rng(0).uniform(size=(8, 2))
#: evaluations by candidate
REWARDS = {2: [1.0, 3.0, 8.0], 5: [0.5], 7: [-1.0, -2.0]}


def told(domain):
    opt = nr.GPUCB(domain, nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
    for id_, rewards in REWARDS.items():
        where = [id_] if opt.domain.size else X[[id_]]
        for reward in rewards:
            opt.tell(where, [reward])
    return opt


@pytest.mark.parametrize("domain", [X, nr.Box([(0, 1)] * 2)], ids=["list", "box"])
def test_how_often_and_what_was_measured_of_each_choice(domain):
    opt = told(domain)
    choices = opt.top(3)
    for one, found in zip(choices, measured(opt, choices), strict=True):
        id_ = int(np.flatnonzero((one.point == X).all(axis=1))[0])
        rewards = REWARDS[id_]
        assert found.count == len(rewards)
        assert found.mean == pytest.approx(statistics.fmean(rewards))
        assert found.median == statistics.median(rewards)
        if len(rewards) > 1:
            assert found.deviation == pytest.approx(statistics.stdev(rewards))
        else:
            assert math.isnan(found.deviation)


def test_a_choice_that_was_never_measured():
    opt = nr.GPUCB(X, nr.RBF(0.3), seed=0)
    (found,) = measured(opt, opt.top(1))
    assert found.count == 0
    assert all(math.isnan(one) for one in (found.mean, found.median, found.deviation))


def test_measured_values_stand_before_the_features(path):
    frame = pl.DataFrame({"heat": X[:, 0], "time": X[:, 1]})
    shown = {"names": [f"c{i}" for i in range(8)], "table": frame, "direction": "minimize"}
    with nr.Study.create(path, X, "gpucb", kernel=nr.RBF(0.3), seed=0, **shown) as study:
        for id_, values in REWARDS.items():
            study.tell_history([id_] * len(values), values)
        found = recommended(study, 3)
    first = ["id", "name", "mean", "lower", "upper", "evaluations", "measured", "median"]
    assert found.columns[:8] == first
    assert found.columns[8:] == ["heat", "time"]
    for row in found.iter_rows(named=True):
        values = REWARDS[row["id"]]
        assert (row["name"], row["evaluations"]) == (f"c{row['id']}", len(values))
        assert row["measured"] == pytest.approx(statistics.fmean(values))
        assert row["median"] == pytest.approx(statistics.median(values))
