"""What may be chosen? A list of candidates, a box of numbers, or a space of parameters.

All of them have the methods of :class:`Domain`, so that no other code needs to know which one it
has.
"""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.spaces.box import Box
from noregret.spaces.candidates import Candidates
from noregret.spaces.choices import Bool, Choice
from noregret.spaces.named import named_space
from noregret.spaces.numbers import Float, Int
from noregret.spaces.shorthand import refuse_unclear
from noregret.spaces.space import Space


class Domain(Protocol):
    """The methods that every kind of domain has.

    Attributes
    ----------
    size
        How many choices there are, with ids 0 … size − 1; ``None`` on a box or space, where every
        point has the id −1.
    encoded
        Whether points hold other numbers than users see: logarithms, or positions of categories.
    names
        The names of the dimensions, where there are any.
    """

    encoded: bool
    names: tuple[str, ...] | None

    @property
    def size(self) -> int | None:
        """How many choices there are; ``None`` on a box or space."""

    @property
    def categories(self) -> tuple[int, ...]:
        """The columns that hold positions of categories: distances mean nothing there."""

    @property
    def dimension(self) -> int | None:
        """d, or ``None`` for objects."""

    @property
    def corners(self) -> Points:
        """Points (k × d) whose bounding box holds every choice; all of a list of objects."""

    @property
    def nothing(self) -> Points:
        """No points (0 × d, or no objects), in the type that points have here."""

    def locate(self, given: Any) -> tuple[Ints, Points]:
        """The ids (n) and points (n × d) of what a user gave, checked."""

    def references(self, ids: Any, points: Any) -> Any:
        """What names choices in calls of an optimiser: ids on a list, points in a box or space."""

    def numbers(self) -> "Domain":
        """The same domain with bytes as numbers."""

    def any_points(self, given: Any) -> Points:
        """Points (n × d) of what a user gave, checked: on the list or not, inside or not."""

    def locate_all(self) -> tuple[Ints, Points]:
        """The ids and points of every choice; refused on a box."""

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Ints, Points]:
        """Ids (n) and points (n × d) uniformly at random."""

    def spread(self, n: int, rng: np.random.Generator) -> Points:
        """Up to n points spread over the domain (n × d)."""

    def pack(self, ids: Ints, points: Points) -> list[tuple[int, bytes | None]]:
        """The bytes that a file stores for each choice: its id, and on a box its point."""

    def unpack(self, packed: list[tuple[int, bytes | None]]) -> Ints | Floats:
        """The ids, or points of a box, that :meth:`pack` stored."""

    def labels(self, ids: Ints, points: Sequence[Any] | Points) -> list[Any]:
        """What a user's function gets for choices (n): dicts if there are names, else points."""


def as_domain(domain: Any) -> Candidates | Space:
    """``domain`` itself, the box or space that a dict describes, or a list of candidates."""
    if isinstance(domain, (Candidates, Space)):
        return domain
    refuse_unclear(domain)
    if domain is None or isinstance(domain, Real):
        raise TypeError(
            "domain must be an nr.Box, bounds by name, or candidates (an array of n rows, a frame, "
            f"a list), got {domain!r}"
        )
    return named_space(domain) if isinstance(domain, Mapping) else Candidates(domain)


def as_candidates(domain: Any) -> Candidates:
    """``domain`` itself, or the list it describes; boxes and spaces are refused."""
    if isinstance(domain, Box):
        raise TypeError("domain must be a list of candidates, not a box: try box.grid(n)")
    if isinstance(domain, Space):
        raise TypeError("domain must be a list of candidates, not a space")
    return domain if isinstance(domain, Candidates) else Candidates(domain)


def list_to_change(domain: Any, change: str) -> Candidates:
    """``domain`` itself, a list whose candidates can be changed in some way, such as added."""
    if not isinstance(domain, Candidates):
        raise TypeError(f"candidates of a list can be {change}, not points of a box or space")
    return domain


def as_space(domain: Any) -> Space:
    """``domain`` itself, a box or space; lists are refused."""
    if not isinstance(domain, Space):
        raise ValueError(f"domain must be a Box or a Space, got {domain!r}")
    return domain


def box_of(given: Any) -> Box:
    """A box: the one that is given, or the one that bounds make."""
    return given if isinstance(given, Box) else Box(given)


def as_box(domain: Any) -> Box:
    """``domain`` itself, a box; lists and other spaces are refused."""
    if not isinstance(domain, Box):
        raise ValueError(f"domain must be a Box, got {domain!r}")
    return domain


__all__ = [
    "Bool",
    "Box",
    "Candidates",
    "Choice",
    "Domain",
    "Float",
    "Int",
    "Space",
    "as_box",
    "as_candidates",
    "as_domain",
    "as_space",
    "box_of",
    "list_to_change",
]
