import json
from pathlib import Path

import pytest
from commands import noregret

from noregret.experiments.experiment import Files
from noregret.experiments.registry import experiments


def test_list_names_every_experiment():
    shown = noregret("reproduce", "--list").stdout
    assert all(id_ in shown for id_ in experiments())


def test_list_for_scripts():
    listed = json.loads(noregret("reproduce", "--list", "--json").stdout)
    assert [one["id"] for one in listed] == list(experiments())


def test_runs_and_names_the_files(tmp_path):
    answer = noregret(
        *("reproduce", "bkb-fig1", "--quick", "--runs", 2, "--jobs", 1),
        *("--out", tmp_path, "--json"),
    )
    written = [Path(name) for name in json.loads(answer.stdout)["bkb-fig1"]]
    assert {path.suffix for path in written} == {".png", ".parquet", ".json"}
    assert all(path.exists() for path in written)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing"], "ID must be one of"),
        ([], "--list"),
        (["bkb-fig1", "--quick", "--full"], "exclude"),
        (["ts-fig1", "--runs", "2"], "no runs"),
    ],
)
def test_wrong_use_is_refused(arguments, says):
    assert says in noregret("reproduce", *arguments, code=1).stderr


def test_all_takes_runs_where_there_are_any(tmp_path, monkeypatch):
    given = {}

    def run(experiment, out, *, runs, **others):
        given[experiment.id] = runs
        return Files(out, out, ())

    monkeypatch.setattr("noregret.experiments.experiment.reproduce", run)
    noregret("reproduce", "--all", "--runs", 2, "--out", tmp_path)
    assert given == {id_: 2 if one.repeated else None for id_, one in experiments().items()}
