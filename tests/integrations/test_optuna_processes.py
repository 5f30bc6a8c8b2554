"""Processes and threads that share one Optuna storage."""

import subprocess
import sys
import textwrap

import pytest

optuna = pytest.importorskip("optuna")

from optuna_table import table, value_of  # noqa: E402

import noregret as nr  # noqa: E402
from noregret.integrations.optuna import CandidateSampler, NoRegretSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
pytestmark = pytest.mark.filterwarnings("ignore")


WORKER = textwrap.dedent(
    """
    import sys, optuna, polars as pl
    from noregret.integrations.optuna import CandidateSampler
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kind, path, rows = sys.argv[1:]
    storage = f"sqlite:///{path}"
    if kind == "journal":
        backend = optuna.storages.journal.JournalFileBackend(path)
        storage = optuna.storages.JournalStorage(backend)
    sampler = CandidateSampler(pl.read_parquet(rows), seed=0)
    study = optuna.load_study(study_name="s", storage=storage, sampler=sampler)
    study.optimize(lambda trial: sampler.suggest(trial)["a"], n_trials=8)
    """
)


@pytest.mark.parametrize(
    ("kind", "processes"),
    [
        ("journal", 3),
        pytest.param("journal", 8, marks=pytest.mark.slow),
        pytest.param("sqlite", 8, marks=pytest.mark.slow),
    ],
)
def test_processes_on_one_storage_choose_no_row_twice(kind, processes, tmp_path):
    """Even with the same seed: each sees what the others are evaluating."""
    path, rows = str(tmp_path / "storage"), tmp_path / "table.parquet"
    table(2000).write_parquet(rows)
    storage = f"sqlite:///{path}"
    if kind == "journal":
        backend = optuna.storages.journal.JournalFileBackend(path)
        storage = optuna.storages.JournalStorage(backend)
    study = optuna.create_study(study_name="s", storage=storage)
    command = [sys.executable, "-W", "ignore", "-c", WORKER, kind, path, str(rows)]
    running = [subprocess.Popen(command) for _ in range(processes)]
    assert [process.wait() for process in running] == [0] * processes
    chosen = [trial.system_attrs["noregret:choice"] for trial in study.trials]
    assert len(chosen) == len(set(chosen)) == 8 * processes


class Interrupting(optuna.storages.InMemoryStorage):
    """A storage in which something happens just before the choice of a trial is written."""

    def __init__(self):
        super().__init__()
        self.before = {}

    def set_trial_system_attr(self, trial_id, key, value):
        self.before.pop(trial_id, lambda: None)()
        super().set_trial_system_attr(trial_id, key, value)


def two_samplers(**options):
    """Two studies on one storage, whose samplers make the same choices from the same trials."""
    storage, made = Interrupting(), []
    for _ in range(2):
        sampler = CandidateSampler(table(), seed=0, **options)
        study = optuna.create_study(
            storage=storage, study_name="s", sampler=sampler, load_if_exists=True
        )
        made.append((study, sampler))
    return storage, made


@pytest.mark.parametrize("finishes", [False, True])
def test_of_two_choices_at_the_same_moment_one_is_given_up(finishes):
    storage, ((study, sampler), (other, others)) = two_samplers()

    def meanwhile():
        trial = other.ask()
        row = others.suggest(trial)
        if finishes:
            other.tell(trial, value_of(row))

    storage.before[0] = meanwhile
    first = study.ask()
    sampler.suggest(first)
    assert not storage.before
    rows = [sampler.row(one) for one in study.trials]
    assert len(rows) == len(set(rows)) == 2
    # What was given up is pending for the other sampler alone.
    study.tell(first, 0.1)
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, value_of(sampler.suggest(trial)))
    rows = [sampler.row(one) for one in study.trials]
    assert len(rows) == len(set(rows)) == 14


def test_rows_of_a_batch_that_another_process_evaluates_are_not_asked_for():
    options = {"kernel": nr.Matern(0.3), "noise": 0.1}
    _, made = two_samplers(**options)
    for turn in range(24):  # each has finished some trials when the other asks
        study, sampler = made[turn // 4 % 2]
        trial = study.ask()
        study.tell(trial, value_of(sampler.suggest(trial)))
    rows = [sampler.row(trial) for trial in study.trials]
    assert len(rows) == len(set(rows)) == 24


def test_threads_share_a_sampler():
    sampler = CandidateSampler(table(), seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: value_of(sampler.suggest(trial)), n_trials=40, n_jobs=4)
    assert len({sampler.row(trial) for trial in study.trials}) == 40


def test_processes_with_one_seed_start_at_different_points():
    storage, started = optuna.storages.InMemoryStorage(), []
    for _ in range(4):
        study = optuna.create_study(
            storage=storage, study_name="s", sampler=NoRegretSampler(seed=0), load_if_exists=True
        )
        started.append(study.ask().suggest_float("x", 0, 1))
    assert len(set(started)) == 4
