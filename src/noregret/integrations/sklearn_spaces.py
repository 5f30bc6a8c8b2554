"""Spaces as users of scikit-learn give them: lists and distributions by name."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from noregret.spaces import Choice, Float, Int, Space
from noregret.spaces.parameters import Parameter

#: a distribution of any other kind is searched between these quantiles
_QUANTILES = 0.001, 0.999
#: the name of the parameter that says which of several dicts a configuration belongs to
_WHICH = "which dict"

#: our parameter (``None``: one value only), and what turns its values into the user's
_Made = tuple[Parameter | None, Callable[[Any], Any]]


class Codec:
    """Turns the space of a scikit-learn user into ours, and our points into parameters.

    A list of dicts becomes one space. It has the parameters of all dicts, and one more that says
    which dict a point belongs to. The parameters of the other dicts do not matter there.

    Attributes
    ----------
    names
        The names of all parameters, in the order they were given.
    space
        Our space.
    """

    def __init__(self, given: Any) -> None:
        several = isinstance(given, (list, tuple))
        parts = given if several else [given]
        dicts = [_entries(one) for one in parts]
        if not dicts:
            raise _wrong_space(given)
        #: for each dict, which configurations are allowed; ``None``: all
        self._conditions = [getattr(one, "feasible", None) for one in parts]
        self.names = list(dict.fromkeys(name for one in dicts for name in one))
        #: for each dict, by name: the name in our space, and what the user gave
        self._dicts = [
            {n: (f"{i}: {n}" if several else n, _made(n, one)) for n, one in each.items()}
            for i, each in enumerate(dicts)
        ]
        varied = {key: one[0] for each in self._dicts for key, one in each.values() if one[0]}
        if len(dicts) > 1:
            varied = {_WHICH: Choice(list(range(len(dicts)))), **varied}
        if not varied:
            raise ValueError("space must have a parameter with more than one value")
        bound = any(one is not None for one in self._conditions)
        self.space = Space(varied, feasible=self._is_allowed if bound else None)
        self._centre = self.space.decode(self.space.centre[None])[0]

    def _is_allowed(self, point: Mapping[str, Any]) -> bool:
        condition = self._conditions[point.get(_WHICH, 0)]
        return condition is None or bool(condition(self.params(point)))

    def params(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of an estimator."""
        own = self._dicts[point.get(_WHICH, 0)]
        return {name: value(point.get(key, 0)) for name, (key, (_, value)) in own.items()}

    def canonical(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The point in which parameters that do not matter have one fixed value."""
        keys = {key for key, _ in self._dicts[point.get(_WHICH, 0)].values()} | {_WHICH}
        return {key: point[key] if key in keys else self._centre[key] for key in point}

    def every(self, most: int) -> list[dict[str, Any]] | None:
        """All points of a space that has few; ``None`` if there are more than ``most``."""
        found = self.space.every(most)
        if found is None:
            return None
        points = [self.canonical(one) for one in self.space.decode(found)]
        return list({tuple(one.values()): one for one in points}.values())


def _entries(given: Any) -> dict[str, Any]:
    """What a user gives for each name."""
    if isinstance(given, Space):
        names = given.names or tuple(f"x{i}" for i in range(given.dimension))
        return dict(zip(names, given.parameters, strict=True))
    if not isinstance(given, Mapping) or not given:
        raise _wrong_space(given)
    return dict(given)


def _wrong_space(given: Any) -> TypeError:
    return TypeError(
        "space must be a dict of lists, distributions or nr.Float, nr.Int, nr.Choice and nr.Bool, "
        f"or a list of such dicts, got {given!r}"
    )


def _made(name: str, given: Any) -> _Made:
    if isinstance(given, Parameter):
        return given, lambda value: value
    if _is_list(given) and len(given):
        return _of_list(list(given))
    if not hasattr(given, "ppf") or hasattr(given, "freeze"):  # SciPy's without parameters
        raise TypeError(
            f"space[{name!r}] must be a list with entries, a scipy.stats distribution with its "
            f"parameters, or nr.Float, nr.Int, nr.Choice or nr.Bool, got {given!r}"
        )
    kind = getattr(getattr(given, "dist", None), "name", "")
    low, high = (float(end) for end in given.support())
    if kind == "randint":
        return (Int(int(low), int(high)), int) if low < high else (None, lambda _: int(low))
    if kind in ("uniform", "loguniform", "reciprocal"):
        return Float(low, high, log=kind != "uniform"), float
    whole = hasattr(given, "pmf") or hasattr(getattr(given, "dist", None), "pmf")
    return Float(*_QUANTILES), lambda value: (int if whole else float)(given.ppf(value))


def _is_list(given: Any) -> bool:
    """Lists, ranges, arrays and columns of frames."""
    if isinstance(given, Sequence):
        return not isinstance(given, (str, bytes))
    return getattr(given, "ndim", 0) == 1 and hasattr(given, "tolist")


def _of_list(entries: list[Any]) -> _Made:
    """Numbers are searched in their order, each once; other entries as categories."""
    if numbers := all(isinstance(e, Real) and not isinstance(e, (bool, np.bool_)) for e in entries):
        entries = sorted(set(entries))
    if len(entries) == 1:
        return None, lambda _: entries[0]
    if numbers and len(entries) > 2:
        return Int(0, len(entries) - 1), entries.__getitem__
    return Choice(list(range(len(entries)))), entries.__getitem__
