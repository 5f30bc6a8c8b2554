"""A space of named parameters of several types, and the points in it as vectors.

A *part* of a space has the same parameters within narrower bounds. Searches look at parts.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from noregret import _checks
from noregret._types import Bools, Floats, Ints, Points
from noregret.spaces.parameters import SLACK, Parameter
from noregret.spaces.rows import named_rows
from noregret.spaces.shorthand import as_parameter

#: a condition on a point as users see it
Feasible = Callable[[dict[str, Any]], bool]

#: after this many draws without a feasible point the search for one ends
_TRIES = 100_000
#: feasible points are searched among at least, and at most, this many draws at a time
_PIECE, _LARGEST_PIECE = 64, 8192
#: a design searches for feasible points among this many times as many points
_EFFORT = 32


class Space:
    """Named parameters: numbers, whole numbers, choices, booleans.

    Users see a point as a dict of plain Python values. Models see a row of d numbers, one for each
    parameter: numbers and whole numbers as they are, or their logarithms with ``log=True``, and
    choices as their positions 0, 1, …, which only say whether two points have the same choice.

    Parameters
    ----------
    parameters
        ``{"name": parameter, ...}`` with :class:`~noregret.Float`, :class:`~noregret.Int`,
        :class:`~noregret.Choice` and :class:`~noregret.Bool`. In short: a pair ``(low, high)`` is a
        ``Float``, a list of words such as ``["relu", "gelu"]`` is a ``Choice``.
    feasible
        Which points may be evaluated: a text such as ``"layers * units < 1000"`` (see
        :mod:`noregret.spaces.conditions`), or a function that gets a point as a dict. Only feasible
        points are asked for, and other points are refused when they are told. A function should be
        quick: it is called thousands of times for each batch. No file stores a function: pass the
        space again, ``load(path, domain=space)``.

    Attributes
    ----------
    names
        The parameters' names (d).
    parameters
        The parameters (d).
    lower, upper
        The smallest and the largest entry of each column of encoded points (d each).
    """

    encoded = True
    #: a space has no list of its points, even if there are few
    size: int | None = None

    def __init__(
        self, parameters: Mapping[str, Any], *, feasible: Feasible | str | None = None
    ) -> None:
        if not isinstance(parameters, Mapping) or not parameters:
            raise TypeError(
                "parameters must be a dict such as {'rate': Float(0, 1), 'layers': Int(1, 8)}, got "
                f"{parameters!r}"
            )
        for name in parameters:
            if not isinstance(name, str) or not name:
                raise TypeError(f"parameters must have names that are texts, got {name!r}")
        self.names: tuple[str, ...] | None = tuple(parameters)
        self.parameters: tuple[Parameter, ...] = tuple(
            as_parameter(name, one) for name, one in parameters.items()
        )
        ends = np.array([parameter.ends for parameter in self.parameters])
        self.lower: Floats = ends[:, 0].copy()
        self.upper: Floats = ends[:, 1].copy()
        if isinstance(feasible, str):
            from noregret.spaces.condition_checks import check_condition  # few spaces need them
            from noregret.spaces.conditions import Condition

            feasible = Condition(feasible, tuple(parameters))
            check_condition(feasible, dict(zip(parameters, self.parameters, strict=True)))
        if feasible is not None and not callable(feasible):
            raise TypeError(f"feasible must be a text or a function of a point, got {feasible!r}")
        self.feasible = feasible
        if feasible is not None:
            self._some_feasible(1, np.random.default_rng(0))

    # -- what it is like ---------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.parameters)

    @property
    def count(self) -> float:
        """How many points there are, feasible or not; ∞ where a parameter is a number."""
        ends = zip(self.parameters, self.lower.tolist(), self.upper.tolist(), strict=True)
        return math.prod(one.how_many(low, high) for one, low, high in ends)

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
        """The point in the middle (d), or another feasible point if that one is not feasible."""
        middle = self._place(np.full((1, self.dimension), 0.5))
        if not self.allowed(middle)[0]:
            middle = self._some_feasible(1, np.random.default_rng(0))
        return np.asarray(middle[0])

    # -- dicts and vectors -------------------------------------------------------------------

    def encode(self, points: Sequence[Mapping[str, Any]]) -> Floats:
        """Turn points given as dicts into rows of numbers (n × d); points outside are refused."""
        return np.array([self._encode(i, point) for i, point in enumerate(points)]).reshape(
            len(points), self.dimension
        )

    def decode(self, points: Points) -> list[dict[str, Any]]:
        """Turn rows of numbers (n × d) into dicts of plain values (n); rows outside are refused."""
        return self._decode(self._inside(_checks.rows_of_numbers(points, self.dimension)))

    def _decode(self, points: Points) -> list[dict[str, Any]]:
        names = self.names or tuple(f"x{i}" for i in range(self.dimension))
        columns = [one.decode(points[:, i]) for i, one in enumerate(self.parameters)]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def labels(self, ids: Ints, points: Sequence[Any] | Points) -> list[Any]:
        """What a user's function gets of choices (n): dicts."""
        return self._decode(np.asarray(points))

    def _encode(self, row: int, point: Mapping[str, Any]) -> list[float]:
        names = self.names or ()
        if not isinstance(point, Mapping):
            raise TypeError(
                f"points must all be dicts of {', '.join(names)}; row {row} is "
                f"{_checks.shown(point)}"
            )
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
        """Ids (n, all −1) and points (n × d) inside.

        Given are what :meth:`any_points` takes.
        """
        points = self._inside(self.any_points(given))
        wrong = np.flatnonzero(~self.allowed(points))
        if len(wrong):
            (point,) = self._decode(points[wrong[:1]])
            raise ValueError(f"points must be feasible: row {wrong[0]}, {point}, is not")
        return np.full(len(points), -1, dtype=np.int64), points

    def any_points(self, given: Any) -> Floats:
        """Points (n × d) of what a user gave; encoded rows may lie outside the space.

        Given are a frame with a column for each name; dicts by name, named tuples or rows of a
        pandas frame, one or a list of them; or encoded rows.
        """
        rows = None if self.names is None else named_rows(given)
        if rows is not None:
            return self.encode(rows)
        return _checks.rows_of_numbers(given, self.dimension, self._or())

    def locate_all(self) -> tuple[Ints, Points]:
        """Refused: a space has no list of its points."""
        raise ValueError("points must be given: a box or space has no list of its points")

    def references(self, ids: Any, points: Any) -> Any:
        """What names choices in calls of an optimiser: their points."""
        return points

    def _or(self) -> str:
        return "" if self.names is None else f", or dicts of {', '.join(self.names)}"

    def _inside(self, array: Floats) -> Floats:
        """The rows without round-off; rows that are not points of the space are refused."""
        snapped = self.snap(array)
        # Round-off of a point on the boundary is no error.
        outside = np.argwhere(np.abs(array - snapped) > SLACK * (self.upper - self.lower))
        if len(outside):
            row, column = outside[0]
            name = self.names[column] if self.names else f"dimension {column}"
            raise ValueError(
                f"points must lie inside: row {row}, {name} is {array[row, column]}, which is none "
                f"of its values from {self.lower[column]} to {self.upper[column]}"
            )
        return snapped

    def snap(self, points: Points) -> Floats:
        """The nearest points of the space (n × d), column by column."""
        columns = [one.snap(points[:, i]) for i, one in enumerate(self.parameters)]
        return np.clip(np.column_stack(columns), self.lower, self.upper)

    # -- points of the space -----------------------------------------------------------------

    def allowed(self, points: Points) -> Bools:
        """Which points (n × d) are feasible (n)."""
        if self.feasible is None:
            return np.ones(len(points), dtype=bool)
        return np.array([self._is_feasible(point) for point in self._decode(points)], dtype=bool)

    def _is_feasible(self, point: dict[str, Any]) -> bool:
        assert self.feasible is not None
        try:
            return bool(self.feasible(dict(point)))
        except Exception as error:
            raise ValueError(f"feasible raised {error!r} for {point}") from error

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Ints, Points]:
        """Ids (n, all −1) and n points uniformly at random (n × d)."""
        if self.feasible is None:
            points = self._place(rng.random((n, self.dimension)))
        else:
            points = self._some_feasible(n, rng)
        return np.full(n, -1, dtype=np.int64), points

    def _some_feasible(self, n: int, rng: np.random.Generator) -> Floats:
        """n feasible points uniformly at random (n × d), by drawing until there are enough."""
        found, missed, size = self.nothing, 0, max(n, _PIECE)
        while len(found) < n:
            drawn = self._place(rng.random((size, self.dimension)))
            kept = drawn[self.allowed(drawn)]
            missed = 0 if len(kept) else missed + size
            found, size = np.concatenate([found, kept]), min(2 * size, _LARGEST_PIECE)
            if missed >= _TRIES:
                found = self._feasible_of_few(n, rng)
        return found[:n]

    def _feasible_of_few(self, n: int, rng: np.random.Generator) -> Floats:
        """n feasible points after very many draws without one; refused if none is found."""
        every = self.every(_TRIES)
        if every is not None and len(every):
            return every[rng.integers(len(every), size=n)]
        among = f"{_TRIES:,} points drawn at random" if every is None else "the points"
        raise ValueError(
            f"feasible must allow some points: none of {among} of {self!r} satisfies it"
        )

    def every(self, most: int) -> Floats | None:
        """All feasible points (n × d) if the space has at most this many points, else ``None``."""
        if self.count > most:
            return None
        ends = zip(self.parameters, self.lower.tolist(), self.upper.tolist(), strict=True)
        columns = [np.unique(one.entries(low, high)) for one, low, high in ends]
        mesh = np.meshgrid(*columns, indexing="ij")
        points = np.column_stack([column.ravel() for column in mesh])
        return np.asarray(points[self.allowed(points)])

    def spread(self, n: int, rng: np.random.Generator) -> Floats:
        """n points of a scrambled Sobol sequence (n × d).

        With a condition ``feasible`` these are the feasible points of a longer sequence. Some are
        repeated if there are too few. A part of the space without feasible points gives none.
        """
        # SciPy spawns from the generator, which its saved state does not record: give it a new one.
        own = np.random.default_rng(rng.integers(1 << 63))
        if self.feasible is None:
            return self._place(_sobol(self.dimension, n, own))
        unit = _sobol(self.dimension, _EFFORT * n, own)
        found, looked = self.nothing, 0
        while len(found) < n and looked < len(unit):
            piece = self._place(unit[looked : looked + max(n, _PIECE)])
            found, looked = np.concatenate([found, piece[self.allowed(piece)]]), looked + len(piece)
        if len(found) < n and len(found):
            found = np.concatenate([found, found[own.integers(len(found), size=n - len(found))]])
        return found[:n]

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

    def numbers(self) -> Self:
        """The space itself: its points are numbers for every kernel."""
        return self

    # -- files -------------------------------------------------------------------------------

    def pack(self, ids: Ints, points: Points) -> list[tuple[int, bytes | None]]:
        """The bytes that a file stores for each choice: −1 and the point."""
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


def _sobol(dimension: int, n: int, rng: np.random.Generator) -> Floats:
    """n points of a scrambled Sobol sequence in the unit cube (n × d)."""
    from scipy.stats import qmc  # slow to import, and lists do not need it

    engine = qmc.Sobol(dimension, rng=rng)
    return np.asarray(engine.random_base2(int(np.ceil(np.log2(max(n, 1)))))[:n])
