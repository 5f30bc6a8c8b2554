"""Experiments are run, interrupted and go on to the same numbers."""

import json
from pathlib import Path

import polars as pl
import pytest
from small_experiment import small

from noregret.experiments.experiment import reproduce
from noregret.experiments.tasks import Task


def numbers(path: Path) -> pl.DataFrame:
    """A result without what is measured by the clock."""
    table = pl.read_parquet(path)
    return table.drop(name for name in table.columns if "seconds" in name)


def test_writes_picture_table_and_summary(tmp_path):
    files = reproduce(small(), tmp_path)
    assert [path.name for path in files.pictures] == ["small.png"]
    assert files.pictures[0].read_bytes().startswith(b"\x89PNG")
    assert len(pl.read_parquet(files.table)) == 4 * 2 * 3
    summary = json.loads(files.summary.read_text())
    assert summary["settings"] == {"runs": 4}
    assert summary["paper_settings"] == {"runs": 9}
    assert summary["seeds"] == [0, 1, 2, 3]
    assert summary["measured"]["count"] == 24
    assert summary["measured"]["nothing"] is None
    assert summary["versions"]["noregret"]


def test_an_interrupted_run_goes_on_to_the_same_numbers(tmp_path):
    whole = reproduce(small(), tmp_path / "whole")
    left = 3

    def interrupt(task: Task) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(small(), tmp_path / "parts", finished=interrupt)
    assert len(list((tmp_path / "parts" / "cells").glob("*/*.parquet"))) == 3
    begun: list[Task] = []
    resumed = reproduce(small(), tmp_path / "parts", started=begun.append)
    assert len(begun) == 8 - 3
    assert numbers(resumed.table).equals(numbers(whole.table))


def test_interrupting_workers_loses_nothing_that_is_done(tmp_path):
    def interrupt(task: Task) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(small(), tmp_path / "parts", jobs=2, finished=interrupt)
    resumed = reproduce(small(), tmp_path / "parts")
    whole = reproduce(small(), tmp_path / "whole")
    assert numbers(resumed.table).equals(numbers(whole.table))


def test_more_runs_use_the_runs_there_are(tmp_path):
    reproduce(small(), tmp_path, runs=2)
    begun: list[Task] = []
    reproduce(small(), tmp_path, runs=3, started=begun.append)
    assert {task.arguments["seed"] for task in begun} == {2}


def test_fresh_computes_all_again(tmp_path):
    reproduce(small(), tmp_path)
    begun: list[Task] = []
    reproduce(small(), tmp_path, fresh=True, started=begun.append)
    assert len(begun) == 8


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"jobs": 0}, {"size": "huge"}])
def test_wrong_settings_are_refused_by_name(tmp_path, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        reproduce(small(), tmp_path, **wrong)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    begun: list[Task] = []
    with pytest.raises(ValueError, match="out must be a folder"):
        reproduce(small(), tmp_path / "file", started=begun.append)
    assert not begun


def test_without_matplotlib_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    begun: list[Task] = []
    with pytest.raises(ValueError, match="Matplotlib"):
        reproduce(small(), tmp_path, started=begun.append)
    assert not begun
