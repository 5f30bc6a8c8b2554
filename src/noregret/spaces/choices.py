"""Parameters without an order: one of some values, yes or no."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from noregret._types import Floats
from noregret.spaces.parameters import SLACK, set_field

#: allowed types of a category: those that a file can hold and a program can be given
_PLAIN = (str, bool, int, float, type(None))


class _Category(ABC):
    """One of some values that have no order."""

    is_number = False
    is_category = True
    log = False

    @property
    @abstractmethod
    def values(self) -> tuple[Any, ...]:
        """The values, in the order of their positions."""

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last position."""
        return 0.0, float(len(self.values) - 1)

    def encode(self, value: Any) -> float:
        """The position of a value."""
        plain = value.item() if isinstance(value, np.generic) else value
        for position, own in enumerate(self.values):
            if own == plain and isinstance(own, bool) == isinstance(plain, bool):
                return float(position)
        allowed = ", ".join(repr(own) for own in self.values[:20])
        raise ValueError(f"value must be one of {allowed}, got {value!r}")

    def decode(self, column: Floats) -> list[Any]:
        """The values."""
        return [self.values[int(position)] for position in column.tolist()]

    def snap(self, column: Floats) -> Floats:
        """The nearest positions (n)."""
        return np.clip(np.rint(column), *self.ends) + 0.0  # no −0.0

    def place(self, unit: Floats, low: float, high: float) -> Floats:
        """Positions (n), uniform for ``unit`` (n) uniform in [0, 1)."""
        return np.minimum(np.floor(low + (high - low + 1.0) * unit), high)

    def inner_ends(self, low: float, high: float) -> tuple[float, float]:
        """The first and the last position that lie between two numbers."""
        ends = self.ends
        first, last = math.ceil(low - SLACK), math.floor(high + SLACK)
        return max(float(first), ends[0]), min(float(last), ends[1])

    def how_many(self, low: float, high: float) -> float:
        """How many positions there are between two."""
        return max(high - low + 1.0, 0.0)

    def entries(self, low: float, high: float) -> Floats:
        """All positions between two."""
        return np.arange(low, high + 1.0)

    def neighbours(self, entry: float, low: float, high: float) -> Floats:
        """All other positions."""
        every = self.entries(low, high)
        return np.asarray(every[every != entry])


@dataclass(frozen=True)
class Choice(_Category):
    """One of some values without an order: texts, numbers, booleans, ``None``.

    Parameters
    ----------
    choices
        The values, all different; a constant where there is one.
    """

    choices: Sequence[Any]

    def __post_init__(self) -> None:
        given = self.choices
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise TypeError(f"choices must be a list of values, got {given!r}")
        plain = tuple(one.item() if isinstance(one, np.generic) else one for one in given)
        for one in plain:
            if not isinstance(one, _PLAIN) or (isinstance(one, float) and not math.isfinite(one)):
                raise TypeError(
                    f"choices must be texts, finite numbers, booleans or None, got {one!r}: give "
                    "other objects names, and look them up in f"
                )
        if not plain or len(set(plain)) < len(plain):
            raise ValueError(f"choices must be at least one, all different, got {given!r}")
        set_field(self, "choices", plain)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, in the order of their positions."""
        return tuple(self.choices)

    def parse(self, text: str) -> Any:
        """The choice that is written like this."""
        for own in self.values:
            if text in (str(own), json.dumps(own)):
                return own
        for own in self.values:
            if _is_number(own) and _is_number(read := read_plain(text)) and read == own:
                return own
        return text

    def spec(self) -> dict[str, Any]:
        """The parameter as JSON."""
        return {"type": "choice", "choices": list(self.values)}


@dataclass(frozen=True)
class Bool(_Category):
    """``True`` or ``False``."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, in the order of their positions."""
        return False, True

    def parse(self, text: str) -> Any:
        """``true``, ``yes`` and 1 mean ``True``; ``false``, ``no`` and 0 mean ``False``."""
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        return words.get(text.strip().lower(), text)

    def spec(self) -> dict[str, Any]:
        """The parameter as JSON."""
        return {"type": "bool"}


def read_plain(text: str) -> Any:
    """A text as a number or boolean where it is written like one, else the text itself."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, bool | int | float) else text


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
