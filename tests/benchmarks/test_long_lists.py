"""Long lists on disk, and runs on them."""

import numpy as np
import pytest


@pytest.fixture
def lists(benchmark_module):
    return benchmark_module("long_lists")


@pytest.mark.parametrize("function", ["wave", "bumps"])
def test_a_list_on_disk_has_the_values_it_says(lists, tmp_path, function):
    problem = lists.write_list(tmp_path / "list.npy", 3000, function)
    X = problem.points()
    assert X.dtype == np.float32
    assert X.shape == (3000, 8)
    f = problem.values(X)
    assert f.max() == pytest.approx(problem.best)
    assert f.mean() == pytest.approx(problem.mean)


def test_long_lists_are_mapped(lists, tmp_path, monkeypatch):
    monkeypatch.setattr(lists, "_MAPPED", 100)
    problem = lists.write_list(tmp_path / "list.npy", 200, "bumps")
    assert isinstance(problem.points(), np.memmap)
    found = lists.run(problem, "proved width", 40)
    assert found.evaluations == 40


@pytest.mark.parametrize("way", ["proved width", "β = 2", "Thompson", "dense"])
def test_a_run_reports_what_it_looked_at(lists, tmp_path, way):
    problem = lists.write_list(tmp_path / "list.npy", 2000, "bumps")
    found = lists.run(problem, way, 300)
    assert found.evaluations == 300
    assert found.regret < 1
    assert 0 < found.share <= 1
    assert (found.share == 1) == (way == "dense")
    assert 0 < found.memory < 64


def test_the_picture_is_drawn(lists, tmp_path):
    pytest.importorskip("matplotlib")
    one = lists.Outcome(1.0, 1.0, 0.5, 3000, 10, 0.1, 0.01, 20, 0.1)
    found = {(size, way): one for size in (10, 100) for way in lists.WIDTHS}
    lists.draw(found, tmp_path / "images" / "cost.png")
    assert (tmp_path / "images" / "cost.png").read_bytes().startswith(b"\x89PNG")
