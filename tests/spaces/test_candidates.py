"""Lists of candidates: ids, points, and functions and kernels of objects."""

import graphs
import numpy as np
import pandas as pd
import polars as pl
import pytest

import noregret as nr

ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_strings_with_a_kernel_of_their_own():
    words = ["".join(w) for w in np.random.default_rng(0).choice(list("ab"), size=(30, 6))]

    def similarity(xs, ys):
        return np.array([[np.mean([a == b for a, b in zip(x, y)]) for y in ys] for x in xs])  # noqa: B905

    value = np.array([word.count("a") / 6 for word in words])
    opt = nr.BBKB(words, similarity, noise=0.1, lam=0.01, width=3.0, seed=0)
    for _ in range(15):
        batch = opt.ask()
        opt.tell(batch, [word.count("a") / 6 for word in batch])
    best = opt.recommend()
    assert isinstance(best.point, str)
    assert value[best.id] == value.max()


def test_graphs_with_a_kernel_of_their_own():
    library = [graphs.path(n) for n in range(2, 12)] + [graphs.star(n) for n in range(3, 12)]
    opt = nr.GPUCB(library, graphs.degree_kernel, noise=0.1, lam=0.01, width=3.0, seed=0)
    for _ in range(12):
        batch = opt.ask()
        opt.tell(batch, [graphs.largest_degree(graph) / 10 for graph in batch])
    assert graphs.largest_degree(opt.recommend().point) == 10


def test_ids_are_located_and_checked():
    candidates = nr.Candidates(ROWS)
    ids, points = candidates.locate([2, 0, 2])
    np.testing.assert_array_equal(points, np.array(ROWS)[[2, 0, 2]])
    np.testing.assert_array_equal(ids, candidates.unpack(candidates.pack(ids, points)))
    for wrong in ([3], [-1], [0.5], ["a"], [[0, 1]]):
        with pytest.raises((ValueError, TypeError), match="ids"):
            candidates.locate(wrong)


def test_float32_is_kept_and_computed_with_as_float64():
    candidates = nr.Candidates(np.array(ROWS, dtype=np.float32))
    assert candidates.points.dtype == np.float32
    assert candidates.at(np.array([1])).dtype == candidates.nothing.dtype == np.float64


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_functions_see_the_rows_of_a_frame(kind, tmp_path):
    rows = [
        {"a": 1, "x": 0.5, "wet": True, "solvent": "thf"},
        {"a": 2, "x": 1.5, "wet": False, "solvent": "dmf"},
        {"a": 3, "x": 2.5, "wet": True, "solvent": "thf"},
    ]
    frame = kind({name: [row[name] for row in rows] for name in rows[0]})
    seen = []

    def f(row):
        seen.append(row)
        return row["x"] + (row["solvent"] == "thf")

    result = nr.maximize(f, nr.Candidates(frame), 6, seed=0, progress=False)
    assert result.best.point == rows[2]
    assert all(row in rows for row in seen)
    assert all([type(v) for v in row.values()] == [int, float, bool, str] for row in seen)
    result.algorithm.save(tmp_path / "run.npz")
    assert nr.load(tmp_path / "run.npz").recommend().point == rows[2]
    with nr.Study.create(tmp_path / "s.db", frame, "gpucb", seed=0) as study:
        study.run(f, budget=4)
    with nr.Study.open(tmp_path / "s.db") as study:
        assert study.ask(1).values[0] in rows
        assert study.best().point in rows


def test_python_and_the_command_line_see_the_same_points(tmp_path, monkeypatch):
    from noregret.cli.candidate_library import read_library

    frame = pl.DataFrame({"a": [1.0, 2.0, 4.0], "wet": [True, False, True], "s": ["u", "v", "u"]})
    frame.write_csv(tmp_path / "library.csv")
    library = read_library(
        str(tmp_path / "library.csv"), None, None,
        value_column="value", standardize=False, drop_gaps=False,
    )  # fmt: skip
    np.testing.assert_array_equal(library.points, nr.Candidates(frame).points)
