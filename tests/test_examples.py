"""Every example runs, and finds what it looks for."""

import importlib.util
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import noregret as nr
from noregret.cli.main import app

FOLDER = Path(__file__).parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def this_package(monkeypatch):
    """Commands that an example starts use the package under test."""
    monkeypatch.setenv("PYTHONPATH", str(Path(nr.__file__).parents[1]))
    monkeypatch.setitem(os.environ, "NOREGRET_THREADS", "1")


@pytest.fixture
def here(monkeypatch):
    """Runs the commands of an example in this process."""

    def run(*arguments):
        done = CliRunner().invoke(app, [str(one) for one in arguments])
        assert done.exit_code == 0, done.output

    def load_here(name):
        example = load(name)
        monkeypatch.setattr(example, "noregret", run)
        return example

    return load_here


def test_strings(tmp_path):
    strings = load("strings")
    best = strings.main(tmp_path, budget=60, size=300)
    assert strings.binding(best.point) >= 5 / 7  # a strand at random: 1/4


def test_laboratory(tmp_path, here):
    best = here("laboratory").main(tmp_path, plates=2)
    assert best.mean > 5  # of 10; a compound at random: 0.7
    with nr.Study.open(tmp_path / "plates.db", read_only=True) as study:
        assert study.counts() == {"pending": 0, "told": 46, "failed": 2, "history": 0}


def test_library_demo(tmp_path, here):
    here("library_demo").main(tmp_path, size=1000, budget=48)
    with nr.Study.open(tmp_path / "plates.db", read_only=True) as study:
        assert study.counts()["told"] == 48
        assert study.best().mean > 40  # of 85; a recipe at random: 9
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_sqlite_tuning(tmp_path):
    best, usual, found = load("sqlite_tuning").main(tmp_path, budget=30)
    assert best[3] > 1  # more than a row per transaction, on any disk
    assert 0 < found < usual


@pytest.mark.slow
def test_dask_run(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is an extra: noregret[dask]")
    monkeypatch.syspath_prepend(FOLDER)  # workers import the function by its module
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.environ["PYTHONPATH"], str(FOLDER)]))
    import dask_run

    assert dask_run.main(tmp_path, budget=60).mean > 0.4
