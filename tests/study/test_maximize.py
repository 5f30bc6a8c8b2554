"""maximize and minimize: the one-line way."""

import numpy as np
import pytest

import noregret as nr


def bowl(x):
    """Minimum 0 at (0.3, 0.3)."""
    return float(np.square(np.asarray(x) - 0.3).sum())


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


def test_stops_at_tol():
    options = {"kernel": nr.RBF(0.5), "noise": 0.01, "norm": 1.0, "width": 2.0}
    result = nr.minimize(bowl, nr.Box([(0, 1)]), 100, seed=0, progress=False, tol=0.05, **options)
    assert result.stopped == "tol"
    assert not result.certified  # bounds of two deviations, on a box
    assert result.algorithm.t < 100
    assert result.best.gap <= 0.05


def test_a_gap_on_a_list_is_certified_where_everything_is_given():
    X = np.linspace(0, 1, 40)[:, None]
    options = {"kernel": nr.RBF(0.5), "noise": 0.01, "norm": 3.0, "algorithm": "gpucb"}
    result = nr.minimize(bowl, X, 300, seed=0, progress=False, tol=0.1, **options)
    assert result.stopped == "tol"
    assert result.certified
    certificate = result.algorithm.certify(tol=0.1)
    assert certificate.certified
    assert certificate.largest_norm >= 3.0 or certificate.gap > 0.1


def test_learnt_settings_certify_nothing_and_are_tested_by_fresh_draws():
    result = nr.minimize(bowl, nr.Box([(0, 1)]), 120, seed=0, progress=False, tol=0.5, width=2.0)
    assert not result.certified
    assert result.stopped in ("tol (learnt settings)", "budget")
    if result.stopped != "budget":
        assert result.algorithm.t >= 10 + 30  # the design, and the draws that test the fit


def test_tol_alone_uses_the_theorems_width():
    result = nr.minimize(bowl, nr.Box([(0, 1)]), 15, seed=0, progress=False, tol=1e-6)
    assert type(result.algorithm) is nr.GPUCB
    assert result.algorithm.width == "theory"


def test_interrupts_return_what_is_known():
    calls = []

    def f(x):
        calls.append(x)
        if len(calls) == 15:
            raise KeyboardInterrupt
        return -bowl(x)

    result = nr.maximize(f, nr.Box([(0, 1)]), 50, seed=0, progress=False)
    assert result.stopped == "interrupted"
    assert len(result.history) == 14
    assert result.algorithm.pending == 0
    more = nr.maximize(f, None, 5, algorithm=result.algorithm, progress=False)
    assert len(more.history) == 19


def test_errors_of_f_are_raised_and_leave_nothing_pending():
    opt = nr.GPUCB(nr.Box([(0, 1)]), nr.RBF(), seed=0)

    def broken(x):
        raise RuntimeError("sensor fell off")

    with pytest.raises(RuntimeError, match="sensor"):
        nr.maximize(broken, None, 5, algorithm=opt, progress=False)
    assert opt.pending == 0
    for bad in (lambda x: np.nan, lambda x: [1.0, 2.0], lambda x: "high"):
        with pytest.raises((ValueError, TypeError)):
            nr.maximize(bad, nr.Box([(0, 1)]), 5, progress=False)


def test_bad_input_is_named():
    box = nr.Box([(0, 1)])
    with pytest.raises(ValueError, match="budget"):
        nr.maximize(bowl, box, 0)
    with pytest.raises(ValueError, match="tol"):
        nr.maximize(bowl, box, 5, tol=-1.0)
    with pytest.raises(TypeError, match="f must be a function"):
        nr.maximize(3.0, box, 5)
    with pytest.raises(ValueError, match="algorithm must be"):
        nr.maximize(bowl, box, 5, algorithm="magic")
    with pytest.raises(ValueError, match="options and seed"):
        nr.maximize(bowl, box, 5, algorithm=nr.GPUCB(box, nr.RBF()), width=2.0)


def test_progress_is_one_line_on_standard_error(capsys):
    nr.maximize(lambda x: -bowl(x), nr.Box([(0, 1)]), 3, seed=0)
    out, err = capsys.readouterr()
    assert out == ""
    assert "3/3 evaluations" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("way", "pick"), [(nr.maximize, max), (nr.minimize, min)])
def test_progress_shows_the_best_value_so_far(capsys, way, pick):
    seen = []

    def f(x):
        seen.append(float(3.0 - x[0]))
        return seen[-1]

    result = way(f, nr.Box([(0, 1)]), 4, seed=0)
    assert (
        capsys.readouterr().err.rstrip().endswith(f"4/4 evaluations, best reward {pick(seen):.6g}")
    )
    way(f, None, 3, algorithm=result.algorithm)
    assert (
        capsys.readouterr().err.rstrip().endswith(f"3/3 evaluations, best reward {pick(seen):.6g}")
    )
