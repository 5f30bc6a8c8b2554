"""What an optimiser hands out: batches, recommendations, the history."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points


@dataclass(frozen=True, eq=False)
class BatchInfo:
    """Why a batch looks as it does.

    Attributes
    ----------
    upper
        The upper confidence bound of each pick when it was picked (n floats).
    beta
        The width in use: bounds are mean ± beta · std.
    ratio
        The bound on the ratio of posterior variances at the end of the batch (1 for sequential
        rules).
    dictionary_size
        Inducing points in use.
    """

    upper: Floats
    beta: float
    ratio: float
    dictionary_size: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Points to evaluate next, which can be told in parts: ``opt.tell(batch[:3], y[:3])``.

    Attributes
    ----------
    ids
        n row numbers; −1 on a box or space.
    points
        n × d, as the model sees them, or a vector of n objects. Read only, as ``ids``.
    values
        What a function of one choice gets (n): dicts if parameters or columns have names, else rows
        of numbers; objects on a list of objects. A function may change what it gets.
    """

    ids: Ints
    points: Points
    values: list[Any] = field(repr=False)
    info: BatchInfo | None = field(default=None, repr=False)
    #: whether the points were drawn uniformly at random
    uniform: bool = field(default=False, repr=False)
    #: whether the points were spread over the list before anything was known
    spread: bool = field(default=False, repr=False)
    #: how often the list had been replaced, and the arms' rows, for batches told late
    generation: int = field(default=0, repr=False)
    rows: Ints | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("ids", "points"):  # a batch is told by them
            kept = getattr(self, name).view()
            kept.flags.writeable = False
            object.__setattr__(self, name, kept)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.points)

    def __getitem__(self, which: Any) -> "Batch":
        """The part of the batch at these positions."""
        chosen = np.atleast_1d(np.arange(len(self))[which])
        rows = None if self.rows is None else self.rows[chosen]
        values = [self.values[i] for i in chosen]
        return replace(
            self,
            ids=self.ids[chosen],
            points=self.points[chosen],
            values=values,
            info=None,
            rows=rows,
        )


@dataclass(frozen=True)
class Recommendation:
    """The choice with the largest lower confidence bound (``id`` is −1 on a box or space).

    ``point`` is what a function of one choice gets, see :class:`Batch`. With probability 1 − δ the
    choice's value lies in [``lower``, ``upper``], and no choice is better by more than ``gap``, if
    the theorem behind the width applies. ``mean`` is the posterior mean; the median if rewards are
    warped (:class:`~noregret.TrustRegionUCB` with learnt settings).

    ``evaluations`` says how often the choice was measured, and ``measured`` is the mean of those
    values (``None`` if there are none).
    """

    id: int
    point: Any = field(compare=False)
    mean: float
    lower: float
    upper: float
    gap: float
    evaluations: int = 0
    measured: float | None = None


@dataclass(frozen=True, eq=False)
class History:
    """Everything told, in order.

    Attributes
    ----------
    ids
        t row numbers; −1 if the list has been replaced since, and on a box.
    points
        t × d, or t objects.
    rewards
        t floats.
    """

    ids: Ints
    points: Points
    rewards: Floats

    def __len__(self) -> int:
        return len(self.rewards)
