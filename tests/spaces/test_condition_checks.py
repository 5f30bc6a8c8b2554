"""Conditions that say less than they seem to are refused, with what to write."""

import re

import pytest

import noregret as nr
from noregret.spaces.conditions import Condition

PARAMETERS = {
    "ratio": nr.Float(0, 1),
    "T": nr.Int(20, 60),
    "solvent": nr.Choice(["THF", "DMF"]),
    "batch": nr.Choice([16, 32, None]),
    "stir": nr.Bool(),
    "flow rate": nr.Float(0, 5),
    "logP, calc": nr.Float(0, 5),
    "lambda": nr.Float(0, 5),
}

POINT = {"ratio": 0.5, "T": 30, "batch": 16, "stir": False}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ratio < 0,5", "'(ratio < 0, 5)' in 'ratio < 0,5': a decimal has a point, 0.5"),
        ("ratio < 0,5 and T > 30", "a decimal has a point"),
        ("not (ratio < 0,5)", "conditions are joined by and"),
        ("T == [30]", "must be one condition, got '[30]'"),
        ("T * 2", "or no; got 'T * 2'"),
        ("T > 30 or solvent", "got 'solvent' in"),
        ("not T", "got 'T' in 'not T'"),
        ("{flow rate} + T", "got '{flow rate} + T'"),
        ("True", "must be made of comparisons"),
        ("1 < 2", "must name a parameter"),
        (
            "not (solvent == 'thf' and T > 30)",
            "with 'thf', which it never is, in \"not (solvent == 'thf' and T > 30)\": 'solvent' is "
            "one of 'THF', 'DMF'",
        ),
        ("'thf' != solvent", "which it never is"),
        ("solvent in ('THF', 'dmf')", "with 'dmf', which it never is"),
        ("solvent in 'THF'", "must have a list after in"),
        ("'TH' in solvent", "must have a list after in"),
        ("T == 'hot'", "'T' is a number"),
        ("T != None", "'T' is a number"),
        ("batch == 64", "'batch' is one of 16, 32, None"),
        ("solvent < 3", "with 3, which it never is"),
        ("stir == 'yes'", "'stir' is one of False, True"),
        ("flow rate < 3", "got 'flow rate < 3'; write 'flow rate' in braces: {flow rate}"),
        ("flow < 3", "got 'flow'; write 'flow rate' in braces"),
        ("{flow} < 3", "got 'flow'"),
    ],
)
def test_what_is_no_condition(text, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        nr.Space(PARAMETERS, feasible=text)


@pytest.mark.parametrize(
    ("text", "point", "expected"),
    [
        ("stir or T < 30", {"stir": False, "T": 40}, False),
        ("stir == 1 and not solvent == 'DMF'", {"stir": True, "solvent": "THF"}, True),
        ("solvent in ['THF'] or batch in (16, 32)", {"solvent": "DMF", "batch": 16}, True),
        ("solvent > 'E'", {"solvent": "DMF"}, False),
        (
            "{flow rate} * {logP, calc} < {lambda}",
            {"flow rate": 1, "logP, calc": 2, "lambda": 3},
            1,
        ),
        ("{ flow rate } < 3 and solvent != 'THF'", {"flow rate": 1, "solvent": "THF"}, False),
        ("'THF' == solvent and {T} < 30", {"solvent": "THF", "T": 25}, True),
    ],
)
def test_what_is_one(text, point, expected):
    assert nr.Space(PARAMETERS, feasible=text).feasible({**POINT, **point}) == expected


def test_a_file_with_an_older_condition_opens(tmp_path):
    """Files of before conditions were checked keep their points."""
    made = nr.Space({"x": nr.Float(0, 1)}, feasible=Condition("x < 0,5", ("x",)))
    opt = nr.GPUCB(made, nr.RBF(1.0), seed=0)
    opt.ask(2)
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.domain.feasible.text == "x < 0,5"
