"""The contract of one parameter of a space.

A parameter is one column of the encoded points. Equal distance in a column of numbers means equal
change: columns of parameters with ``log`` hold logarithms. A column of choices holds their
positions 0, 1, …, which only say whether two points have the same choice.
"""

from abc import abstractmethod
from typing import Any, Protocol, runtime_checkable

from noregret._types import Floats

#: differences below this fraction of a column's length are round-off, not errors
SLACK = 1e-9


@runtime_checkable
class Parameter(Protocol):
    """One parameter: what its values are, and how they are written as a column of numbers.

    Attributes
    ----------
    is_number
        Whether every number between the ends is an entry.
    is_category
        Whether the column holds positions of categories: distances mean nothing there.
    log
        Whether the column holds logarithms.
    """

    is_number: bool = False
    is_category: bool = False
    log: bool = False

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest entry of the column."""

    @abstractmethod
    def encode(self, value: Any) -> float:
        """The entry of the column for a value; values that are not allowed are refused."""

    @abstractmethod
    def decode(self, column: Floats) -> list[Any]:
        """The values, plain Python objects, of entries (n) that :meth:`snap` leaves alone."""

    @abstractmethod
    def snap(self, column: Floats) -> Floats:
        """The entries (n) of the nearest values."""

    @abstractmethod
    def place(self, unit: Floats, low: float, high: float) -> Floats:
        """Entries (n) between two others; uniform for ``unit`` (n) uniform in [0, 1)."""

    @abstractmethod
    def inner_ends(self, low: float, high: float) -> tuple[float, float]:
        """The smallest and the largest entry that lie between two numbers.

        The second is below the first where there is none.
        """

    @abstractmethod
    def how_many(self, low: float, high: float) -> float:
        """How many entries there are between two, ∞ for numbers."""

    @abstractmethod
    def entries(self, low: float, high: float) -> Floats:
        """All entries between two; the two themselves for numbers."""

    @abstractmethod
    def neighbours(self, entry: float, low: float, high: float) -> Floats:
        """Entries between two others that are one step away."""

    @abstractmethod
    def parse(self, text: str) -> Any:
        """The value that a text means, as in a file or on the command line."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """JSON that :func:`~noregret.spaces.description.parameter_of` reads."""


def set_field(made: Any, name: str, value: Any) -> None:
    """Set a field of a frozen dataclass while it is made."""
    object.__setattr__(made, name, value)
