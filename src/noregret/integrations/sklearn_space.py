"""Spaces as users of scikit-learn give them: lists and distributions by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.spaces import Choice, Float, Int, Space
from noregret.spaces.parameters import Parameter

#: a distribution of any other kind is searched between these quantiles
_QUANTILES = 0.001, 0.999


class Codec:
    """Turns the space of a scikit-learn user into ours, and our points into parameters."""

    def __init__(self, given: Any) -> None:
        if isinstance(given, Space):
            names = given.names or tuple(f"x{i}" for i in range(given.dimension))
            given = dict(zip(names, given.parameters, strict=True))
        if not isinstance(given, Mapping) or not given:
            raise TypeError(
                "space must be a dict of lists, distributions or nr.Float, nr.Int, nr.Choice and "
                f"nr.Bool, got {given!r}"
            )
        made = {name: _parameter(name, one) for name, one in given.items()}
        self.names = list(made)
        self._fixed = {name: one[1](0) for name, one in made.items() if one[0] is None}
        self._values = {name: one[1] for name, one in made.items() if one[0] is not None}
        varied = {name: one[0] for name, one in made.items() if one[0] is not None}
        if not varied:
            raise ValueError("space must have a parameter with more than one value")
        self.space = Space(varied)

    def params(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of an estimator."""
        values = {name: self._values[name](value) for name, value in point.items()}
        return {name: {**self._fixed, **values}[name] for name in self.names}


def _parameter(name: str, given: Any) -> tuple[Any, Any]:
    """Our parameter (``None``: one value only), and what turns its values into the user's."""
    if isinstance(given, Parameter):
        return given, lambda value: value
    if isinstance(given, (list, tuple, np.ndarray)) and len(given):
        entries = list(given)
        return (
            Choice(list(range(len(entries)))) if len(entries) > 1 else None
        ), entries.__getitem__
    if not hasattr(given, "ppf"):
        raise TypeError(
            f"space[{name!r}] must be a list, a scipy.stats distribution, or nr.Float, nr.Int, "
            f"nr.Choice or nr.Bool, got {given!r}"
        )
    kind = getattr(getattr(given, "dist", None), "name", "")
    low, high = (float(end) for end in given.support())
    if kind == "randint":
        return Int(int(low), int(high)), int
    if kind in ("uniform", "loguniform", "reciprocal"):
        return Float(low, high, log=kind != "uniform"), float
    quantile = Float(*_QUANTILES)
    whole = hasattr(given, "pmf") or hasattr(getattr(given, "dist", None), "pmf")
    return quantile, lambda value: (int if whole else float)(given.ppf(value))
