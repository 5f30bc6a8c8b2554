"""A box or space from a dict: the quick way to write one."""

from collections.abc import Mapping
from typing import Any

from noregret.spaces.box import Box
from noregret.spaces.numbers import Float
from noregret.spaces.parameters import Parameter
from noregret.spaces.shorthand import as_parameter
from noregret.spaces.space import Space


def named_space(given: Mapping[Any, Any]) -> Space:
    """A box if all values are pairs (low, high), else a space of what the values mean."""
    if not given:
        raise ValueError("domain must have at least one parameter, got {}")
    meant = {name: as_parameter(str(name), one) for name, one in given.items()}
    pairs = not any(isinstance(one, Parameter) for one in given.values())
    if pairs and all(isinstance(one, Float) for one in meant.values()):
        return Box(given)
    return Space(meant)
