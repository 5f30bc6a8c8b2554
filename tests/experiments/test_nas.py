"""BBKB's figures on NAS-Bench-101: initial evaluations, rewards and modelled time, by hand."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.experiments import nas
from noregret.experiments.play import play
from noregret.experiments.registry import find
from noregret.problems.nasbench import NASBench

_ARMS, _HORIZON = 600, 80


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> NASBench:
    """A small table of networks; every reward tells which network gave it."""
    rng = np.random.default_rng(0)
    numbers = np.arange(_ARMS)
    features = ((numbers[:, None] >> np.arange(10)) & 1).astype(float)
    f = 0.7 + 0.02 * features.sum(axis=1) + 1e-5 * numbers
    repeats = f[:, None] + 1e-3 * np.array([-1.0, 0.0, 1.0])
    seconds = rng.uniform(1000.0, 5000.0, _ARMS)
    table = NASBench(features / 3.0, features, f, repeats, seconds)
    monkeypatch.setattr(nas, "_NASBENCH", lambda: table)
    return table


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[nr.Optimizer]:
    """The optimisers that tasks make."""
    found: list[nr.Optimizer] = []

    def make(*arguments: Any, **options: Any) -> nr.Optimizer:
        found.append(nr.make(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(nas, "make", make)
    return found


def _run(algorithm: str, initial: int = 0, seed: int = 1) -> Any:
    return nas.run(algorithm, initial, 5.0, _HORIZON, _ARMS, seed)


@pytest.mark.parametrize("algorithm", ["global", "local", "evolution"])
@pytest.mark.parametrize("initial", [0, 400])
def test_regret_counts_what_came_after_the_initial_evaluations(
    algorithm: str, initial: int, tasks: NASBench, made: list[nr.Optimizer]
) -> None:
    frame = _run(algorithm, initial)
    history = made[0].history
    assert len(history.ids) == initial + _HORIZON
    values = tasks.f[history.ids[initial:]]
    best, t = tasks.f.max(), frame["t"].to_numpy()
    np.testing.assert_allclose(
        frame["ratio"], np.cumsum(best - values)[t - 1] / (t * (best - tasks.f.mean()))
    )
    np.testing.assert_allclose(
        frame["simple"], best - np.maximum.accumulate(values)[t - 1], atol=1e-15
    )
    if initial:
        gap = best - tasks.f[history.ids[:initial]].max()
        assert frame["initial_gap"].to_list() == pytest.approx([gap] * len(frame))
        assert len(set(history.ids[:initial])) == initial
    else:
        assert frame["initial_gap"].null_count() == len(frame)
    # A reward is one of the three runs of the network that was asked for.
    off = np.abs(tasks.repeats[history.ids] - history.rewards[:, None])
    assert np.all(off.min(axis=1) < 1e-12)


def test_the_run_that_evaluation_t_returns_is_the_same_for_all(
    tasks: NASBench, made: list[nr.Optimizer]
) -> None:
    for algorithm in ("global", "local", "evolution"):
        _run(algorithm)
    first, *others = (opt.history.rewards - tasks.f[opt.history.ids] for opt in made)
    assert len(np.unique(first.round(6))) == 3
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-12)


def test_algorithms_start_from_the_same_evaluations(
    tasks: NASBench, made: list[nr.Optimizer]
) -> None:
    for algorithm in ("global", "evolution"):
        _run(algorithm, 400)
    np.testing.assert_array_equal(made[0].history.ids[:400], made[1].history.ids[:400])
    np.testing.assert_array_equal(made[0].history.rewards[:400], made[1].history.rewards[:400])


def test_initial_evaluations_are_taken_in_by_bless(
    tasks: NASBench, made: list[nr.Optimizer]
) -> None:
    _run("global", 400)
    assert "warm start" in [event["event"] for event in made[0].events]


def test_a_batch_takes_as_long_as_its_slowest_network(
    tasks: NASBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[Any] = []

    def recorded(
        opt: nr.Optimizer, horizon: int, values: Any, *others: Any, **options: Any
    ) -> pl.DataFrame:
        def seen(batch: nr.Batch) -> Any:
            batches.append(batch.ids)
            return values(batch)

        return play(opt, horizon, seen, *others, **options)

    monkeypatch.setattr(nas, "play", recorded)
    last = _run("global")[-1]
    assert max(map(len, batches)) > 1
    training = sum(max(tasks.seconds[id_] for id_ in ids) for ids in batches)
    assert last["hours"].item() * 3600 == pytest.approx(training + last["seconds"].item())


def test_evolution_trains_one_network_after_another(
    tasks: NASBench, made: list[nr.Optimizer]
) -> None:
    last = _run("evolution")[-1]
    training = tasks.seconds[made[0].history.ids].sum()
    assert last["hours"].item() * 3600 == pytest.approx(training + last["seconds"].item())


def test_bandwidths_and_starts_are_those_of_the_appendix() -> None:
    starts = {}
    for name in ("bbkb-fig3", "bbkb-fig4", "bbkb-fig7"):
        one = find(name)
        tasks = one.tasks(one.settings("page"))
        starts[name] = {(task.arguments["initial"], task.arguments["bandwidth"]) for task in tasks}
    assert starts["bbkb-fig3"] == {(2000, 125.0)}
    assert starts["bbkb-fig7"] == {(0, 100.0)}
    assert starts["bbkb-fig4"] == starts["bbkb-fig3"] | starts["bbkb-fig7"]


def test_the_measure_says_until_when_evolution_is_quicker() -> None:
    seconds = {"global": [2.0, 2.0, 3.0], "local": [5.0, 6.0, 8.0], "evolution": [1.0, 3.0, 7.0]}
    columns = {"initial": 0, "seed": 0, "batches": 1, "batch": 4, "ratio": 0.5, "hours": 1.0}
    rows = [
        {"algorithm": name, "t": t, "seconds": s, "simple": 0.1, "start": 0.0, **columns}
        for name, all_ in seconds.items()
        for t, s in zip((10, 20, 30), all_, strict=True)
    ]
    table = pl.DataFrame(rows).with_columns(initial_gap=pl.lit(None, pl.Float64))
    end = find("bbkb-fig7").measure(table, {"horizon": 30})["end"]["alone"]
    assert {name: found["behind"] for name, found in end.items()} == {
        "global": 10,
        "local": 30,
        "evolution": 0,
    }
    assert end["local"]["largest"] == 4.0
