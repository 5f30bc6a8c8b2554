import json

import numpy as np
import polars as pl
import pytest
from commands import library, noregret

import noregret as nr


def test_create_says_what_it_does_and_refuses_gaps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = library("library.csv", 50)
    made = noregret(
        *("create", "a.db", "--candidates", "library.csv"),
        *("--features", "a,b,solvent", "--minimize"),
    )
    said = " ".join(made.stderr.split())
    assert "one-hot over 2 categories" in said
    assert "standardised" in said
    assert "median distance" in said
    with nr.Study.open("a.db", read_only=True) as study:
        points = study.domain.points
        assert points.shape == (50, 4)
        assert points[:, :2].mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
        assert points[:, :2].std(axis=0) == pytest.approx([1, 1])
        assert (points[:, 2:].sum(axis=1) == 1).all()
        assert study.table["b"].to_list() == frame["b"].to_list()
        assert study.settings["direction"] == "minimize"
    gaps = frame.with_columns(
        pl.when(pl.col("a") < 0.1).then(None).otherwise(pl.col("a")).alias("a")
    )
    rows = [i + 1 for i, a in enumerate(gaps["a"]) if a is None]
    gaps.write_parquet("gaps.parquet")
    result = noregret("create", "b.db", "--candidates", "gaps.parquet", code=1)
    said = " ".join(result.stderr.split())
    assert f"rows {', '.join(map(str, rows))}, counted from 1" in said
    assert "--drop-missing" in said
    assert not (tmp_path / "b.db").exists()
    noregret("create", "b.db", "--candidates", "gaps.parquet", "--drop-missing", "--id", "compound")
    with nr.Study.open("b.db", read_only=True) as study:
        assert len(study.domain) == 50 - len(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--features a,q", "there is no column q"),
        ("--id nobody", "there is no column 'nobody'"),
        ("--id solvent", "share a name"),
        ("--algorithm magic", "bbkb"),
        ("--lengthscale -1", "lengthscale"),
        ("--width wide", "width must be one of"),
    ],
)
def test_create_refuses(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    library("library.csv", 20)
    result = noregret("create", "a.db", "--candidates", "library.csv", *options.split(), code=1)
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "a.db").exists()


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


@pytest.mark.parametrize("option", ["--lengthscale", "--scale"])
def test_what_is_learnt_cannot_be_given(one_feature, option):
    assert "leave them out" in create_auto(option, 2, code=1).stderr
    noregret("status", "plates.db", code=1)


def test_noise_that_is_given_stays(one_feature):
    assert json.loads(create_auto("--noise", 1.5, "--json").stdout)["noise"] == 1.5
    with nr.Study.open("plates.db") as study:
        assert study.optimizer.noise == 1.5
        assert study.settings["kernel"] == "auto"
