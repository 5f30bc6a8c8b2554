"""The arguments of maximize and minimize, and the optimiser that is made of them."""

import numpy as np
import pytest
from functions import bowl

import noregret as nr


async def later(x):
    return 1.0


@pytest.mark.parametrize("options", [{}, {"tol": 1e-6}, {"algorithm": "gpucb"}])
def test_learnt_settings_mean_bounds_of_two_deviations_whatever_the_name(options):
    box = nr.Box([(0, 1)])
    result = nr.minimize(bowl, box, 12, seed=0, progress=False, **options)
    assert result.algorithm.width == 2.0
    given = {"kernel": nr.RBF(0.5), "noise": 0.1, "norm": 1.0}
    result = nr.minimize(bowl, box, 3, seed=0, progress=False, **options, **given)
    assert result.algorithm.width == "theory"


@pytest.mark.parametrize(
    ("options", "one_by_one"),
    [
        ({}, True),
        ({"algorithm": "bbkb"}, False),
        ({"batch_size": 5}, False),
        ({"budget": 1001, "timeout": 0.5}, False),
        ({"vectorized": True}, False),
    ],
)
def test_a_short_run_on_a_list_decides_after_every_evaluation(options, one_by_one, monkeypatch):
    asked, ask = [], nr.Optimizer.ask
    monkeypatch.setattr(
        nr.Optimizer, "ask", lambda self, n, **how: asked.append(n) or ask(self, n, **how)
    )
    X = np.random.default_rng(0).uniform(size=(50, 1))
    nr.minimize(
        lambda x: np.square(x).sum(axis=-1), nr.Candidates(X),
        **{"budget": 30, "seed": 0, "progress": False, **options},
    )  # fmt: skip
    assert (set(asked) == {1}) == one_by_one


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"budget": 0}, ValueError, "budget must be at least 1"),
        ({"tol": -1.0}, ValueError, "tol must be above 0"),
        ({"timeout": 0}, ValueError, "timeout must be above 0"),
        ({"patience": 0}, ValueError, "patience must be at least 1"),
        ({"stop": "now"}, ValueError, "stop must be one of 'converged'"),
        (
            {"stop": "converged", "algorithm": "gpucb"},
            ValueError,
            "stop='converged' is the rule of Thompson sampling.* gpucb has no such rule",
        ),
        ({"workers": 0}, ValueError, "workers must be at least 1"),
        ({"workers": "4"}, TypeError, r"workers must be a number, or an executor with submit\(\)"),
        ({"callback": 3}, TypeError, "callback must be a function"),
        ({"callback": lambda: True}, TypeError, "callback must take one argument, an nr.Progress"),
        ({"failures": "skip"}, ValueError, "failures must be one of 'continue', 'raise'"),
        ({"f": 3.0}, TypeError, "f must be a function"),
        ({"f": lambda a, b: a + b}, TypeError, r"f must take one argument, the point .*: missing"),
        ({"f": lambda **named: 1.0}, TypeError, "f must take one argument, the point"),
        ({"f": later}, TypeError, "f must return a value: .* is a coroutine"),
        ({"algorithm": "magic"}, ValueError, "algorithm must be 'auto', an optimiser or one of"),
        ({"algorithm": "gp-ucb"}, ValueError, "got 'gp-ucb'; did you mean 'gpucb'"),
        ({"algorithm": nr.BBKB}, ValueError, "; write 'bbkb'"),
        ({"wrokers": 2}, TypeError, r"maximize\(\) .* 'wrokers'; did you mean 'workers'\?"),
        ({"budgt": 2}, TypeError, r"has no option 'budgt'; did you mean 'budget'\?"),
        (
            {"qbar": 2},
            TypeError,
            r"maximize\(\) with trustregionucb has no option 'qbar'; it has budget, .* kernel,",
        ),
        ({"domain": [(0, 1), (0, 1)]}, ValueError, r"nr.Box\(.* or nr.Candidates\("),
        ({"domain": (0, 1)}, ValueError, r"nr.Box\(\[\(0, 1\)\]\) or nr.Candidates\(\[0, 1\]\)"),
        ({"domain": np.array([[0, 1.5]])}, ValueError, r"nr.Box\(\[\(0.0, 1.5\)\]\) or nr.Candid"),
        ({"domain": np.empty((0, 2))}, ValueError, "candidates must not be empty"),
        ({"domain": {"a": (0, 1), "b": [1, 2, 4]}}, TypeError, r"b must .* nr.Choice\(\[1, 2, 4\]"),
        ({"domain": {"a": "x"}}, TypeError, "a must be a pair .* got 'x'"),
        ({"domain": {"a": range(1, 9, 2)}}, TypeError, r"nr.Int\(1, 7, step=2\)"),
        ({"domain": {}}, ValueError, "domain must have at least one parameter"),
        ({"domain": [{"a": 1}, {"a": 2}]}, ValueError, r"kernel=\.\.\., or make a table"),
        ({"domain": None}, TypeError, "domain must be an nr.Box"),
    ],
)
def test_bad_input_is_named(change, error, message):
    call = {"f": bowl, "domain": nr.Box([(0, 1)]), "budget": 5}
    with pytest.raises(error, match=message):
        nr.maximize(**call | change)


def test_options_belong_to_a_new_optimiser(tmp_path):
    box = nr.Box([(0, 1)])
    for option in ({"width": 2.0}, {"seed": 1}, {"storage": tmp_path / "a.db"}):
        with pytest.raises(ValueError, match="belong to a new algorithm"):
            nr.maximize(bowl, box, 5, algorithm=nr.GPUCB(box, nr.RBF()), **option)


def test_bounds_by_name_are_a_box():
    result = nr.minimize(lambda x: x["a"] ** 2, {"a": (-1, 1)}, 12, seed=0, progress=False)
    assert isinstance(result.best.point, dict)
    assert abs(result.best.point["a"]) < 0.2
