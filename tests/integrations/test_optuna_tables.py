"""The Optuna sampler of tables: rows, enqueued trials, storages that are read again."""

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

from optuna_table import table, value_of  # noqa: E402

from noregret.integrations.optuna import CandidateSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
pytestmark = pytest.mark.filterwarnings("ignore")


def test_rows_of_a_table_are_asked_for_once():
    rows, sampler = table(), CandidateSampler(table(), seed=0)
    asked = []

    def objective(trial):
        row = sampler.suggest(trial)
        asked.append(sampler.row(trial))
        assert row == rows.row(asked[-1], named=True)
        return value_of(row)

    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=80)
    assert len(set(asked)) == 80
    best = min(value_of(row) for row in rows.iter_rows(named=True))
    assert sampler.recommend(study).value < best + 0.05


def test_a_table_that_is_used_up_ends_the_run():
    sampler = CandidateSampler({"x": [0.0, 0.5, 1.0]}, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: sampler.suggest(trial)["x"], n_trials=10)
    done = [t for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
    assert sorted(t.params["x"] for t in done) == [0.0, 0.5, 1.0]


def test_a_new_process_replays_the_storage(tmp_path):
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    rows = table()

    def play(trials):
        sampler = CandidateSampler(rows, seed=0)
        study = optuna.create_study(
            storage=storage, study_name="s", sampler=sampler, load_if_exists=True
        )
        study.optimize(lambda trial: value_of(sampler.suggest(trial)), n_trials=trials)
        return sampler, study

    play(15)
    sampler, study = play(15)
    asked = [sampler.row(trial) for trial in study.trials]
    assert len(set(asked)) == 30
    assert sampler.recommend(study).trials == 1


def test_one_sampler_serves_studies_one_after_the_other():
    sampler = CandidateSampler({"x": np.arange(10.0)}, seed=0)
    for _ in range(3):
        study = optuna.create_study(sampler=sampler)
        study.optimize(lambda trial: sampler.suggest(trial)["x"], n_trials=10)
        assert sorted(trial.params["x"] for trial in study.trials) == list(range(10))
        del study  # the next storage may get its place in memory


def test_enqueued_rows_are_rows():
    sampler = CandidateSampler({"x": [1.0, 2.0, 3.0], "n": [1, 2, 3]}, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.enqueue_trial({"x": 2.0, "n": 2})
    study.optimize(lambda trial: sampler.suggest(trial)["x"], n_trials=3)
    assert sampler.row(study.trials[0]) == 1
    assert sorted(sampler.row(trial) for trial in study.trials) == [0, 1, 2]


def test_values_that_are_no_row_are_refused():
    sampler = CandidateSampler({"x": [1.0, 2.0, 3.0], "n": [1, 2, 3]}, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.enqueue_trial({"x": 2.0, "n": 3})
    with pytest.raises(ValueError, match="values of a row of the table"):
        sampler.suggest(study.ask())
    other = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    with pytest.raises(ValueError, match="Make the study with this sampler"):
        sampler.suggest(other.ask())


def test_a_pandas_frame_with_categories_and_gaps():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"x": np.arange(8.0), "kind": pd.Categorical(["a", "b"] * 4), "salt": ["K", None] * 4}
    )
    sampler = CandidateSampler(frame, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: sampler.suggest(trial)["x"], n_trials=8)
    assert {trial.params["salt"] for trial in study.trials} == {"K", None}
