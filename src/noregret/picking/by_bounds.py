"""Lets a chooser with its own way of picking recommend and predict by bounds."""

from typing import Any, Generic, TypeVar

from noregret._types import Floats, Ints, Points
from noregret.picking.chooser import Chooser, Interval, Situation

Other = TypeVar("Other", bound=Chooser)


class LooksByBounds(Generic[Other]):
    """Recommends and predicts as another chooser does.

    Attributes
    ----------
    by_bounds
        That other chooser.
    """

    def __init__(self, by_bounds: Other) -> None:
        self.by_bounds = by_bounds

    @property
    def follows_aim(self) -> bool:
        """Such a chooser picks for the one best candidate."""
        return False

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The choices to recommend, by their lower bounds."""
        return self.by_bounds.ranking(now, count)

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """How much better than each of some choices any other can be (k)."""
        return self.by_bounds.gaps(now, found)

    def proves_gaps(self, now: Situation) -> bool:
        """Whether these gaps are proved if a theorem covers the width."""
        return self.by_bounds.proves_gaps(now)

    def alive(self, now: Situation) -> int | None:
        """``None``: bounds that picks do not use are not kept up to date; ``certify`` counts."""
        return None

    def highest(self, now: Situation, without: Ints) -> float:
        """The largest upper bound of all candidates but some."""
        return self.by_bounds.highest(now, without)

    def extend(self, space: Any) -> None:
        """The list has grown at its end."""
        self.by_bounds.extend(space)

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance of choices (n each)."""
        return self.by_bounds.predict(now, ids, points)

    def restart(self, space: Any, *, keep: bool = False) -> None:
        """Another list, or with ``keep`` the same one after a run was loaded."""
        self.by_bounds.restart(space, keep=keep)
