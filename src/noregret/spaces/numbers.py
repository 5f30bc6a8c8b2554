"""Parameters that are numbers: real or whole, between two bounds."""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.spaces.parameters import SLACK, Parameter, set_field

#: significant digits of a number whose column holds logarithms
_DIGITS = 12
#: powers of ten up to this one are floats without error
_EXACT_POWER = 22
#: distances of a number's neighbours, as fractions of the column's length
_STEPS = np.array([0.2, 0.05, 0.01, 0.002])
#: whole numbers that a column holds exactly, and whose logarithms tell them apart
_LARGEST, _LARGEST_LOG = 1 << 53, 1 << 40


@dataclass(frozen=True)
class Float(Parameter):
    """A number between two others.

    Parameters
    ----------
    low, high
        The smallest and the largest value; a constant where they are equal.
    log
        Whether equal ratios are equal changes, as for learning rates. ``low`` must be above 0.
        Values then have 12 significant digits.
    """

    low: float
    high: float
    log: bool = False

    is_number = True

    def __post_init__(self) -> None:
        set_field(self, "low", _checks.finite("low", self.low))
        set_field(self, "high", _checks.finite("high", self.high))
        if self.low > self.high:
            raise ValueError(f"low must be at most high, got {self.low} and {self.high}")
        if not self.log and 0.0 < self.high - self.low < 1 / _checks.LARGEST:
            raise ValueError(
                f"high - low must be at least {1 / _checks.LARGEST:g}, or 0 for a constant, got "
                f"{self.low} and {self.high}"
            )
        _check_log(self.log, self.low)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest entry of the column."""
        low, high = np.log([self.low, self.high]).tolist() if self.log else (self.low, self.high)
        return low, high

    def encode(self, value: Any) -> float:
        """The value, or its logarithm."""
        number = _checks.finite("value", value)
        slack = SLACK * (self.high - self.low)
        if not self.low - slack <= number <= self.high + slack:
            raise ValueError(f"value must lie in [{self.low}, {self.high}], got {value!r}")
        number = min(max(number, self.low), self.high)
        return float(self.snap(np.log([number]))[0]) if self.log else number

    def decode(self, column: Floats) -> list[Any]:
        """The values."""
        return self._values(column) if self.log else column.tolist()

    def _values(self, logs: Floats) -> list[float]:
        """Values rounded so that each has exactly one entry; the ends are kept as they are."""
        low, high = self.ends
        values = np.clip(_rounded(np.exp(logs)), self.low, self.high)
        values = np.where(logs <= low, self.low, np.where(logs >= high, self.high, values))
        return [float(value) for value in values]

    def snap(self, column: Floats) -> Floats:
        """The entries themselves, between the ends; logarithms of rounded values."""
        if self.log:
            return np.log(self._values(column))
        return np.clip(column, self.low, self.high)

    def place(self, unit: Floats, low: float, high: float) -> Floats:
        """Entries (n), uniform for ``unit`` (n) uniform in [0, 1)."""
        inside = low + (high - low) * unit
        return np.clip(self.snap(inside), low, high) if self.log else inside

    def inner_ends(self, low: float, high: float) -> tuple[float, float]:
        """The two numbers, moved into the parameter's range."""
        first, last = self.snap(np.array([low, high])).tolist()
        return first, last

    def how_many(self, low: float, high: float) -> float:
        """∞, or 1 if both ends are the same."""
        return math.inf if high > low else 1.0

    def entries(self, low: float, high: float) -> Floats:
        """The two themselves."""
        return np.array([low, high])

    def neighbours(self, entry: float, low: float, high: float) -> Floats:
        """Entries at some distances on both sides."""
        steps = (high - low) * _STEPS
        found = self.snap(np.concatenate([entry - steps, entry + steps]))
        return np.asarray(found[(found >= low) & (found <= high) & (found != entry)])

    def parse(self, text: str) -> float:
        """A number."""
        return float(text)

    def spec(self) -> dict[str, Any]:
        """The parameter as JSON."""
        return {"type": "float", "low": self.low, "high": self.high, "log": self.log}


@dataclass(frozen=True)
class Int(Parameter):
    """A whole number between two others: ``low``, ``low + step``, … up to ``high``.

    Parameters
    ----------
    low, high
        The smallest and the largest value; a constant where they are equal.
    log
        Whether equal ratios are equal changes, as for batch sizes. ``low`` must be above 0.
    step
        The distance of two values; ``high − low`` must be a multiple of it.
    """

    low: int
    high: int
    log: bool = False
    step: int = 1

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            set_field(self, name, _whole(name, getattr(self, name)))
        set_field(self, "step", _checks.count("step", self.step))
        if self.low > self.high:
            raise ValueError(f"low must be at most high, got {self.low} and {self.high}")
        most = _LARGEST_LOG if self.log else _LARGEST
        if max(abs(self.low), abs(self.high)) > most:
            raise ValueError(f"low and high must be at most {most}, got {self.low} and {self.high}")
        if (self.high - self.low) % self.step:
            raise ValueError(
                f"step must divide high − low = {self.high - self.low}, got {self.step}"
            )
        _check_log(self.log, self.low)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest entry of the column."""
        low, high = self._entries(np.array([self.low, self.high])).tolist()
        return low, high

    def encode(self, value: Any) -> float:
        """The value, or its logarithm."""
        number = _whole("value", value)
        if not self.low <= number <= self.high or (number - self.low) % self.step:
            steps = f" in steps of {self.step}" if self.step > 1 else ""
            raise ValueError(
                f"value must be a whole number in [{self.low}, {self.high}]{steps}, got {value!r}"
            )
        return float(self._entries(np.array([number]))[0])

    def _entries(self, values: Any) -> Floats:
        numbers = np.asarray(values, dtype=np.float64)
        return np.log(numbers) if self.log else numbers

    def _numbers(self, column: Floats) -> Floats:
        """The numbers, perhaps not whole, of entries (n)."""
        return np.exp(column) if self.log else column

    def _nearest(self, numbers: Floats) -> Floats:
        """The nearest values (n)."""
        steps = np.rint((np.clip(numbers, self.low, self.high) - self.low) / self.step)
        return np.asarray(self.low + self.step * steps)

    def decode(self, column: Floats) -> list[Any]:
        """The values."""
        return [int(value) for value in self._nearest(self._numbers(column)).tolist()]

    def snap(self, column: Floats) -> Floats:
        """The entries (n) of the nearest values."""
        return self._entries(self._nearest(self._numbers(column)))

    def place(self, unit: Floats, low: float, high: float) -> Floats:
        """Entries (n) between two others; every value gets half a step on both sides."""
        first, last = self._nearest(self._numbers(np.array([low, high]))).tolist()
        half = 0.5 * self.step
        if self.log:
            # With a low of 1 and a step of 2, half a step below low is 0, which has no logarithm:
            # use low/3.
            start, stop = math.log(max(first - half, first / 3.0)), math.log(last + half)
            numbers = np.exp(start + (stop - start) * unit)
        else:
            numbers = first - half + (last - first + self.step) * unit
        return self._entries(np.clip(self._nearest(numbers), first, last))

    def inner_ends(self, low: float, high: float) -> tuple[float, float]:
        """The smallest and the largest entry that lie between two numbers."""
        ends = np.clip(self._numbers(np.array([low, high])), self.low, self.high)
        steps = (ends - self.low) / self.step
        first, last = math.ceil(steps[0] - SLACK), math.floor(steps[1] + SLACK)
        entries = self._entries(self.low + self.step * np.array([first, last]))
        return float(entries[0]), float(entries[1])

    def how_many(self, low: float, high: float) -> float:
        """How many entries there are between two."""
        first, last = self._nearest(self._numbers(np.array([low, high]))).tolist()
        return max(float((last - first) / self.step) + 1.0, 0.0)

    def entries(self, low: float, high: float) -> Floats:
        """All entries between two."""
        first, last = self._nearest(self._numbers(np.array([low, high]))).tolist()
        return self._entries(np.arange(first, last + 1.0, self.step))

    def neighbours(self, entry: float, low: float, high: float) -> Floats:
        """The entries 1, 2, 4, … values away on both sides."""
        first, value, last = self._nearest(self._numbers(np.array([low, entry, high]))).tolist()
        reach = max(value - first, last - value) / self.step
        jumps = self.step * 2.0 ** np.arange(math.ceil(math.log2(reach + 1)))
        found = np.concatenate([value - jumps, value + jumps])
        return self._entries(found[(found >= first) & (found <= last)])

    def parse(self, text: str) -> int:
        """A whole number; 8.0 is one too."""
        return _whole("value", float(text))

    def spec(self) -> dict[str, Any]:
        """The parameter as JSON."""
        ends = {"low": self.low, "high": self.high}
        return {"type": "int", **ends, "log": self.log, "step": self.step}


def _rounded(values: Floats) -> Floats:
    """Values above 0 (n) with 12 significant digits, the nearest floats to those decimals."""
    shift = _DIGITS - 1 - np.floor(np.log10(values))
    if np.all(np.abs(shift) <= _EXACT_POWER):  # one rounding only: the result is exact
        up, down = 10.0 ** np.maximum(shift, 0.0), 10.0 ** np.maximum(-shift, 0.0)
        return np.asarray(np.rint(values * up / down) * down / up)
    return np.array([float(f"{value:.{_DIGITS - 1}e}") for value in values.tolist()])


def _whole(name: str, value: Any) -> int:
    """``value`` as an integer; 8.0 is one too."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if not isinstance(value, Integral) and not float(value).is_integer():
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return int(value) if isinstance(value, Integral) else int(float(value))


def _check_log(log: Any, low: float) -> None:
    if not isinstance(log, bool):
        raise TypeError(f"log must be True or False, got {log!r}")
    if log and low <= 0:
        raise ValueError(f"low must be above 0 with log=True, got {low}")
