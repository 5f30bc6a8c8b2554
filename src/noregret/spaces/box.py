"""A box of numbers, each between two bounds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.spaces.candidates import Candidates
from noregret.spaces.numbers import Float
from noregret.spaces.sources import Opened
from noregret.spaces.space import Space

#: the largest grid that ``Box.grid`` makes
_LARGEST_GRID = 100_000_000


class Box(Space):
    """A box of d numbers, each between two bounds: a :class:`~noregret.Space` of numbers only.

    Parameters
    ----------
    bounds
        ``[(lo, hi), ...]``, or ``{"name": (lo, hi), ...}``. A dimension is constant where lo = hi.
        With names, users see points as dicts, otherwise as vectors of d floats.

    Attributes
    ----------
    lower, upper
        The bounds (d each).
    names
        The dimensions' names where a mapping was given, else ``None``.
    """

    encoded = False

    def __init__(self, bounds: Any) -> None:
        names: tuple[str, ...] | None = None
        if isinstance(bounds, Mapping):
            names = tuple(bounds)
            bounds = list(bounds.values())
        try:
            array = np.array(bounds, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"bounds must be pairs (lo, hi) of numbers, got {bounds!r}") from error
        if array.ndim != 2 or array.shape[1] != 2 or not len(array):
            hint = ""
            if array.ndim == 2 and len(array) == 2:
                hint = "; if these are the lower and the upper bounds: np.transpose(bounds)"
            raise ValueError(
                f"bounds must be one pair (lo, hi) per dimension, got {bounds!r}{hint}"
            )
        if not np.all(np.isfinite(array)):
            raise ValueError(f"bounds must be finite, got {bounds!r}")
        for i, (low, high) in enumerate(array):
            if low > high:
                name = names[i] if names else f"dimension {i}"
                raise ValueError(f"bounds must have lo ≤ hi, got ({low}, {high}) for {name}")
        sides = [Float(low, high) for low, high in array.tolist()]
        super().__init__(dict(zip(names or map(str, range(len(sides))), sides, strict=True)))
        self.names = names

    @property
    def bounds(self) -> Floats:
        """d × 2: the pairs (lo, hi)."""
        return np.column_stack([self.lower, self.upper])

    def labels(self, ids: Ints, points: Sequence[Any] | Points) -> list[Any]:
        """What a user's function gets for choices (n): dicts if there are names, else rows."""
        return list(points) if self.names is None else super().labels(ids, points)

    def grid(self, n: int) -> Candidates:
        """n values per dimension, bounds included: a list of nᵈ candidates.

        A dimension that is constant has one value. With names, users see points as dicts.
        """
        n = _checks.count("n", n)
        free = int(np.sum(self.lower < self.upper))
        if n**free > _LARGEST_GRID:
            raise ValueError(f"a grid of {n}^{free} points is too large")
        axes = [np.linspace(a, b, n if a < b else 1) for a, b in self.bounds]
        mesh = np.meshgrid(*axes, indexing="ij")
        points = np.column_stack([axis.ravel() for axis in mesh])
        if self.names is None:
            return Candidates(points)
        from noregret.spaces.encoding import encoder_of_numbers  # polars is slow to import

        return Candidates(Opened(points, self.names, encoder=encoder_of_numbers(self.names)))

    def __repr__(self) -> str:
        names = self.names or [f"x{i}" for i in range(self.dimension)]
        sides = ", ".join(
            f"{name}: [{a:g}, {b:g}]" for name, (a, b) in zip(names, self.bounds, strict=True)
        )
        return f"Box({sides})"
