"""What may be chosen: a finite list of candidates, or a box."""

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points

#: the largest grid that ``Box.grid`` makes
_LARGEST_GRID = 100_000_000


class Candidates:
    """A finite list of choices, known by their row numbers (ids) 0 .. n-1.

    Parameters
    ----------
    points
        An n × d array, a list of rows, a pandas or polars frame of numeric columns, a vector (n
        choices in one dimension), or a list of arbitrary Python objects (strings, graphs, …) for
        which the kernel is a callable ``k(xs, ys) -> matrix``.
    objects
        Treat the entries as opaque objects even where they look like numbers or rows.

    Attributes
    ----------
    points
        n × d floats, or a vector of n objects. Read only.
    names
        The columns' names where a frame was given, else ``None``.
    """

    def __init__(self, points: Any, *, objects: bool = False) -> None:
        self.names: tuple[str, ...] | None = None
        if hasattr(points, "columns") and not objects:
            self.names = tuple(str(name) for name in points.columns)
            array = _from_frame(points)
        elif objects or _holds_objects(points):
            array = _object_vector(list(points))
        else:
            array = _numeric(points)
        if len(array) == 0:
            raise ValueError("candidates must not be empty")
        array.flags.writeable = False
        self.points: Points = array

    @property
    def are_objects(self) -> bool:
        """Whether the choices are Python objects rather than rows of numbers."""
        return self.points.dtype == object

    @property
    def dimension(self) -> int | None:
        """d, or ``None`` for objects."""
        return None if self.are_objects else int(self.points.shape[1])

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, ids: Any) -> Any:
        """The points of these ids."""
        return self.points[ids]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.points)

    def __repr__(self) -> str:
        what = "objects" if self.are_objects else f"× {self.dimension}"
        return f"Candidates({len(self)} {what})"


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

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """n points uniformly at random (n × d)."""
        return rng.uniform(self.lower, self.upper, size=(n, self.dimension))

    def spread(self, n: int, rng: np.random.Generator) -> Floats:
        """n points of a scrambled Sobol sequence (n × d)."""
        from scipy.stats import qmc  # two thirds of this package's import time

        # SciPy spawns from the generator, which its saved state does not tell: give it a fresh one.
        own = np.random.default_rng(rng.integers(1 << 63))
        engine = qmc.Sobol(self.dimension, rng=own)
        unit = engine.random_base2(int(np.ceil(np.log2(max(n, 1)))))[:n]
        return np.asarray(qmc.scale(unit, self.lower, self.upper))

    def check(self, points: Any) -> Floats:
        """``points`` as n × d floats inside the box: rows, one row, or dicts by name."""
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

    def __repr__(self) -> str:
        names = self.names or [f"x{i}" for i in range(self.dimension)]
        sides = ", ".join(
            f"{name}: [{a:g}, {b:g}]" for name, (a, b) in zip(names, self.bounds, strict=True)
        )
        return f"Box({sides})"


Domain = Candidates | Box


def as_domain(domain: Any) -> Domain:
    """``domain`` itself, or the list of candidates it describes."""
    return domain if isinstance(domain, (Candidates, Box)) else Candidates(domain)


def as_candidates(domain: Any) -> Candidates:
    """``domain`` itself, or the list it describes; boxes are refused."""
    if isinstance(domain, Box):
        raise TypeError("a list of candidates is needed here, not a box: try box.grid(n)")
    return domain if isinstance(domain, Candidates) else Candidates(domain)


def _are_mappings(points: Any) -> bool:
    return isinstance(points, Sequence) and bool(points) and isinstance(points[0], Mapping)


def _holds_objects(points: Any) -> bool:
    if isinstance(points, np.ndarray):
        return points.dtype.kind in "OUS" and not _all_numbers(points.ravel())
    if not isinstance(points, Sequence):
        return False
    return any(not isinstance(p, (Real, np.ndarray, list, tuple)) for p in points)


def _all_numbers(values: Any) -> bool:
    return all(isinstance(value, Real) for value in values)


def _object_vector(entries: list[Any]) -> Points:
    vector = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):  # slice assignment would unpack sequences
        vector[i] = entry
    return vector


def _numeric(points: Any) -> Points:
    try:
        array = np.array(points, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(
            "candidates must be an n × d array of numbers, a frame of numeric columns or a list of "
            f"objects (objects=True treats any entries as such): {error}"
        ) from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or (len(array) and array.shape[1] == 0):
        raise ValueError(f"candidates must be an n × d array, got shape {array.shape}")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"candidates must be finite, got {array[row, column]} in row {row}, column {column}"
        )
    return array


def _from_frame(frame: Any) -> Points:
    """The numeric columns of a pandas or polars frame; other columns are refused by name."""
    columns = []
    wrong = []
    for name in frame.columns:
        values = np.asarray(frame[name].to_numpy())
        if values.dtype.kind in "biuf" or (values.dtype == object and _all_numbers(values)):
            columns.append(values.astype(np.float64))
        else:
            wrong.append(str(name))
    if wrong:
        raise TypeError(
            f"candidates must have numeric columns; these are not: {', '.join(wrong)}. "
            "Encode or drop them first."
        )
    return _numeric(np.column_stack(columns) if columns else np.empty((len(frame), 0)))
