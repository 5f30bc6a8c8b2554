"""The benchmark on boxes: its functions, its slices, and what ``maximize`` reaches there."""

import importlib

import numpy as np
import pytest


@pytest.fixture
def boxes(benchmark_module):
    """The modules of the benchmark by name."""
    benchmark_module("boxes")
    return lambda name: importlib.import_module(f"benchmarks.boxes.{name}")


def test_minima_are_where_they_are_said_to_be(boxes):
    """No random point of an instance is better than its optimum, and the median is far from it."""
    functions = boxes("functions")
    for name in functions.CLASSICS:
        for instance in (0, 3):
            task = functions.task(name, instance, "gaussian")
            X = np.random.default_rng(instance).uniform(size=(2000, task.dimension))
            assert task.missing(X).min() > 0
            assert task.median > task.optimum


def test_values_by_hand(boxes):
    """Away from the minima; points together as one at a time."""
    functions = boxes("functions")
    assert functions.ackley(np.ones((1, 3)))[0] == pytest.approx(20 - 20 * np.exp(-0.2))
    levy = functions.levy(np.array([[5.0, 1.0]]))[0]
    assert levy == pytest.approx(1 + 10 * np.sin(1) ** 2)
    centre = functions.hartmann_6(np.full((1, 6), 0.5))[0]
    assert centre == pytest.approx(-0.5053, abs=1e-3)
    X = np.random.default_rng(0).random((5, 6))
    alone = [functions.hartmann_6(x[None])[0] for x in X]
    np.testing.assert_allclose(functions.hartmann_6(X), alone)


def test_instances_differ_and_repeat(boxes):
    task = boxes("functions").task
    X = np.full((1, 5), 0.4)
    one, two, again = (task("ackley-5", i, "gaussian").value(X)[0] for i in (1, 3, 1))
    assert one == again != two


def test_slices_add_up(boxes, tmp_path, capsys):
    main, table = boxes("runs").main, boxes("table")
    path = tmp_path / "runs.jsonl"
    common = ["--results", str(path), "--evaluations", "12", "--functions", "levy-4,hartmann-3"]
    main([*common, "--methods", "random", "--instances", "1"])
    main([*common, "--methods", "random,ours", "--instances", "0,1", "--each"])
    rows = table.read(path)
    assert len({table.key(row) for row in rows}) == len(rows) == 8
    assert len(table.half(rows, "tuning")) == len(table.half(rows, "reporting")) == 4
    assert all(0 <= row["best"] <= row["recommended"] + 1e-12 for row in rows)
    lines = {line["method"]: line for line in table.summary(rows)}
    assert lines["ours"]["runs"] == lines["random"]["runs"] == 4
    assert "| levy-4 |" in capsys.readouterr().out


def test_real_tuning_problems_run(boxes):
    pytest.importorskip("sklearn")
    tuning = boxes("tuning")
    score, spent = tuning.run(tuning.ours, tuning.PROBLEMS["kernel ridge on diabetes"], 6, seed=0)
    assert -1 <= score <= 1
    assert spent > 0


@pytest.mark.slow
@pytest.mark.parametrize("function", ["hartmann-3", "ackley-5", "levy-4"])
def test_defaults_beat_random_search(boxes, function):
    """Median over 5 instances at 80 evaluations of what is still missing."""
    run = boxes("runs").run
    ours, theirs = (
        np.median([run(m, function, i, "gaussian", 80)["recommended"] for i in range(5)])
        for m in ("ours", "random")
    )
    assert ours < theirs
