"""The Optuna samplers: Optuna's own conformance classes, tables, storages, processes."""

import pickle
import runpy
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")
pl = pytest.importorskip("polars")
try:
    from optuna.testing import pytest_samplers as samplers
except ImportError:  # Optuna 4 has no such classes
    samplers = None

from optuna_table import table, value_of  # noqa: E402

import noregret as nr  # noqa: E402
from noregret.integrations.optuna import CandidateSampler, NoRegretSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
pytestmark = pytest.mark.filterwarnings("ignore")


if samplers is not None:

    class TestNoRegretSampler(
        samplers.BasicSamplerTestCase,
        samplers.RelativeSamplerTestCase,
        samplers.SingleOnlySamplerTestCase,
    ):
        @pytest.fixture
        def sampler(self):
            return lambda: NoRegretSampler(seed=0)

    class TestCandidateSampler(
        samplers.BasicSamplerTestCase,
        samplers.RelativeSamplerTestCase,
        samplers.SingleOnlySamplerTestCase,
    ):
        @pytest.fixture
        def sampler(self):
            return lambda: CandidateSampler(table(), seed=0)


def test_a_mixed_space_is_optimised():
    def objective(trial):
        x = trial.suggest_float("x", -1, 1)
        n = trial.suggest_int("n", 1, 100, log=True)
        s = trial.suggest_float("s", 0, 1, step=0.25)
        c = trial.suggest_categorical("c", ["good", "bad", None])
        trial.suggest_float("fixed", 2.0, 2.0)
        return (x - 0.3) ** 2 + np.log(n / 10) ** 2 / 4 + (s - 0.5) ** 2 + (c != "good")

    study = optuna.create_study(sampler=NoRegretSampler(seed=0))
    study.optimize(objective, n_trials=45)
    found = study.sampler.recommend(study)
    assert found.params["c"] == "good"
    assert found.params["s"] in (0.25, 0.5, 0.75)
    assert found.params["fixed"] == 2.0
    assert found.lower <= found.value <= found.upper
    assert found.value < 0.2
    assert found.trials >= 1


def test_the_direction_is_that_of_the_study():
    def objective(trial):
        return -((trial.suggest_float("x", 0, 1) - 0.7) ** 2)

    study = optuna.create_study(direction="maximize", sampler=NoRegretSampler(seed=0))
    study.optimize(objective, n_trials=20)
    found = study.sampler.recommend(study)
    assert abs(found.params["x"] - 0.7) < 0.1
    assert found.lower <= found.value <= found.upper


def test_the_recommendation_is_not_the_luckiest_trial():
    rng = np.random.default_rng(0)

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        return (x - 0.5) ** 2 + 0.3 * rng.standard_normal()

    study = optuna.create_study(sampler=NoRegretSampler(seed=0))
    study.optimize(objective, n_trials=60)
    assert study.best_value < -0.2  # luck
    assert study.sampler.recommend(study).value > study.best_value


def test_constraints_keep_away_from_what_is_not_allowed():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        trial.set_constraint("left", x - 0.5)  # feasible up to 0.5
        return -x

    if not hasattr(optuna.trial.Trial, "set_constraint"):
        pytest.skip("Optuna 5 has constraints on trials")
    study = optuna.create_study(sampler=NoRegretSampler(seed=0))
    study.optimize(objective, n_trials=40)
    assert 0.3 < study.sampler.recommend(study).params["x"] <= 0.5


@pytest.mark.parametrize("make", [NoRegretSampler, lambda seed: CandidateSampler(table(), seed=0)])
def test_a_pickled_sampler_goes_on(make):
    """Optuna's manual says to pickle a sampler with a study."""

    def objective(trial):
        if isinstance(trial.study.sampler, CandidateSampler):
            return value_of(trial.study.sampler.suggest(trial))
        return trial.suggest_float("x", 0, 1)

    study = optuna.create_study(sampler=make(seed=0))
    study.optimize(objective, n_trials=10)
    again = pickle.loads(pickle.dumps(study))
    again.optimize(objective, n_trials=10)
    assert len(again.trials) == 20
    if isinstance(again.sampler, CandidateSampler):
        assert len({again.sampler.row(trial) for trial in again.trials}) == 20


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="empty"):
        CandidateSampler({"x": []})
    with pytest.raises(TypeError, match="table must be a pandas or polars frame"):
        CandidateSampler([[1.0, 2.0]])
    with pytest.raises(TypeError, match="TrustRegionUCB has no setting 'widht'"):
        NoRegretSampler(widht=2.0)
    with pytest.raises(ValueError, match="noise must not be negative, got -1"):
        NoRegretSampler(noise=-1)
    with pytest.raises((TypeError, ValueError), match="kernel"):
        NoRegretSampler(kernel="no such kernel")
    with pytest.raises(ValueError, match="lengthscale has 3 entries but points have 1"):
        CandidateSampler({"x": [1.0, 2.0]}, kernel=nr.RBF([1.0, 2.0, 3.0]))
    NoRegretSampler(kernel=nr.RBF([1.0, 2.0, 3.0]))  # the space may have three parameters
    with pytest.raises(TypeError, match="numbers or words in their columns; 'x' holds lists"):
        CandidateSampler(pl.DataFrame({"x": [[1.0], [2.0]]}))
    with pytest.raises(TypeError, match="BBKB has no setting 'repeat'"):
        CandidateSampler({"x": [1.0, 2.0]}, repeat=2)
    with pytest.raises(ValueError, match="repeats must be at least 1, got 0"):
        CandidateSampler({"x": [1.0, 2.0]}, repeats=0)
    with pytest.raises(ValueError, match=r"table must have columns of one length, got .*'y': 1"):
        CandidateSampler({"x": [1.0, 2.0], "y": [1.0]})
    with pytest.raises(TypeError, match="seed must be None or a whole number of at least 0, got"):
        NoRegretSampler(seed="0")
    study = optuna.create_study(sampler=NoRegretSampler())
    with pytest.raises(ValueError, match="finished trials"):
        study.sampler.recommend(study)


def test_the_optunahub_package_is_ready(monkeypatch):
    package = Path(__file__).parents[2] / "integrations/optunahub/package/samplers/noregret"
    files = {"README.md", "LICENSE", "__init__.py", "example.py", "requirements.txt"}
    assert files == {p.name for p in package.iterdir()}
    yaml = pytest.importorskip("yaml")
    header = yaml.safe_load((package / "README.md").read_text(encoding="utf-8").split("---")[1])
    # What the registry checks: these keys, texts and lists of texts, and this licence.
    assert header["license"] == "MIT License"
    assert all(isinstance(header[key], str) for key in ("author", "title", "description"))
    assert all(isinstance(one, str) for one in header["tags"] + header["optuna_versions"])
    assert "sampler" in header["tags"]
    # The example runs on the module that OptunaHub would load.
    hub = types.ModuleType("optunahub")
    hub.load_module = lambda name: SimpleNamespace(**runpy.run_path(str(package / "__init__.py")))
    monkeypatch.setitem(sys.modules, "optunahub", hub)
    runpy.run_path(str(package / "example.py"))
