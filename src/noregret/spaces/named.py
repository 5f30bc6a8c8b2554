"""A box or space from a dict: the quick way to write one."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from noregret.spaces.box import Box
from noregret.spaces.numbers import Float
from noregret.spaces.parameters import Parameter
from noregret.spaces.space import Space


def named_space(given: Mapping[Any, Any]) -> Space:
    """A box if all values are pairs (low, high), else a space, where pairs are floats."""
    _check_parameters(given)
    if not any(isinstance(one, Parameter) for one in given.values()):
        return Box(given)
    return Space({n: Float(*x) if is_pair(x) else x for n, x in given.items()})


def _check_parameters(given: Mapping[Any, Any]) -> None:
    """Refuse what is neither bounds nor a parameter, and say how it is written."""
    if not given:
        raise ValueError("domain must have at least one parameter, got {}")
    for name, one in given.items():
        if isinstance(one, (Parameter, np.ndarray)) or is_pair(one):
            continue
        hint = ""
        if isinstance(one, range) and len(one):
            step = f", step={one.step}" if one.step != 1 else ""
            hint = f"; whole numbers are written nr.Int({one[0]}, {one[-1]}{step})"
        elif isinstance(one, (list, tuple)):
            hint = f"; choices are written nr.Choice({list(one)!r})"
        raise TypeError(
            f"domain must have a pair (low, high) of numbers or a parameter for {name!r}, got "
            f"{one!r}{hint}"
        )


def is_pair(pair: Any) -> bool:
    """Whether this is a pair of numbers."""
    return (
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and all(isinstance(end, Real) and not isinstance(end, bool) for end in pair)
    )
