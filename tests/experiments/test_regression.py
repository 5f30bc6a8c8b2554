"""BBKB's figures on regression data: tasks against a loop by hand, and what is run with what."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.experiments import regression
from noregret.experiments.play import play
from noregret.experiments.registry import find
from noregret.experiments.tenth_ts import TenthTS
from noregret.problems.datasets import Dataset

_HORIZON, _LAM = 40, 1e-2


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """A small smooth table in place of Abalone."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 2))
    f = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    table = Dataset(X, (f - f.min()) / (f.max() - f.min()))
    monkeypatch.setitem(regression._LOADERS, "abalone", lambda: table)
    return table


def _run(algorithm: str, **changes: Any) -> pl.DataFrame:
    settings = {"horizon": _HORIZON, "lam": _LAM, "arms": 100, "seed": 5, **changes}
    return regression.run(data="abalone", algorithm=algorithm, bandwidth=2.0, **settings)


_BY_HAND: dict[str, Callable[..., nr.Optimizer]] = {
    "global": lambda *a, **o: nr.BBKB(*a, qbar=2.0, batch_rule="global", ratio=2.0, **o),
    "local": lambda *a, **o: nr.BBKB(*a, qbar=2.0, batch_rule="local", ratio=2.0, **o),
    "bkb": lambda *a, **o: nr.BKB(*a, qbar=2.0, **o),
    "gpucb": nr.GPUCB,
    "gpbucb": lambda *a, **o: nr.GPBUCB(*a, ratio=2.0, batch_rule="product", **o),
    "asyncts": lambda *a, **o: TenthTS(*a, batch_size=30, **o),
    "greedy": nr.EpsilonGreedy,
}


@pytest.mark.parametrize("algorithm", _BY_HAND)
def test_a_cell_is_the_loop_by_hand(algorithm: str, data: Dataset) -> None:
    noise = 0.01 * np.random.default_rng([2020, 1, 5]).standard_normal(_HORIZON)
    opt = _BY_HAND[algorithm](
        data.X, nr.RBF(2.0), noise=0.01, norm=1.0, delta=1 / _HORIZON, lam=_LAM, seed=5,
        width="practical",
    )  # fmt: skip
    t, regret, after = 0, 0.0, {}
    while t < _HORIZON:
        batch = opt.ask()
        for id_ in batch.ids[: _HORIZON - t]:
            regret += data.f.max() - data.f[id_]
            opt.tell([id_], [data.f[id_] + noise[t]])
            t += 1
            after[t] = regret / (t * (data.f.max() - data.f.mean()))
    frame = _run(algorithm)
    np.testing.assert_allclose(frame["ratio"], [after[t] for t in frame["t"]], rtol=1e-9)


def test_every_algorithm_sees_the_same_noise_at_evaluation_t(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[nr.Optimizer] = []

    def recorded(opt: nr.Optimizer, *arguments: Any, **options: Any) -> pl.DataFrame:
        made.append(opt)
        return play(opt, *arguments, **options)

    monkeypatch.setattr(regression, "play", recorded)
    for algorithm in _BY_HAND:
        _run(algorithm)
    first, *others = (opt.history.rewards - data.f[opt.history.ids] for opt in made)
    assert first.std() == pytest.approx(0.01, rel=0.5)
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-12)
    _run("gpucb", seed=6)
    assert not np.allclose(made[-1].history.rewards - data.f[made[-1].history.ids], first)


def test_fewer_candidates_keep_their_own_optimum(data: Dataset) -> None:
    frame = _run("greedy", arms=10, horizon=400)
    assert frame["simple"][-1] == 0.0  # all ten have been tried
    assert _run("greedy", arms=80)["ratio"].to_list() == _run("greedy", arms=99)["ratio"].to_list()


def test_marks_hold_the_horizon_and_what_figure_2_needs() -> None:
    assert {500, 1000, 1500, 2000, 10_000} <= set(regression.marks(10_000).tolist())
    assert regression.marks(7).tolist() == [7]
    assert regression.marks(60)[-1] == 60


def test_bandwidths_are_those_of_table_1() -> None:
    table = {  # Abalone, California housing
        "global": (17.5, 12.5),
        "local": (17.5, 12.5),
        "bkb": (17.5, 12.5),
        "gpucb": (5.0, 12.5),
        "gpbucb": (12.5, 12.5),
        "asyncts": (10.0, 10.0),
    }
    one = find("bbkb-fig1")
    tasks = one.tasks(one.settings("full"))
    for algorithm, bandwidths in table.items():
        for data, bandwidth in zip(("abalone", "cadata"), bandwidths, strict=True):
            runs = [
                task.arguments
                for task in tasks
                if (task.arguments["algorithm"], task.arguments["data"]) == (algorithm, data)
            ]
            assert {run["bandwidth"] for run in runs} == {bandwidth}
            assert {run["seed"] for run in runs} == set(range(10))
            assert {run["horizon"] for run in runs} == {10_000}


def test_figures_share_their_runs() -> None:
    def keys(name: str) -> set[str]:
        one = find(name)
        return {task.key for task in one.tasks(one.settings("full"))}

    assert keys("bbkb-fig1") == keys("bbkb-fig2")
    # The sweeps hold every bandwidth of Table 1, for each algorithm.
    assert keys("bbkb-fig1") < keys("bbkb-fig5") | keys("bbkb-fig6")


def test_slow_algorithms_may_have_fewer_runs() -> None:
    one = find("bbkb-fig1")
    for runs in (2, 8):
        settings = {**one.settings("page", runs), "slow_runs": 4}
        seeds = {
            name: {
                task.arguments["seed"]
                for task in one.tasks(settings)
                if task.arguments["algorithm"] == name
            }
            for name in ("global", "gpucb")
        }
        assert len(seeds["global"]) == runs
        assert len(seeds["gpucb"]) == min(runs, 4)


def test_sweep_reports_means_and_the_best_bandwidth() -> None:
    ratios = {5.0: [0.4, 0.6], 10.0: [0.1, 0.3]}
    rows = [
        {"algorithm": name, "bandwidth": width, "lam": 0.01, "seed": seed, "t": t, "ratio": value}
        for name in _BY_HAND
        for width, values in ratios.items()
        for seed, value in enumerate(values)
        for t in (1, 2)
    ]
    settings = {"horizon": 2, "lams": [0.01], "bandwidths": [5.0, 10.0]}
    found = find("bbkb-fig5").measure(pl.DataFrame(rows), settings)["ratio"]["0.01"]["gpucb"]
    assert found == pytest.approx({"best": 10.0, "smallest": 0.2, "largest": 0.5})
