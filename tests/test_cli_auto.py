"""``noregret create --kernel auto``: settings learnt from the answers."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import noregret as nr
from noregret.cli.main import app


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"name": [f"c{i}" for i in range(80)], "a": rng.random(80)})
    frame.write_csv("library.csv")
    return frame["a"].to_numpy()


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def create(*more):
    return run(
        *("create", "plates.db", "--candidates", "library.csv", "--id", "name"),
        *("--kernel", "auto", "--seed", 0, *more),
    )


def test_kernel_noise_and_norm_are_learnt_in_the_values_own_units(library):
    assert create().exit_code == 0
    rng = np.random.default_rng(1)
    f = 500 + 40 * np.sin(6 * library)
    with nr.Study.open("plates.db") as study:
        while study.counts()["told"] < 60:
            trials = study.ask(6)
            study.tell(trials, f[trials.ids] + rng.standard_normal(len(trials)))
        assert [event["event"] for event in study.view().events].count("fit") >= 2
    best = json.loads(run("best", "plates.db", "--json").stdout)["best"][0]
    assert f[int(best["name"][1:])] > f.max() - 4
    assert best["lower"] < f.max() < best["upper"] + 10


@pytest.mark.parametrize("option", ["--lengthscale", "--scale"])
def test_what_is_learnt_cannot_be_given(library, option):
    answer = create(option, 2)
    assert answer.exit_code == 1
    assert "leave them out" in answer.stderr
    assert run("status", "plates.db").exit_code == 1


def test_noise_that_is_given_stays(library):
    assert json.loads(create("--noise", 1.5, "--json").stdout)["noise"] == 1.5
    with nr.Study.open("plates.db") as study:
        assert study.view().noise == 1.5
        assert study.settings["kernel"] == "auto"
