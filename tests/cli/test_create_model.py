"""What is learnt from the answers, and what is given."""

import json

import numpy as np
import polars as pl
import pytest
from commands import noregret

import noregret as nr


@pytest.fixture
def one_feature(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"name": [f"c{i}" for i in range(80)], "a": rng.random(80)})
    frame.write_csv("library.csv")
    return frame["a"].to_numpy()


def create_auto(*more, code=0):
    return noregret(
        *("create", "plates.db", "--candidates", "library.csv", "--id", "name"),
        *("--kernel", "auto", "--seed", 0, *more),
        code=code,
    )


def test_kernel_noise_and_norm_are_learnt_in_the_values_own_units(one_feature):
    create_auto()
    rng = np.random.default_rng(1)
    f = 500 + 40 * np.sin(6 * one_feature)
    with nr.Study.open("plates.db") as study:
        while study.counts()["told"] < 60:
            trials = study.ask(6)
            study.tell(trials, f[trials.ids] + rng.standard_normal(len(trials)))
        assert [event["event"] for event in study.optimizer.events].count("fit") >= 2
    best = json.loads(noregret("best", "plates.db", "--json").stdout)["best"][0]
    assert f[int(best["name"][1:])] > f.max() - 4
    assert best["lower"] < f.max() < best["upper"] + 10


def test_noise_that_is_given_stays(one_feature):
    assert json.loads(create_auto("--noise", 1.5, "--json").stdout)["noise"] == 1.5
    with nr.Study.open("plates.db") as study:
        assert study.optimizer.noise == 1.5
        assert study.settings["kernel"] == "auto"


def test_heavy_noise_is_said_by_name(one_feature):
    assert json.loads(create_auto("--noise", "heavy", "--json").stdout)["noise"] == "heavy"
    with nr.Study.open("plates.db", read_only=True) as study:
        assert study.optimizer.noise == "heavy"
    assert "Outliers are expected" in noregret("status", "plates.db").stdout
    refused = noregret("create", "b.db", "--candidates", "library.csv", "--noise", "loud", code=1)
    assert "--noise must be a number, heavy or auto" in " ".join(refused.stderr.split())


@pytest.mark.parametrize("option", ["--lengthscale", "--scale"])
def test_what_is_learnt_cannot_be_given(one_feature, option):
    assert "leave them out" in create_auto(option, 2, code=1).stderr
    noregret("status", "plates.db", code=1)
