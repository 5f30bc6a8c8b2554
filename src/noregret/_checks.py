"""Checks of what users pass in. Each error names the argument, what was given, what is allowed."""

import difflib
import inspect
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from noregret._types import Floats, Ints

#: numbers beyond this (or, above zero, below its inverse) have no square that a float can hold, or
#: lose all their digits on the way: they are refused, and another unit helps
LARGEST = 1e100
#: what NumPy would make numbers of although it is none, among Python objects and in lists
_NO_NUMBERS = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)
_MAY_BE_MASKED = (np.ma.MaskedArray, list, tuple)


def plain(value: Any) -> Any:
    """NumPy's numbers, fractions and the like as Python's own, which files hold; all else as is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    try:
        return int(value) if isinstance(value, Integral) else float(value)
    except OverflowError:  # refused where it is checked
        return value


def shown(value: Any, most: int = 50) -> str:
    """How a value is shown in an error: the start of its ``repr``, in one line."""
    try:
        return " ".join(repr(value).split())[:most]
    except Exception:  # such as whole numbers of thousands of digits
        return f"a value of type {type(value).__name__}"


def first_few(words: Sequence[Any], most: int, apart: str = ",") -> str:
    """The first of some words, and how many more there are: ``a, b and 12 more``."""
    listed, more = f"{apart} ".join(map(str, words[:most])), len(words) - most
    return f"{listed}{apart.strip(',')} and {more:,} more" if more > 0 else listed


def numbers(name: str, value: Any, allowed: str = "") -> Floats:
    """``value`` as an array of floats; all that would only look like numbers there is refused.

    That is text, dates, complex numbers, and masked entries. ``allowed`` is how the error begins.
    """
    allowed = allowed or f"{name} must be numbers"
    refuse_masked_and_sparse(value, allowed)
    try:
        array = np.asarray(value)
        odd = array.dtype.kind not in "biufO" or (
            array.dtype.kind == "O" and any(isinstance(one, _NO_NUMBERS) for one in array.flat)
        )
        if not odd:
            return array.astype(np.float64, copy=False)
    except OverflowError as error:
        raise ValueError(f"{name} must lie within ±{LARGEST:g}, got {shown(value)}") from error
    except (TypeError, ValueError) as error:
        raise TypeError(f"{allowed}, got {shown(value, 200)}") from error
    except Exception as error:  # what is given may have its own way to become an array
        raise TypeError(f"{allowed}, got {shown(value, 200)}: {error}") from error
    raise TypeError(f"{allowed}, got {shown(value, 200)}")


def refuse_masked_and_sparse(value: Any, allowed: str) -> None:
    """Refuse what NumPy would read without its mask, and sparse matrices, which it cannot read."""
    if _is_masked(value):
        raise TypeError(f"{allowed}, got masked entries")
    if hasattr(value, "toarray"):
        raise TypeError(f"{allowed}, got a sparse matrix: pass an array, such as its toarray()")


def _is_masked(value: Any) -> bool:
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.ma.is_masked(value))
    if not isinstance(value, (list, tuple)):
        return False
    # The types are few, and are found faster than the entries are looked at.
    inside = tuple(t for t in set(map(type, value)) if issubclass(t, _MAY_BE_MASKED))
    return bool(inside) and any(_is_masked(one) for one in value if isinstance(one, inside))


def positive(name: str, value: Any) -> float:
    """``value`` as a float above zero, of a size that can be computed with."""
    number = finite(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be above 0, got {value!r}")
    if number < 1 / LARGEST:
        raise ValueError(f"{name} must be at least {1 / LARGEST:g}, got {value!r}")
    return number


def rows_of_numbers(points: Any, dimension: int, also: str = "") -> Floats:
    """``points`` as n × d finite numbers; one row may come without its brackets.

    ``also`` says what else would be allowed, for the error.
    """
    allowed = f"points must be rows of {dimension} numbers{also}"
    array = np.array(numbers("points", points, allowed))
    if array.ndim == 1 and len(array) == dimension:
        array = array[None]
    if array.ndim != 2 or array.shape[1] != dimension:
        raise ValueError(f"{allowed}, got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"points must be finite, got {array[row, column]} in row {row}, column {column}"
        )
    return array


def one_or_more(name: str, value: Any, of: str) -> float | list[float]:
    """``value`` as one number above zero, or as a list of them, one per ``of``."""
    allowed = f"{name} must be one number above 0, or one per {of}"
    array = np.atleast_1d(numbers(name, value, allowed))
    if array.ndim != 1 or not np.all(np.isfinite(array)) or np.any(array <= 0):
        raise ValueError(f"{allowed}, got {value!r}")
    return float(array[0]) if array.size == 1 else list(array.tolist())


def not_negative(name: str, value: Any) -> float:
    """``value`` as a float of at least zero, of a size that can be computed with."""
    number = finite(name, value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {value!r}")
    return positive(name, value) if number else number


def at_least_one(name: str, value: Any) -> float:
    """``value`` as a finite float of at least one."""
    number = finite(name, value)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {value!r}")
    return number


def probability(name: str, value: Any) -> float:
    """``value`` as a float strictly between zero and one."""
    number = finite(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def finite(name: str, value: Any) -> float:
    """``value`` as a float of a size that can be computed with."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {shown(value)}")
    if abs(number) > LARGEST:
        raise ValueError(f"{name} must lie within ±{LARGEST:g}, got {shown(value)}")
    return number


def count(name: str, value: Any, most: int = (1 << 63) - 1, least: int = 1) -> int:
    """``value`` as an integer of at least ``least``, and at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    whole = int(value)
    if whole < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(value)}")
    if whole > most:
        given = f"{whole:,}" if whole < 1 << 63 else f"a number of {whole.bit_length()} bits"
        raise ValueError(f"{name} must be at most {most:,}, got {given}")
    return whole


def function_of_one(
    name: str, value: Any, argument: str = "the point (a dict if parameters have names)"
) -> None:
    """Refuse what cannot be called with this one argument."""
    if not callable(value):
        raise TypeError(f"{name} must be a function of one argument, {argument}, got {value!r}")
    if inspect.iscoroutinefunction(value) or inspect.isgeneratorfunction(value):
        raise TypeError(f"{name} must return a value: {value!r} is a coroutine or a generator")
    try:
        inspect.signature(value).bind(None)
    except TypeError as error:
        raise TypeError(f"{name} must take one argument, {argument}: {error}") from None
    except ValueError:  # functions written in C may have no signature
        return


def one_of(name: str, value: Any, allowed: Sequence[str], *, also: str = "") -> str:
    """``value``, one of the ``allowed`` words; ``also`` says what else the caller takes."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        hint = did_you_mean(value, allowed)
        raise ValueError(f"{name} must be one of {words}{also}, got {value!r}{hint}")
    return value


def did_you_mean(word: Any, known: Sequence[str]) -> str:
    """``; did you mean …?`` with the known word that is spelt most like this one, or nothing."""
    if not isinstance(word, str):
        return ""
    folded = {one.lower(): one for one in known}
    close = difflib.get_close_matches(word.lower(), folded, n=1)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def known_names(owner: str, what: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse names that the ``owner`` has no ``what`` of, with the nearest one that it has."""
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"; it has {', '.join(known)}"
            raise TypeError(f"{owner} has no {what} {name!r}{hint}")


def word_or_number(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Refuse texts other than the ``allowed`` words; numbers are checked elsewhere."""
    if isinstance(value, str) and value not in allowed:
        words = " or ".join(repr(word) for word in allowed)
        raise TypeError(f"{name} must be a number or {words}, got {value!r}")


def ids(value: Any, size: int) -> Ints:
    """``value`` as row numbers of a list of ``size`` candidates."""
    allowed = "ids must be a flat list of row numbers"
    refuse_masked_and_sparse(value, allowed)
    try:
        array = np.atleast_1d(np.asarray(value))
    except ValueError as error:  # rows of several lengths
        raise TypeError(f"{allowed}, got {shown(value)}") from error
    if array.ndim != 1:
        raise ValueError(f"{allowed}, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind == "f" and np.all(array == np.floor(array)):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"ids must be whole numbers (the candidates' rows), got {shown(value)}")
    if array.min() < 0 or array.max() >= size:
        bad = array[(array < 0) | (array >= size)][0]
        raise ValueError(f"ids must lie in 0..{size - 1} (the candidates' rows), got {bad}")
    return array.astype(np.int64)


def rewards(value: Any, length: int, name: str = "rewards") -> Floats:
    """``value``, an argument called ``name``, as ``length`` finite floats."""
    array = np.atleast_1d(numbers(name, value))
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.shape != (length,):
        raise ValueError(
            f"{name} must be {length} numbers (one per point), got shape {array.shape}"
        )
    if not np.abs(array).max(initial=0.0) <= LARGEST:
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise ValueError(f"{name} must be finite, got {array[bad[0]]} at position {bad[0]}")
        largest = array[np.abs(array).argmax()]
        raise ValueError(
            f"{name} must lie within ±{LARGEST:g}, got {largest}: give them in another unit"
        )
    return array
