"""BLAS is held at one thread inside our calls and left as it was outside."""

import os
import threading

import numpy as np
import pytest
from reference import problem, run
from threadpoolctl import threadpool_info, threadpool_limits

import noregret as nr
from noregret.linalg import threads as _threads
from noregret.linalg.threads import for_each, one_blas_thread


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_the_limit_holds_inside_and_is_lifted_outside():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert set(blas_threads()) == {1}
            with one_blas_thread():
                pass
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
        with pytest.raises(RuntimeError), one_blas_thread():
            raise RuntimeError
        assert blas_threads() == before


def test_overlapping_calls_from_several_threads_leave_the_setting_alone():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        inside, go = threading.Barrier(3), threading.Event()

        def hold():
            with one_blas_thread():
                inside.wait()
                go.wait()

        threads = [threading.Thread(target=hold) for _ in range(2)]
        for thread in threads:
            thread.start()
        inside.wait()
        limited = blas_threads()
        go.set()
        for thread in threads:
            thread.join()
        assert set(limited) == {1}
        assert blas_threads() == before


def test_users_settings_survive_ask_and_tell():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        X, f, rng = problem()
        opt = run(nr.BBKB(X, nr.RBF(0.3), norm=4.0, seed=0), f, 0.1, rng, 50)
        opt.recommend()
        assert blas_threads() == before


def test_threads_do_not_change_the_answers(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(6000, 3))
    f = X.sum(axis=1)
    histories = []
    for workers, parallel_from in (("1", 10**12), ("3", 0)):
        monkeypatch.setenv("NOREGRET_THREADS", workers)
        monkeypatch.setattr(_threads, "_PARALLEL_WORK", parallel_from)
        monkeypatch.setattr(_threads, "_pool", None)
        opt = nr.BBKB(X, nr.RBF(0.2), noise=0.1, lam=0.1, seed=0, width=1.0)
        run(opt, f, 0.1, np.random.default_rng(1), 100)
        histories.append((opt.history.ids, *opt.predict()))
    for one, two in zip(*histories, strict=True):
        np.testing.assert_array_equal(one, two)


def test_errors_in_threads_are_raised(monkeypatch):
    monkeypatch.setenv("NOREGRET_THREADS", "2")
    monkeypatch.setattr(_threads, "_pool", None)

    def fail(part):
        raise ZeroDivisionError(part)

    with pytest.raises(ZeroDivisionError):
        for_each(fail, [1, 2, 3], parallel=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_can_go_on(monkeypatch):
    monkeypatch.setenv("NOREGRET_THREADS", "2")
    monkeypatch.setattr(_threads, "_pool", None)
    seen = []
    for_each(seen.append, [1, 2], parallel=True)
    child = os.fork()
    if child == 0:
        again = []
        for_each(again.append, [1, 2, 3], parallel=True)
        os._exit(0 if sorted(again) == [1, 2, 3] else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
