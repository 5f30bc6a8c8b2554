"""Conditions on points that are written as text."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.spaces.conditions import Condition

NAMES = ("layers", "units", "act", "rate")
POINT = {"layers": 3, "units": 100, "act": "relu", "rate": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        "layers * units < 1000",
        "layers * units >= 1000",
        "10 < layers + units <= 103",
        "act == 'relu' and not rate > 1",
        'act in ("relu", "gelu") or layers // 2 == 7',
        "act not in ['relu']",
        "abs(-rate) ** 2 == 0.25",
        "min(layers, units, 2) < max(rate, 1) % 2",
        "-layers + units / 4 != +22",
        "True",
        "act != None",
    ],
)
def test_a_condition_means_what_python_means(text):
    expected = bool(eval(text, dict(POINT)))
    condition = Condition(text, NAMES)
    assert condition(POINT) is expected
    assert copy.deepcopy(condition)(POINT) is pickle.loads(pickle.dumps(condition))(POINT)
    assert repr(condition) == repr(text)


_TERMS = st.recursive(
    st.sampled_from(["layers", "units", "rate", "2", "0.5", "7"]),
    lambda term: st.builds(
        lambda left, sign, right: f"({left} {sign} {right})",
        term,
        st.sampled_from(["+", "-", "*", "<", "<=", "==", "and", "or"]),
        term,
    ),
    max_leaves=8,
)


@given(_TERMS, st.integers(1, 9), st.floats(-2, 2))
def test_any_condition_means_what_python_means(text, layers, rate):
    point = {**POINT, "layers": layers, "rate": rate}
    assert Condition(text, NAMES)(point) is bool(eval(text, dict(point)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("layers <", "condition on a point"),
        ("", "condition on a point"),
        ("depth < 3", "must name parameters, layers, units, act, rate; got 'depth'"),
        ("__import__('os').system('true')", "must be made of names of parameters"),
        ("units.real < 3", "must be made of"),
        ("[x for x in act]", "must be made of"),
        ("(lambda: 3)() < 4", "must be made of"),
        ("act[0] == 'r'", "must be made of"),
        ("open('a')", "must be made of"),
        ("max(act, key=abs)", "must be made of"),
        ("units is 3", "must compare"),
        ("1j == layers", "must be made of"),
        ("(" * 2000 + "1" + ")" * 2000, "condition on a point"),
        ("1 " * 9000, "at most 10,000 characters"),
    ],
)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_nothing_else_can_be_said(text, words):
    with pytest.raises(ValueError, match=words):
        Condition(text, NAMES)


def test_texts_are_not_computed_with():
    with pytest.raises(TypeError, match="only numbers can be computed with, got 'relu'"):
        Condition("act * 1000000000000 == 'x'", NAMES)(POINT)
    with pytest.raises(OverflowError):
        Condition("9 ** 9 ** 9 > units", NAMES)(POINT)


def test_a_file_keeps_a_condition_in_words(tmp_path):
    parameters = {"layers": nr.Int(1, 8), "units": nr.Int(16, 512)}
    space = nr.Space(parameters, feasible="layers * units <= 512")
    opt = nr.GPUCB(space, nr.RBF(1.0), seed=0)
    batch = opt.ask(3)
    assert all(one["layers"] * one["units"] <= 512 for one in batch.values)
    opt.tell(batch, [0.0, 0.1, 0.2])
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.domain.feasible.text == "layers * units <= 512"
    np.testing.assert_array_equal(opt.ask(2).points, again.ask(2).points)
    with pytest.raises(ValueError, match="domain must have feasible='layers"):
        nr.load(tmp_path / "run.npz", domain=nr.Space(parameters))
