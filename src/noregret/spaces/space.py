"""A space of named parameters of several types, and the points in it as vectors."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.spaces.parameters import SLACK, Parameter

#: a predicate on a point as users see it
Feasible = Callable[[dict[str, Any]], bool]


class Space:
    """Named parameters: numbers, whole numbers, choices, booleans.

    Users see a point as a dict of plain Python values. Models see a row of d numbers, one for each
    parameter: numbers and whole numbers as they are, or their logarithms with ``log=True``, and
    choices as their positions 0, 1, …, which only say whether two points have the same choice.

    Parameters
    ----------
    parameters
        ``{"name": parameter, ...}`` with :class:`~noregret.Float`, :class:`~noregret.Int`,
        :class:`~noregret.Choice` and :class:`~noregret.Bool`.

    Attributes
    ----------
    names
        The parameters' names (d).
    parameters
        The parameters (d).
    lower, upper
        The smallest and the largest entry of each column of encoded points (d each).
    """

    listed = False

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        if not isinstance(parameters, Mapping) or not parameters:
            raise TypeError(
                "parameters must be a dict such as {'rate': Float(0, 1), 'layers': Int(1, 8)}, got "
                f"{parameters!r}"
            )
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise TypeError(f"parameters must have names that are texts, got {name!r}")
            if not isinstance(parameter, Parameter):
                raise TypeError(
                    f"parameters must be Float, Int, Choice or Bool, got {parameter!r} for {name}"
                )
        self.names: tuple[str, ...] | None = tuple(parameters)
        self.parameters: tuple[Parameter, ...] = tuple(parameters.values())
        ends = np.array([parameter.ends for parameter in self.parameters])
        self.lower: Floats = ends[:, 0].copy()
        self.upper: Floats = ends[:, 1].copy()

    # -- what it is like ---------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.parameters)

    @property
    def count(self) -> float:
        """How many points there are, ∞ where a parameter is a number."""
        return math.prod(parameter.count for parameter in self.parameters)

    @property
    def categories(self) -> tuple[int, ...]:
        """The columns that hold positions of choices."""
        return tuple(i for i, one in enumerate(self.parameters) if one.is_category)

    @property
    def corners(self) -> Points:
        """The smallest and the largest entry of each column (2 × d)."""
        return np.stack([self.lower, self.upper])

    @property
    def nothing(self) -> Points:
        """No points (0 × d)."""
        return np.empty((0, self.dimension))

    @property
    def centre(self) -> Floats:
        """The point in the middle (d)."""
        return np.asarray(self._place(np.full((1, self.dimension), 0.5))[0])

    # -- dicts and vectors -------------------------------------------------------------------

    def encode(self, points: Sequence[Mapping[str, Any]]) -> Floats:
        """Points given as dicts as rows of numbers (n × d); refused where they lie outside."""
        return np.array([self._encode(i, point) for i, point in enumerate(points)]).reshape(
            len(points), self.dimension
        )

    def decode(self, points: Points) -> list[dict[str, Any]]:
        """Rows of numbers (n × d) of this space as dicts of plain Python values (n)."""
        names = self.names or tuple(f"x{i}" for i in range(self.dimension))
        columns = [one.decode(points[:, i]) for i, one in enumerate(self.parameters)]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def labels(self, ids: Ints, points: Sequence[Any] | Points) -> list[Any]:
        """What a user's function gets of choices (n): dicts."""
        return self.decode(np.asarray(points))

    def _encode(self, row: int, point: Mapping[str, Any]) -> list[float]:
        names = self.names or ()
        missing = [name for name in names if name not in point]
        unknown = [name for name in point if name not in names]
        if missing or unknown:
            raise ValueError(
                f"points must name {', '.join(names)}; in row {row} "
                + (f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r} is none of them")
            )
        entries = []
        for name, parameter in zip(names, self.parameters, strict=True):
            try:
                entries.append(parameter.encode(point[name]))
            except (TypeError, ValueError) as error:
                raise type(error)(f"points must lie inside: row {row}, {name}: {error}") from error
        return entries

    def locate(self, given: Any) -> tuple[Ints, Points]:
        """Ids (n, all −1) and points (n × d) inside: dicts by name, one dict, or encoded rows."""
        if isinstance(given, Mapping):
            given = [given]
        if self.names is not None and _are_mappings(given):
            points = self.encode(given)
        else:
            points = self._inside(self._numbers(given))
        return np.full(len(points), -1, dtype=np.int64), points

    def locate_all(self) -> tuple[Ints, Points]:
        """Refused: a space has no list of its points."""
        raise ValueError("points must be given: a box or space has no list of its points")

    def _numbers(self, points: Any) -> Floats:
        try:
            array = np.array(points, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"points must be rows of {self.dimension} numbers{self._or()}"
            ) from error
        if array.ndim == 1 and len(array) == self.dimension:
            array = array[None]
        if array.ndim != 2 or array.shape[1] != self.dimension:
            raise ValueError(
                f"points must be rows of {self.dimension} numbers{self._or()}, got shape "
                f"{array.shape}"
            )
        if not np.all(np.isfinite(array)):
            raise ValueError("points must be finite")
        return array

    def _or(self) -> str:
        return "" if self.names is None else f", or dicts of {', '.join(self.names)}"

    def _inside(self, array: Floats) -> Floats:
        """The rows, with round-off taken out; refused where they are no points of the space."""
        snapped = self.snap(array)
        # Round-off of a point on the boundary is no error.
        outside = np.argwhere(np.abs(array - snapped) > SLACK * (self.upper - self.lower))
        if len(outside):
            row, column = outside[0]
            name = self.names[column] if self.names else f"dimension {column}"
            raise ValueError(
                f"points must lie inside: row {row}, {name} is {array[row, column]}, which is no "
                f"entry between {self.lower[column]} and {self.upper[column]}"
            )
        return snapped

    def snap(self, points: Points) -> Floats:
        """The nearest points of the space (n × d), column by column."""
        columns = [one.snap(points[:, i]) for i, one in enumerate(self.parameters)]
        return np.clip(np.column_stack(columns), self.lower, self.upper)

    # -- points of the space -----------------------------------------------------------------

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Ints, Points]:
        """Ids (n, all −1) and n points uniformly at random (n × d)."""
        points = self._place(rng.random((n, self.dimension)))
        return np.full(n, -1, dtype=np.int64), points

    def spread(self, n: int, rng: np.random.Generator) -> Floats:
        """n points of a scrambled Sobol sequence (n × d)."""
        from scipy.stats import qmc  # slow to import, and lists do not need it

        # SciPy spawns from the generator, which its saved state does not tell: give it a fresh one.
        own = np.random.default_rng(rng.integers(1 << 63))
        engine = qmc.Sobol(self.dimension, rng=own)
        unit = engine.random_base2(int(np.ceil(np.log2(max(n, 1)))))[:n]
        return self._place(np.asarray(unit))

    def _place(self, unit: Floats) -> Floats:
        """Points (n × d) for points of the unit cube (n × d)."""
        ends = zip(self.parameters, self.lower.tolist(), self.upper.tolist(), strict=True)
        columns = [one.place(unit[:, i], low, high) for i, (one, low, high) in enumerate(ends)]
        return np.column_stack(columns)

    def between(self, lower: Floats, upper: Floats) -> Self:
        """The part between two corners (d each).

        It is empty, with ``lower`` above ``upper``, where no value of a parameter lies there.
        """
        made = copy.copy(self)
        corners = zip(self.parameters, lower.tolist(), upper.tolist(), strict=True)
        made.lower, made.upper = np.array([one.inner_ends(*ends) for one, *ends in corners]).T
        return made

    def around(self, lower: Floats, upper: Floats) -> Self:
        """The part between two corners (d each), with all choices that have no order."""
        free = list(self.categories)
        lower, upper = lower.copy(), upper.copy()
        lower[free], upper[free] = self.lower[free], self.upper[free]
        return self.between(lower, upper)

    # -- files -------------------------------------------------------------------------------

    def pack(self, ids: Ints, points: Points) -> list[tuple[int, bytes | None]]:
        """What a file stores of each choice: −1 and the point's bytes."""
        return [(-1, np.asarray(point, dtype="<f8").tobytes()) for point in points]

    def unpack(self, packed: list[tuple[int, bytes | None]]) -> Floats:
        """The points (n × d) that :meth:`pack` stored."""
        rows = [np.frombuffer(data or b"", dtype="<f8") for _, data in packed]
        return np.array(rows, dtype=np.float64).reshape(len(packed), self.dimension)

    def spec(self) -> list[dict[str, Any]]:
        """The parameters as JSON (d)."""
        return [parameter.spec() for parameter in self.parameters]

    def __repr__(self) -> str:
        parts = zip(self.names or (), self.parameters, strict=True)
        return f"Space({', '.join(f'{name}: {parameter!r}' for name, parameter in parts)})"


def _are_mappings(points: Any) -> bool:
    return isinstance(points, Sequence) and bool(points) and isinstance(points[0], Mapping)
