"""Who evaluates."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import ModuleType

import numpy as np
import pytest

from noregret.study.evaluating.workers import (
    Workers,
    capacity,
    processes,
    start_workers,
    why_threads,
)


def test_one_worker_is_this_thread():
    with start_workers(abs, None, 1) as found:
        assert found == Workers(None, 1, "")


def test_the_start_of_processes_is_waited_for_as_long_as_somebody_says():
    with processes(1) as pool:
        assert pool.can_load(abs, patience=0.0)  # nobody knows yet
        assert pool.can_load(abs)


def test_what_cannot_be_sent_to_a_process_says_why(monkeypatch, tmp_path):
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert why_threads(lambda x: x) == "f cannot be pickled"
    assert why_threads(partial(np.full, 3)) == ""
    script = tmp_path / "script.py"
    main.__file__ = str(script)
    script.write_text("print(type(3).__name__)\n")
    assert "the script has no `if __name__" in why_threads(np.sum)
    script.write_text("if __name__ == '__main__':\n    pass\n")
    assert why_threads(np.sum) == ""


def test_functions_of_a_notebook_stay_in_this_process(monkeypatch):
    main = ModuleType("__main__")
    exec("def f(x): return x", vars(main))
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert why_threads(main.f) == "f is defined in a notebook or a shell"


def test_the_capacity_of_a_pool_is_the_number_of_its_workers():
    with ThreadPoolExecutor(3) as pool:
        assert capacity(pool) == 3

    class Client:
        def nthreads(self):
            return {"here": 2, "there": 4}

    assert capacity(Client()) == 6
    assert capacity(object()) >= 1


def test_dask_is_told_that_two_calls_are_two_evaluations():
    class Client:
        def submit(self, function, *args, pure=True):
            return function, args, pure

    assert Workers(Client(), 1, "").submit(abs, -1) == (abs, (-1,), False)


def test_what_is_no_executor_is_refused():
    with pytest.raises(TypeError, match="executor must have submit"), start_workers(abs, 3, 2):
        pass


SCRIPT = """
import os, signal, sys
from noregret.study.evaluating.workers import processes

if __name__ == "__main__":
    with processes(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_worker_processes_end_with_a_run_that_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    # The pipe is closed, and this call returns, once the last process that holds it has ended.
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, timeout=60)
    assert done.returncode == -9
    assert int(done.stdout) > 0
