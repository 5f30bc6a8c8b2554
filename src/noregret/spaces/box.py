"""A box of numbers, each between two bounds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.spaces.candidates import Candidates

#: the largest grid that ``Box.grid`` makes
_LARGEST_GRID = 100_000_000


class Box:
    """A box of d numbers, each between two bounds.

    Parameters
    ----------
    bounds
        ``[(lo, hi), ...]``, or ``{"name": (lo, hi), ...}``.

    Attributes
    ----------
    lower, upper
        The bounds (d each).
    names
        The dimensions' names where a mapping was given, else ``None``.
    """

    listed = False

    def __init__(self, bounds: Any) -> None:
        self.names: tuple[str, ...] | None = None
        if isinstance(bounds, Mapping):
            self.names = tuple(str(name) for name in bounds)
            bounds = list(bounds.values())
        try:
            array = np.array(bounds, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"bounds must be pairs (lo, hi) of numbers, got {bounds!r}") from error
        if array.ndim != 2 or array.shape[1] != 2 or not len(array):
            raise ValueError(f"bounds must be one pair (lo, hi) per dimension, got {bounds!r}")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"bounds must be finite, got {bounds!r}")
        for i, (low, high) in enumerate(array):
            if low >= high:
                name = self.names[i] if self.names else f"dimension {i}"
                raise ValueError(f"bounds must have lo < hi, got ({low}, {high}) for {name}")
        self.lower: Floats = array[:, 0].copy()
        self.upper: Floats = array[:, 1].copy()

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.lower)

    @property
    def bounds(self) -> Floats:
        """d × 2: the pairs (lo, hi)."""
        return np.column_stack([self.lower, self.upper])

    @property
    def corners(self) -> Points:
        """The lower and the upper corner (2 × d)."""
        return np.stack([self.lower, self.upper])

    @property
    def nothing(self) -> Points:
        """No points (0 × d)."""
        return np.empty((0, self.dimension))

    def grid(self, n: int) -> Candidates:
        """n values per dimension, bounds included: a list of nᵈ candidates."""
        n = _checks.count("n", n)
        if n**self.dimension > _LARGEST_GRID:
            raise ValueError(f"a grid of {n}^{self.dimension} points is too large")
        axes = [np.linspace(a, b, n) for a, b in self.bounds]
        mesh = np.meshgrid(*axes, indexing="ij")
        candidates = Candidates(np.column_stack([axis.ravel() for axis in mesh]))
        candidates.names = self.names
        return candidates

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Ints, Points]:
        """Ids (n, all −1) and n points uniformly at random (n × d)."""
        points = rng.uniform(self.lower, self.upper, size=(n, self.dimension))
        return np.full(n, -1, dtype=np.int64), points

    def spread(self, n: int, rng: np.random.Generator) -> Floats:
        """n points of a scrambled Sobol sequence (n × d)."""
        from scipy.stats import qmc  # slow to import, and lists do not need it

        # SciPy spawns from the generator, which its saved state does not tell: give it a fresh one.
        own = np.random.default_rng(rng.integers(1 << 63))
        engine = qmc.Sobol(self.dimension, rng=own)
        unit = engine.random_base2(int(np.ceil(np.log2(max(n, 1)))))[:n]
        return np.asarray(qmc.scale(unit, self.lower, self.upper))

    def locate(self, given: Any) -> tuple[Ints, Points]:
        """Ids (n, all −1) and points (n × d) inside the box: rows, one row, or dicts by name."""
        points = self._inside(self._numbers(given))
        return np.full(len(points), -1, dtype=np.int64), points

    def locate_all(self) -> tuple[Ints, Points]:
        """Refused: a box has no list of its points."""
        raise ValueError("points must be given: a box has no list of its points")

    def _numbers(self, points: Any) -> Floats:
        if self.names and (isinstance(points, Mapping) or _are_mappings(points)):
            rows = [points] if isinstance(points, Mapping) else points
            try:
                points = [[row[name] for name in self.names] for row in rows]
            except KeyError as error:
                raise ValueError(f"points must name {self.names}; {error} is missing") from error
        try:
            array = np.array(points, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"points must be rows of {self.dimension} numbers") from error
        if array.ndim == 1 and len(array) == self.dimension:
            array = array[None]
        if array.ndim != 2 or array.shape[1] != self.dimension:
            raise ValueError(
                f"points must be rows of {self.dimension} numbers, got shape {array.shape}"
            )
        if not np.all(np.isfinite(array)):
            raise ValueError("points must be finite")
        return array

    def _inside(self, array: Floats) -> Floats:
        # Round-off of a point on the boundary is no error.
        slack = 1e-9 * (self.upper - self.lower)
        outside = np.argwhere((array < self.lower - slack) | (array > self.upper + slack))
        if len(outside):
            row, column = outside[0]
            raise ValueError(
                f"points must lie inside the box: row {row}, dimension {column} is "
                f"{array[row, column]}, not in [{self.lower[column]}, {self.upper[column]}]"
            )
        return np.clip(array, self.lower, self.upper)

    def pack(self, ids: Ints, points: Points) -> list[tuple[int, bytes | None]]:
        """What a file stores of each choice: −1 and the point's bytes."""
        return [(-1, np.asarray(point, dtype="<f8").tobytes()) for point in points]

    def unpack(self, packed: list[tuple[int, bytes | None]]) -> Floats:
        """The points (n × d) that :meth:`pack` stored."""
        rows = [np.frombuffer(data or b"", dtype="<f8") for _, data in packed]
        return np.array(rows, dtype=np.float64).reshape(len(packed), self.dimension)

    def label(self, point: Any) -> Any:
        """The point as a dict by name where the box has names, else the point itself."""
        if self.names is None:
            return point
        return dict(zip(self.names, point.tolist(), strict=True))

    def __repr__(self) -> str:
        names = self.names or [f"x{i}" for i in range(self.dimension)]
        sides = ", ".join(
            f"{name}: [{a:g}, {b:g}]" for name, (a, b) in zip(names, self.bounds, strict=True)
        )
        return f"Box({sides})"


def _are_mappings(points: Any) -> bool:
    return isinstance(points, Sequence) and bool(points) and isinstance(points[0], Mapping)
