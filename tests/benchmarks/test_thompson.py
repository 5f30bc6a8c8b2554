"""The benchmark of Thompson sampling: workers, lists, tables."""

import numpy as np
import pytest

import noregret as nr


@pytest.fixture
def thompson(benchmark_module):
    """The module of the benchmark."""
    return benchmark_module("thompson")


def test_each_worker_has_at_most_one_point(thompson):
    task, domain = thompson.problem("list", "hartmann-3", 0)
    opt = nr.Uniform(domain, nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
    most = []

    class Watched:
        """The same optimiser, which notes how many points are pending."""

        t = property(lambda self: opt.t)
        tell = staticmethod(opt.tell)

        def ask(self, n):
            batch = opt.ask(n)
            most.append(opt.pending)
            return batch

    points = thompson.play(Watched(), task, 9, 3, np.random.default_rng(0))
    assert opt.t == len(points) == 9
    assert max(most) == 3


def test_what_has_been_run_is_not_run_again(thompson, tmp_path, capsys):
    path = tmp_path / "runs.jsonl"
    common = ["--results", str(path), "--evaluations", "14", "--functions", "hartmann-3"]
    common += ["--instances", "0", "--algorithms", "AsyncTS"]
    thompson.main([*common, "--workers", "2"])
    once = path.read_text()
    assert once.count("\n") == 2
    thompson.main([*common, "--workers", "2"])
    assert path.read_text() == once
    shown = capsys.readouterr().out
    assert "box, 2 workers" in shown
    assert "list, 2 workers" in shown
