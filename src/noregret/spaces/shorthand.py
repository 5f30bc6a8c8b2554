"""What is written in short: parameters by a pair of numbers or a list of words, and bounds."""

import math
from numbers import Real
from typing import Any

import numpy as np

from noregret import _checks
from noregret.spaces.choices import Choice
from noregret.spaces.numbers import Float
from noregret.spaces.parameters import Parameter


def as_parameter(name: str, given: Any) -> Parameter:
    """The parameter itself, the number that a pair means, or the choices that words mean.

    A list whose meaning is unclear is refused, and the message says how to write it.

    Parameters
    ----------
    name
        What the parameter is called, for messages.
    given
        A parameter; a pair (low, high) of numbers; or a list of texts, booleans and ``None``, with
        numbers among them or not.
    """
    if isinstance(given, Parameter) and isinstance(given, type):
        how = {"Choice": '(["a", "b"])', "Bool": "()"}.get(given.__name__, "(low, high)")
        raise TypeError(
            f"{name} must be a parameter, got the class: write nr.{given.__name__}{how}"
        )
    if isinstance(given, Parameter):
        return given
    plain = given.tolist() if isinstance(given, np.ndarray) else given
    if is_pair(plain):
        low, high = plain
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise ValueError(f"{name} must lie between finite bounds low ≤ high, got {given!r}")
        return Float(low, high)
    if _are_choices(plain):
        try:
            return Choice(plain)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from None
    raise TypeError(
        f"{name} must be a pair (low, high) of numbers, a list of words, or a parameter "
        f"(nr.Float, nr.Int, nr.Choice, nr.Bool), got {given!r}{_hint(plain)}"
    )


def refuse_unclear(given: Any) -> None:
    """Refuse pairs of numbers that may be the bounds of a box or candidates."""
    if _may_be_bounds(given):
        pairs = [tuple(map(_checks.plain, pair)) for pair in given]
        raise ValueError(
            "domain must say whether these pairs are bounds or candidates: "
            f"nr.Box({_shown(pairs)}) or nr.Candidates({_shown(pairs)})"
        )
    if is_pair(given) and given[0] < given[1]:
        raise ValueError(
            f"domain must say whether {given!r} are bounds or two candidates: "
            f"nr.Box([{tuple(given)!r}]) or nr.Candidates({list(given)!r})"
        )


def _may_be_bounds(given: Any) -> bool:
    """Whether this is a list of increasing pairs of numbers."""
    return (
        isinstance(given, (list, tuple))
        and len(given) > 0
        and all(is_pair(pair) and pair[0] < pair[1] for pair in given)
    )


def _shown(pairs: Any) -> str:
    return repr(pairs) if len(pairs) <= 4 else f"{pairs[:4]!r:.60}…"


def is_pair(pair: Any) -> bool:
    """Whether this is a pair of numbers."""
    return isinstance(pair, (list, tuple)) and len(pair) == 2 and all(map(_is_number, pair))


def _are_choices(given: Any) -> bool:
    """Whether this list can only mean choices.

    Numbers, numbers in quotes, and two numbers with a word may mean a range.
    """
    return (
        isinstance(given, (list, tuple))
        and any(one is None or isinstance(one, (str, bool, np.bool_)) for one in given)
        and not all(isinstance(one, str) and _reads_as_number(one) for one in given)
        and not _is_range_in_words(given)
    )


def _is_range_in_words(given: Any) -> bool:
    """Two numbers and a word, as other tools write ranges: (1e-5, 1, "log-uniform")."""
    return (
        len(given) == 3
        and sum(map(_is_number, given)) == 2
        and any(isinstance(one, str) for one in given)
    )


def _hint(given: Any) -> str:
    """How that is written which was probably meant."""
    if isinstance(given, range) and len(given):
        step = f", step={given.step}" if given.step != 1 else ""
        return f"; whole numbers are written nr.Int({given[0]}, {given[-1]}{step})"
    if isinstance(given, (set, frozenset)) and given:
        return f"; a set has no order: write nr.Choice({sorted(given, key=str)!r})"
    if not isinstance(given, (list, tuple)) or not given:
        return ""
    only = f"nr.Choice({list(given)!r}) if only these values are allowed"
    if all(map(_is_number, given)) and len(given) > 1:
        kind = "Int" if all(isinstance(one, int) for one in given) else "Float"
        return f"; write {only}, or nr.{kind}({min(given)}, {max(given)}) for all between them"
    if _is_range_in_words(given):
        low, high = sorted(one for one in given if _is_number(one))
        return f"; write {only}, or nr.Float({low}, {high}, log=True) for a range with log scale"
    if all(isinstance(one, str) for one in given):
        return f"; write numbers without quotes, or {only}"
    return f"; write {only}"


def _is_number(one: Any) -> bool:
    return isinstance(one, Real) and not isinstance(one, bool)


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
