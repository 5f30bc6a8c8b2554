"""maximize and minimize: the one-line way."""

import inspect
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from functions import bowl, fails_right_of

import noregret as nr


def test_minimize_on_a_box():
    result = nr.minimize(bowl, nr.Box([(0, 1), (0, 1)]), 40, seed=0, progress=False, optimum=0.0)
    assert bowl(result.best.point) < 0.01
    assert result.stopped == "budget"
    assert isinstance(result.algorithm, nr.TrustRegionUCB)
    np.testing.assert_allclose(result.history.rewards, [bowl(x) for x in result.history.points])
    np.testing.assert_allclose(result.regret, result.history.rewards)
    best = result.best
    assert best.lower <= best.mean <= best.upper
    assert best.mean == pytest.approx(bowl(best.point), abs=0.02)


def test_maximize_on_a_list_of_rows():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    result = nr.maximize(lambda x: -bowl(x), X, 60, seed=0, progress=False)
    assert isinstance(result.algorithm, nr.BBKB)
    f = -np.array([bowl(x) for x in X])
    assert f[result.best.id] >= np.sort(f)[-5]
    assert result.regret is None
    assert len(result.history) == 60


def test_what_f_receives():
    seen = []

    def note(x):
        seen.append(x)
        return 0.0

    nr.maximize(note, nr.Box([(0, 1)]), 2, seed=0, progress=False)
    assert all(isinstance(x, np.ndarray) and x.shape == (1,) for x in seen)
    seen.clear()
    nr.maximize(note, nr.Box({"a": (0, 1), "b": (5, 6)}), 2, seed=0, progress=False)
    assert all(set(x) == {"a", "b"} and 5 <= x["b"] <= 6 for x in seen)
    seen.clear()
    options = {"kernel": lambda a, b: np.ones((len(a), len(b))), "noise": 0.1, "norm": 1.0}
    nr.maximize(note, ["x", "yy"], 3, seed=0, progress=False, **options)
    assert set(seen) <= {"x", "yy"}
    seen.clear()

    def note_all(X):
        seen.append(X.shape)
        return np.zeros(len(X))

    result = nr.maximize(
        note_all, nr.Box([(0, 1)] * 3), 25, algorithm="bbkb", seed=0, progress=False,
        vectorized=True, batch_size=4,
    )  # fmt: skip
    assert all(shape[1] == 3 and shape[0] <= 4 for shape in seen)
    assert result.algorithm.t == 25


def test_same_seed_same_run():
    runs = [
        nr.maximize(lambda x: -bowl(x), nr.Box([(0, 1)] * 2), 20, seed=5, progress=False)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].history.points, runs[1].history.points)


def test_failed_evaluations_are_counted_and_the_run_goes_on(capsys):
    result = nr.maximize(fails_right_of(0.6), nr.Box([(0, 1), (0, 1)]), 30, seed=0)
    frame = result.to_frame()
    failed = frame.filter(status="failed")
    assert result.failures == len(failed) > 0
    assert result.evaluations == len(frame) == 30
    assert failed["x0"].min() > 0.6
    assert failed["value"].null_count() == len(failed)
    assert all(reason.endswith("MemoryError: too large\n") for reason in failed["reason"])
    assert result.best.point[0] <= 0.6
    assert len(result.history) == len(result.algorithm.history) == 30 - result.failures
    shown = capsys.readouterr().err
    assert "the first failure: MemoryError: too large" in shown
    assert f"{result.failures} failed" in shown
    assert f"{result.failures} failed" in repr(result)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e150, "high", None, [1.0, 2.0]])
def test_what_is_no_finite_number_is_a_failed_evaluation(bad):
    f = lambda x: bad if x[0] < 0.5 else 1.0  # noqa: E731
    result = nr.maximize(f, nr.Box([(0, 1)]), 10, seed=0, progress=False)
    reasons = result.to_frame().filter(status="failed")["reason"]
    assert len(reasons) == result.failures > 0
    why = "a number beyond ±1e+100" if bad == 1e150 else "no finite number"
    assert all(f"f returned {why}" in reason for reason in reasons)


def test_a_vectorised_f_fails_point_by_point_or_as_a_whole():
    def f(X):
        return np.where(X[:, 0] > 0.7, np.nan, X[:, 0])

    options = {"vectorized": True, "batch_size": 5, "progress": False, "seed": 0}
    result = nr.maximize(f, nr.Box([(0, 1)]), 20, **options)
    frame = result.to_frame()
    assert (frame["x0"] > 0.7).to_list() == (frame["status"] == "failed").to_list()
    with pytest.raises(nr.RunError, match="expected 5 numbers"):
        nr.maximize(lambda X: X[:3, 0], nr.Box([(0, 1)]), 20, **options)


def test_many_failures_in_a_row_end_the_run():
    calls = []

    def breaks_down(x):
        calls.append(x)
        if len(calls) > 12:
            raise OSError("no connection")
        return -bowl(x)

    with pytest.warns(RuntimeWarning, match="20 evaluations failed .* OSError: no connection"):
        result = nr.maximize(breaks_down, nr.Box([(0, 1)]), 100, seed=0, progress=False)
    assert result.stopped == "failures"
    assert (len(result.history), result.failures) == (12, 20)
    calls += [None] * 20
    with pytest.raises(nr.RunError, match=r"no evaluation gave a value.*no connection") as caught:
        nr.maximize(breaks_down, nr.Box([(0, 1)]), 5, seed=0, progress=False)
    assert caught.value.result.failures == 5


def test_whatever_is_raised_carries_the_result_so_far():
    def f(x):
        if len(seen) == 6:
            raise ZeroDivisionError("by nothing")
        seen.append(x)
        return -bowl(x)

    seen = []
    box = nr.Box({"a": (0, 1)})
    with pytest.raises(nr.RunError, match=r"f failed at \{'a': .*by nothing") as caught:
        nr.maximize(lambda x: f([x["a"]]), box, 20, seed=0, progress=False, failures="raise")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(caught.value.result.history) == 6

    def callback(progress):
        raise KeyError("a slip")

    with pytest.raises(KeyError) as slipped:
        nr.maximize(lambda x: 1.0, box, 20, seed=0, progress=False, callback=callback)
    assert len(slipped.value.result.history) == 1
    assert slipped.value.result.algorithm.pending == 0


@pytest.mark.parametrize("algorithm", ["gpucb", "bbkb"])
def test_batch_size_is_honoured_on_boxes(algorithm):
    sizes = []

    def f(X):
        sizes.append(len(X))
        return -np.square(X - 0.3).sum(axis=1)

    options = {"algorithm": algorithm, "vectorized": True, "batch_size": 7}
    nr.maximize(f, nr.Box([(0, 1)] * 2), 45, seed=0, progress=False, **options)
    assert sum(sizes) == 45
    assert max(sizes) == 7
    if algorithm == "gpucb":
        assert sizes == [7] * 6 + [3]


def test_threads_evaluate_at_the_same_time():
    meet = threading.Barrier(3, timeout=30)

    def f(x):
        meet.wait()
        return -bowl(x)

    names = []
    result = nr.maximize(
        f, nr.Box([(0, 1)]), 9, seed=0, workers=3, progress=False,
        callback=lambda progress: names.append(progress.workers),
    )  # fmt: skip
    assert len(result.history) == 9
    assert names == ["3 threads (f cannot be pickled)"] * 9


def test_an_executor_of_ones_own():
    with ThreadPoolExecutor(2) as pool:
        result = nr.minimize(bowl, nr.Box([(0, 1)]), 8, seed=0, workers=pool, progress=False)
        assert pool.submit(bowl, [0.3]).result() == 0.0  # it is still open
    assert len(result.history) == 8


@pytest.mark.slow
def test_processes_evaluate_what_can_be_sent_to_them():
    names, pids = set(), set()

    def note(progress):
        names.add(progress.workers)
        pids.add(progress.value)

    nr.maximize(own_pid, nr.Box([(0, 1)]), 6, workers=2, progress=False, callback=note)
    assert names == {"2 processes"}
    assert os.getpid() not in pids


def own_pid(x):
    return float(os.getpid())


@pytest.mark.slow
def test_an_evaluation_that_kills_its_process_is_a_failed_one():
    result = nr.maximize(dies_on_the_right, nr.Box([(0, 1)]), 6, seed=1, workers=2, progress=False)
    frame = result.to_frame()
    assert (frame["x0"] > 0.7).to_list() == (frame["status"] == "failed").to_list()
    assert result.failures


def dies_on_the_right(x):
    if x[0] > 0.7:
        os._exit(1)
    return float(x[0])


def test_both_functions_take_the_same():
    one, other = inspect.signature(nr.maximize), inspect.signature(nr.minimize)
    assert one == other


@pytest.mark.parametrize("search", ["gradients", "direct"])
def test_constants_reach_f(search):
    def f(point):
        assert point["side"] == 2.0
        return bowl(point["x"])

    domain = {"x": (0, 1), "side": (2, 2)}
    result = nr.minimize(f, domain, 20, seed=0, progress=False, search=search)
    assert result.failures == 0
    assert result.best.point["x"] == pytest.approx(0.3, abs=0.05)


def test_numbers_of_numpy_are_taken_by_the_call():
    options = {"seed": 0, "progress": False, "workers": np.int64(2)}
    box = nr.Box([(0, 1)])
    result = nr.minimize(
        bowl, box, np.int64(9), callback=lambda one: np.isfinite(one.value), **options
    )
    assert result.stopped == "callback"  # by a bool of NumPy
    with pytest.raises(TypeError, match="workers must be a whole number"):
        nr.minimize(bowl, box, 9, workers=2.0)


def test_an_optimiser_to_go_on_with_has_its_own_domain():
    box = nr.Box({"a": (0, 1)})
    opt = nr.GPUCB(box, nr.RBF(0.3), width=2.0, seed=0)

    def call(domain):
        return nr.minimize(lambda x: x["a"], domain, 2, algorithm=opt, progress=False)

    for domain in ({"b": (3, 4)}, {"a": (0, 2)}, np.eye(3)):
        with pytest.raises(ValueError, match=r"domain must be None, or that of the optimiser"):
            call(domain)
    assert opt.t == 0
    for domain in (None, box, {"a": (0, 1)}):
        call(domain)
    assert opt.t == 6
    bits = np.packbits(np.eye(8, dtype=np.uint8), axis=1)
    opt = nr.BBKB(bits, nr.RBF(9.0), seed=0)  # bytes are numbers for this kernel
    assert nr.maximize(lambda x: 0.0, bits, 2, algorithm=opt, progress=False).evaluations == 2


def test_a_program_without_a_console_shows_no_progress(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    result = nr.minimize(bowl, nr.Box([(0, 1)]), 3, seed=0)
    assert result.evaluations == 3


def test_ragged_trials_are_refused(tmp_path):
    with nr.Study.create(tmp_path / "a.db", np.eye(3), seed=0) as study:
        study.ask(3)
        for trials in ([[0], [1, 2]], np.ma.array([0, 1], mask=[False, True])):
            with pytest.raises(TypeError, match="trials must be the numbers of trials"):
                study.tell(trials, [1.0, 2.0])
