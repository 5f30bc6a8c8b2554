"""One-line runs that are kept in a study, and go on after a crash."""

import numpy as np
import pytest
from functions import bowl, fails_right_of
from sklearn.gaussian_process import kernels as sk

import noregret as nr


def test_draws_that_test_a_gap_count_in_the_budget_of_a_later_call(tmp_path):
    rng, calls = np.random.default_rng(0), []

    def f(x):
        calls.append(x)
        return bowl(x) if len(calls) == 1 else 100.0 * rng.standard_normal()

    options = {"seed": 0, "progress": False, "tol": 1e6, "storage": tmp_path / "run.db"}
    first = nr.minimize(f, nr.Box([(0, 1)]), 40, callback=lambda one: one.done == 2, **options)
    assert first.stopped == "callback"
    assert len(calls) == 2 + 30  # no draw fits what one value seemed to say
    nr.minimize(f, nr.Box([(0, 1)]), 40, **options)
    assert 2 + 30 < len(calls) <= 40


def test_the_same_call_goes_on_where_a_killed_run_stopped(tmp_path):
    options = {"seed": 3, "progress": False}
    box = nr.Box({"a": (0, 1), "b": (0, 1)})
    f = lambda x: bowl([x["a"], x["b"]])  # noqa: E731
    whole = nr.minimize(f, box, 24, **options)
    calls = []

    def killed(x):
        calls.append(x)
        if len(calls) == 15:
            raise KeyboardInterrupt
        return f(x)

    path = tmp_path / "run.db"
    part = nr.minimize(killed, box, 24, storage=path, **options)
    assert (part.stopped, len(part.history)) == ("interrupted", 14)
    rest = nr.minimize(f, box, 24, storage=path, **options)
    assert rest.stopped == "budget"
    np.testing.assert_array_equal(rest.history.points, whole.history.points)
    assert rest.best.point == whole.best.point
    again = nr.minimize(lambda x: 1 / 0, box, 24, storage=path, **options)  # nothing left to do
    assert again.evaluations == 24


def test_failures_are_stored_and_replayed(tmp_path):
    f, box = fails_right_of(0.6), nr.Box([(0, 1)])
    path = tmp_path / "run.db"
    whole = nr.maximize(f, box, 24, seed=0, progress=False)
    nr.maximize(f, box, 14, seed=0, progress=False, storage=path, horizon=24)
    rest = nr.maximize(f, box, 24, seed=0, progress=False, storage=path)
    assert rest.to_frame().drop("reason").equals(whole.to_frame().drop("reason"))


def squares(X, Y):
    return np.square(X @ Y.T + 1)


PRODUCT = sk.RBF(0.4) * sk.RationalQuadratic()


@pytest.mark.parametrize(
    ("kernel", "same", "other"),
    [
        (nr.Precomputed(np.eye(5)), nr.Precomputed(np.eye(5)), nr.Precomputed(2 * np.eye(5))),
        (nr.RBF(0.3), nr.RBF([0.3]), squares),
        (PRODUCT, sk.RBF(0.4) * sk.RationalQuadratic(), sk.RBF(0.5) * sk.RationalQuadratic()),
        (squares, squares, nr.RBF(0.3)),
        (nr.RBF(0.3), nr.RBF(0.3), "auto"),
    ],
    ids=["matrix", "numbers", "scikit-learn", "function", "learnt"],
)
def test_a_study_goes_on_with_the_kernel_that_it_has(tmp_path, kernel, same, other):
    options = {"noise": 0.1, "norm": 9.0, "seed": 0, "progress": False}

    def call(kernel, budget):
        X, path = np.arange(5.0)[:, None], tmp_path / "run.db"
        return nr.maximize(lambda x: x[0], X, budget, kernel=kernel, storage=path, **options)

    call(kernel, 3)
    assert call(same, 4).evaluations == 4
    with pytest.raises(ValueError, match="kernel"):
        call(other, 5)
    assert call(same, 5).evaluations == 5


def test_a_width_that_no_file_holds_is_refused_before_there_is_a_file(tmp_path):
    options = {"seed": 0, "progress": False, "storage": tmp_path / "run.db"}
    with pytest.raises(TypeError, match="width is a function, which no study can store"):
        nr.minimize(bowl, nr.Box([(0, 1)]), 3, width=lambda e: 2.0, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"domain": nr.Box([(0, 2)])}, "domain"),
        ({"seed": 1}, "seed"),
        ({"width": 3.0}, "width"),
        ({"algorithm": "gpucb"}, "algorithm"),
        ({"kernel": nr.RBF(0.5)}, "kernel"),
    ],
)
def test_a_study_of_other_settings_is_refused(tmp_path, change, what):
    call = {"f": bowl, "domain": nr.Box([(0, 1)]), "budget": 3, "seed": 0, "progress": False}
    call["storage"] = tmp_path / "run.db"
    nr.minimize(**call)
    with pytest.raises(nr.StudyError, match=f"storage: the study at .* has {what}"):
        nr.minimize(**call | change)
    with pytest.raises(nr.StudyError, match="has direction 'minimize'"):
        nr.maximize(**call)
    assert nr.minimize(**call | {"budget": 4, "seed": None}).evaluations == 4
