"""Who is next inside a cell of a cover? Its candidates on a list, a search in a box."""

from typing import Any, Protocol

import numpy as np

from noregret._types import Bools, Floats, Ints, Points
from noregret.models.assumptions import Assumptions
from noregret.models.cover import Cover, Key
from noregret.picking.covers.bounds import CoverBounds, Leader
from noregret.picking.covers.boxes import InBox
from noregret.picking.covers.lists import InList
from noregret.spaces import Box, Candidates, Space


class Inside(Protocol):
    """Finds the leader of a cell, and remembers what it needs for that."""

    @property
    def compares_all(self) -> bool:
        """Whether the leader is the best of all choices in its cell; else of those searched."""

    def first(self) -> Any:
        """The choice that is recommended before anything is told."""

    def are_choices(self, ids: Ints) -> Bools:
        """Which arms can still be chosen (n): not those of a list that has been replaced."""

    def start(self, cover: Cover, assumed: Assumptions, *, intersected: bool) -> list[Key]:
        """Begin with a cover; the cells that there is something to choose in."""

    def split(self, cover: Cover, key: Key) -> list[Key]:
        """A cell has split; the cells in its place."""

    def copy(self) -> "Inside":
        """A copy; changes of one do not reach the other."""

    def look(
        self, view: CoverBounds, key: Key, closed: Ints, width: float | None, *, keep: bool
    ) -> Leader:
        """The leader of a cell without the candidates that are closed (ids in rising order).

        ``width`` is given where it grows with time. With ``keep``, what was seen is remembered. A
        cell that is closed has a bound of −∞.
        """

    def draw(self, view: CoverBounds, key: Key, closed: Ints, rng: np.random.Generator) -> Any:
        """A choice in a cell that nothing is known of: one with the largest bound, at random."""

    def locate(self, choice: Any) -> tuple[int, Points]:
        """The id and the point of a choice."""

    def cap(self, key: Key, ids: Ints, upper: Floats) -> Floats:
        """Upper bounds of choices in a cell (n), no larger than the smallest so far."""

    def smallest(self) -> Floats | None:
        """The smallest upper bound so far of every candidate (A), where there are candidates."""

    def safest(self, view: CoverBounds, point: Points, rng: np.random.Generator) -> Points:
        """A choice whose lower bound is at least as large as that of a told point."""

    def restart(self, space: Any) -> None:
        """Another list."""

    def extend(self, cover: Cover) -> list[Key]:
        """Take in candidates that the list has grown by; the cells that hold them."""


def in_cells(space: Candidates | Space, box: Box | None, seed: int) -> Inside:
    """What chooses inside the cells of a list or a box."""
    return InList(space, box) if isinstance(space, Candidates) else InBox(space, seed)
