import json

import numpy as np
import polars as pl
import pytest
from commands import library, noregret

import noregret as nr


@pytest.mark.parametrize("column", ["value", "trial", "failed", "Value"])
def test_columns_that_collide_with_ours_are_refused(tmp_path, monkeypatch, column):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text(f"name,a,{column}\nx,1,2\ny,3,4\n")
    said = noregret("create", "a.db", "--candidates", "lib.csv", code=1).stderr
    assert f"column '{column}' has a name that the files of ask and tell use" in said
    assert "--features" in said
    assert not (tmp_path / "a.db").exists()
    noregret("create", "a.db", "--candidates", "lib.csv", "--features", "a")
    if column == "value":
        noregret("create", "b.db", "--candidates", "lib.csv", "--value-column", "yield")


# -- settings learnt from the answers --------------------------------------------------------


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
    refused = noregret("create", "b.db", "--candidates", "library.csv", "--noise", "loud", code=1)
    assert "--noise must be a number, heavy or auto" in " ".join(refused.stderr.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--features a,q", "has no column 'q'"),
        ("--id nobody", "has no column 'nobody'"),
        ("--id solvent", "the same name"),
        ("--algorithm magic", "bbkb"),
        ("--lengthscale -1", "lengthscale"),
        ("--bits 64", "--fingerprint and --bits are for molecules"),
        ("--width wide", "width must be one of"),
    ],
)
def test_bad_options_of_create_are_refused_in_words(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    library("library.csv", 20)
    result = noregret("create", "a.db", "--candidates", "library.csv", *options.split(), code=1)
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize("option", ["--lengthscale", "--scale"])
def test_what_is_learnt_cannot_be_given(one_feature, option):
    assert "leave them out" in create_auto(option, 2, code=1).stderr
    noregret("status", "plates.db", code=1)
