"""Parameters as people write them down."""

import pytest

import noregret as nr
from noregret.spaces.description import (
    parameter_in_words,
    parameter_of,
    read_space,
    space_in_words,
)


@pytest.mark.parametrize(
    ("words", "parameter"),
    [
        ("float(1e-6,1,log)", nr.Float(1e-6, 1, log=True)),
        ("float( 0 , 2.5 )", nr.Float(0, 2.5)),
        ("int(1,8)", nr.Int(1, 8)),
        ("int(16, 512, log)", nr.Int(16, 512, log=True)),
        ("int(0,100,step=10)", nr.Int(0, 100, step=10)),
        ("choice(relu, gelu)", nr.Choice(["relu", "gelu"])),
        ('choice("a, b", c)', nr.Choice(["a, b", "c"])),
        ("choice(1, 2.5, x)", nr.Choice([1, 2.5, "x"])),
        ("bool", nr.Bool()),
        ("Bool()", nr.Bool()),
    ],
)
def test_words(words, parameter):
    assert parameter_in_words(words) == parameter
    assert parameter_of(parameter.spec()) == parameter


@pytest.mark.parametrize(
    "words",
    ["", "real(0,1)", "float(0)", "float", "int(1,8,fast)", "int(1,8,steps=2)", "bool(1)",
     "choice()", "float(a,b)", "int(1, 8"],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused(words):
    with pytest.raises((ValueError, TypeError), match="rate: "):
        space_in_words([f"rate={words}"])


def test_names_are_needed_once():
    with pytest.raises(ValueError, match="a comes twice"):
        space_in_words(["a=bool", "a=int(1,2)"])
    with pytest.raises(ValueError, match="rate=float"):
        space_in_words(["float(0,1)"])


def test_a_space_is_read_from_a_toml_file(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text(
        'bias = "bool"\n'
        'act = {type = "choice", choices = ["relu", "gelu"]}\n'
        '[lr]\ntype = "float"\nlow = 1e-6\nhigh = 1\nlog = true\n'
    )
    space = read_space(path)
    assert space.names == ("bias", "act", "lr")
    assert space.parameters[2] == nr.Float(1e-6, 1, log=True)
    path.write_text('act = ["relu", "gelu"]\nrate = [0, 1]\n')
    assert read_space(path).parameters == (nr.Choice(["relu", "gelu"]), nr.Float(0, 1))
    for text, words in (
        ("", "no parameters"),
        ("a = 3", "a: a parameter must be"),
        ('a = {type = "int", low = 1}', "a: int: .*high"),
        ('a = {type = "real"}', "a: a parameter must be a table with a type"),
        ("a = [", "not a TOML file"),
        (
            "a = [1, 2, 4]",
            r"a: a list must hold words or two numbers .* \[1, 2, 4\]; write .*choice",
        ),
        ("a = [3, 1]", "a must lie between"),
        (
            'a = {type = "float", low = 0, high = 1, lgo = true}',
            "a: float has no 'lgo': it has low, high, log",
        ),
        ('a = {type = "bool", odds = 2}', "a: bool has no 'odds': it has no settings"),
    ):
        path.write_text(text)
        with pytest.raises((ValueError, TypeError), match=words):
            read_space(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_space(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (nr.Float(0, 1), "0.5", 0.5),
        (nr.Int(1, 8), "8.0", 8),
        (nr.Choice([1, "a", None]), "1", 1),
        (nr.Choice([0.5, "a"]), "0.50", 0.5),
        (nr.Choice(["1", "a"]), "1", "1"),
        (nr.Bool(), "true", True),
        (nr.Bool(), "False", False),
    ],
)
def test_values_in_words(parameter, text, value):
    found = parameter.parse(text)
    assert (found, type(found)) == (value, type(value))
    parameter.encode(found)
