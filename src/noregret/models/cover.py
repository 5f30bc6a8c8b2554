"""A cover of a box by closed hypercubes that split once they hold many points (π-GP-UCB §3).

Geometry only: which cells there are, which points lie in them, when one splits. The box is scaled
to [0, 1]ᵈ. A cell is its *key* (level, i₁, …, i_d): the cube between i/(k·2^level) and
(i + 1)/(k·2^level) in each dimension. The first cover has k cells a side. The cells that have split
are remembered; all others reached from the first kᵈ are the cover.
"""

import copy
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints
from noregret.kernels import Kernel, Matern, SklearnKernel
from noregret.kernels.composed import Scaled

Key = tuple[int, ...]

#: ν for kernels that have none
_SMOOTH = 2.5
#: points this near to a face (in box sides) lie on it
_FACE = 1e-9
#: up to this many points are looked up one by one
_FEW = 8


@dataclass(frozen=True)
class Cell:
    """One element of the cover, as users see it.

    Attributes
    ----------
    lower, upper
        Its bounds (d each), in the domain's own units.
    side
        ρ, the length of its side if the box is scaled to side 1.
    count
        Evaluations told inside it, faces included.
    gain
        Its information gain γ = ½ log det(I + K/λ).
    beta
        Its width: bounds inside it are mean ± beta · std.
    """

    lower: Floats
    upper: Floats
    side: float
    count: int
    gain: float
    beta: float


def smoothness(kernel: Kernel) -> float | None:
    """ν of a Matérn kernel, ``None`` for others."""
    if isinstance(kernel, Scaled):
        return smoothness(kernel.kernel)
    if isinstance(kernel, Matern):
        return kernel.nu
    if isinstance(kernel, SklearnKernel) and hasattr(kernel.kernel, "nu"):
        return float(kernel.kernel.nu)
    return None


def smoothness_exponents(nu: float, dimension: int) -> tuple[float, float]:
    """b = (d + 1)/(d + 2ν) and q = d(d + 1)/(d(d + 2) + 2ν) of π-GP-UCB."""
    d = dimension
    return (d + 1) / (d + 2 * nu), d * (d + 1) / (d * (d + 2) + 2 * nu)


def usable_smoothness(kernel: Kernel | None, given: float | None, *, strict: bool) -> float:
    """ν that cells split by: the one given, else the kernel's, else 2.5.

    With ``strict`` it is refused where the regret bound of π-GP-UCB does not cover it.
    """
    own = None if kernel is None else smoothness(kernel)
    nu = own if given is None else _checks.positive("nu", given)
    nu = _SMOOTH if nu is None else nu
    if strict and nu <= 1:
        raise ValueError(
            f"nu must be above 1 for the regret bound of π-GP-UCB (Janz et al. 2020, Theorem "
            f"3), got {nu}; strict=False goes on without it"
        )
    return nu


def cells_a_side(goal: float, dimension: int) -> int:
    """k, the cells a side of a first cover of about ``goal`` cells, and at most twice as many."""
    k = max(1, round(goal ** (1.0 / dimension)))
    while k > 1 and float(k) ** dimension > 2 * goal:
        k -= 1
    return int(k)


class Cover:
    """Closed hypercubes that cover a box, and the rule by which they split.

    Parameters
    ----------
    lower, upper
        The box (d each). A dimension of length 0 counts as one of length 1.
    per_side
        k: the first cover has kᵈ cells.
    exponent
        b: a cell of side ρ splits when ρ^(−1/b) < n + 1 for n evaluations inside it.

    Attributes
    ----------
    splits
        The cells that have split.
    least
        All cells of a lower level than this have split too.
    """

    def __init__(self, lower: Floats, upper: Floats, per_side: int, exponent: float) -> None:
        self.lower = lower
        self.extent = np.where(upper > lower, upper - lower, 1.0)
        self.per_side = per_side
        self.exponent = exponent
        self.splits: set[Key] = set()
        self.least = 0

    def copy(self) -> "Cover":
        """Another cover with the same cells."""
        made = copy.copy(self)
        made.splits = self.splits.copy()
        return made

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.lower)

    def unit(self, points: Any) -> Floats:
        """Points (n × d) scaled to [0, 1]ᵈ; those beyond the box move to its boundary."""
        return np.asarray(np.minimum(np.maximum((points - self.lower) / self.extent, 0.0), 1.0))

    def side(self, key: Key) -> float:
        """ρ of a cell, in box sides."""
        return 1.0 / (self.per_side << key[0])

    def bounds(self, key: Key) -> tuple[Floats, Floats]:
        """Lower and upper corner of a cell (d each)."""
        index = np.array(key[1:], dtype=np.float64)
        side = self.side(key)
        low = self.lower + self.extent * (index * side)
        return low, self.lower + self.extent * np.minimum((index + 1.0) * side, 1.0)

    def is_split(self, key: Key) -> bool:
        """Whether a cell has split."""
        return key[0] < self.least or key in self.splits

    def is_full(self, key: Key, count: int) -> bool:
        """Whether a cell with this many evaluations splits: ρ^(−1/b) < n + 1."""
        # Logarithms do not overflow. The small number makes equal sides compare as equal.
        return math.log(self.per_side << key[0]) / self.exponent + 1e-12 < math.log(count + 1)

    def cells_of(self, unit: Floats) -> list[Key]:
        """The cells that contain one point of the unit box (d): several if it is on a face."""
        scale = self.per_side
        axes = []
        for u in unit.tolist():
            low = max(math.ceil(u * scale - 1.0 - _FACE * scale), 0)
            high = min(math.floor(u * scale + _FACE * scale), scale - 1)
            axes.append((low,) if low == high else (low, high))
        found: list[Key] = []
        open_: list[Key] = [(0, *index) for index in itertools.product(*axes)]
        while open_:
            key = open_.pop()
            if not self.is_split(key):
                found.append(key)
                continue
            scale = self.per_side << (key[0] + 1)
            halves = []
            for u, i in zip(unit.tolist(), key[1:], strict=True):
                offset, slack = u * scale - 2 * i, _FACE * scale
                both = (2 * i,) * (offset <= 1.0 + slack) + (2 * i + 1,) * (offset >= 1.0 - slack)
                halves.append(both)
            open_ += [(key[0] + 1, *index) for index in itertools.product(*halves)]
        return sorted(found)

    def members(self, unit: Floats) -> dict[Key, Ints]:
        """Which points of the unit box (n × d) lie in each cell, ascending; no empty cells."""
        if len(unit) <= _FEW:
            return self._few_members(unit)
        k, slack = self.per_side, _FACE * self.per_side
        rows = np.arange(len(unit))
        codes = np.zeros(len(unit), dtype=np.int64)
        for column in unit.T:
            position = column[rows] * k
            low = np.maximum(np.ceil(position - 1.0 - slack), 0).astype(np.int64)
            high = np.minimum(np.floor(position + slack), k - 1).astype(np.int64)
            twice = low < high
            rows = np.concatenate([rows, rows[twice]])
            codes = np.concatenate([codes * k + low, codes[twice] * k + high[twice]])
        found: dict[Key, Ints] = {}
        open_: list[tuple[Key, Ints]] = []
        for code, inside in _grouped(codes, rows):
            index = np.unravel_index(code, (k,) * self.dimension)
            open_.append(((0, *(int(i) for i in index)), inside))
        while open_:
            key, inside = open_.pop()
            if self.is_split(key):
                open_ += [(child, inside[part]) for child, part in self.divide(key, unit[inside])]
            else:
                found[key] = inside
        return dict(sorted(found.items()))

    def _few_members(self, unit: Floats) -> dict[Key, Ints]:
        found: dict[Key, list[int]] = {}
        for i, point in enumerate(unit):
            for key in self.cells_of(point):
                found.setdefault(key, []).append(i)
        return {key: np.array(inside) for key, inside in sorted(found.items())}

    def divide(self, key: Key, unit: Floats) -> list[tuple[Key, Ints]]:
        """The halves of a cell that hold some of its points (n × d), and which points those are."""
        scale = self.per_side << (key[0] + 1)
        slack = _FACE * scale
        rows = np.arange(len(unit))
        codes = np.zeros(len(unit), dtype=np.int64)
        for column, i in zip(unit.T, key[1:], strict=True):
            offset = column[rows] * scale - 2 * i
            low, high = offset <= 1.0 + slack, offset >= 1.0 - slack
            rows = np.concatenate([rows[low], rows[high]])
            codes = np.concatenate([2 * codes[low], 2 * codes[high] + 1])
        d = self.dimension
        return [
            (
                (key[0] + 1, *(2 * i + (code >> (d - 1 - j) & 1) for j, i in enumerate(key[1:]))),
                part,
            )
            for code, part in _grouped(codes, rows)
        ]

    def children(self, key: Key) -> list[Key]:
        """All 2ᵈ cells of half the side that a cell splits into."""
        return [
            (key[0] + 1, *(2 * i + bit for i, bit in zip(key[1:], bits, strict=True)))
            for bits in itertools.product((0, 1), repeat=self.dimension)
        ]

    def leaves(self) -> list[Key]:
        """All cells of the cover, in the order of their keys."""
        found, open_ = [], self.first()
        while open_:
            key = open_.pop()
            if self.is_split(key):
                open_ += self.children(key)
            else:
                found.append(key)
        return sorted(found)

    def first(self) -> list[Key]:
        """The kᵈ cells of the first cover."""
        return [(0, *i) for i in itertools.product(range(self.per_side), repeat=self.dimension)]


def first_cover(
    lower: Floats, upper: Floats, nu: float, horizon: int, cells: int | None
) -> tuple[Cover, float]:
    """The cover that π-GP-UCB starts from, and q.

    It has about T^q cells for the horizon T, or about as many as are given.
    """
    d = len(lower)
    b, q = smoothness_exponents(nu, d)
    goal = float(horizon) ** q if cells is None else float(_checks.count("first_cells", cells))
    return Cover(lower, upper, cells_a_side(goal, d), b), q


def _grouped(codes: Ints, rows: Ints) -> list[tuple[int, Ints]]:
    """Rows by code, both ascending."""
    if not len(codes):
        return []
    order = np.lexsort((rows, codes))
    codes, rows = codes[order], rows[order]
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    return [
        (int(codes[s]), part) for s, part in zip(starts, np.split(rows, starts[1:]), strict=True)
    ]
