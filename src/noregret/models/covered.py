"""The GPs of a cover: one local model a cell, following what has been told and what is pending."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels.base import Kernel
from noregret.models.cover import Cover, Key
from noregret.models.local import LocalGP
from noregret.models.local_sparse import SparseLocal
from noregret.observations import Observations

_NONE: Ints = np.empty(0, dtype=np.int64)


class LocalPosterior(Protocol):
    """What a cell believes of its points (P) and of any others."""

    @property
    def mean(self) -> Floats:
        """Posterior means (P)."""

    @property
    def variance(self) -> Floats:
        """Posterior variances (P)."""

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and variance at any points (n × d)."""


@dataclass
class LocalCell:
    """A cell with its model.

    Attributes
    ----------
    key
        Which cube it is.
    ids
        The candidates inside, ascending; none on a box.
    rows
        Arms asked for or told inside it (rows of the observations), and the position of each
        among the model's points.
    count
        Evaluations told inside it.
    model
        ``None`` while nothing is known of it.
    pending
        Pending evaluations by row.
    """

    key: Key
    ids: Ints
    rows: dict[int, int] = field(default_factory=dict)
    count: int = 0
    model: LocalGP | SparseLocal | None = None
    pending: dict[int, int] = field(default_factory=dict)
    view: LocalPosterior | None = None

    @property
    def gain(self) -> float:
        """γ of the evaluations told inside."""
        return 0.0 if self.model is None else self.model.gain


class CoveredGP:
    """Local GPs over the cells of a cover, on a list or on the whole box.

    Work is done only in cells that new evaluations fall into. Cells that hold no candidate of a
    list are not kept.

    Parameters
    ----------
    kernel, lam
        Prior covariance and regularisation of every cell.
    cover
        The cells' geometry.
    observations
        What has been seen; the model follows it by :meth:`tell`.
    points
        The list (A × d), or ``None`` on a box.
    pattern
        On a box, points of the unit cube (S × d) that are followed in each cell.
    rng
        Draws dictionaries; ``None`` for exact local GPs.
    """

    def __init__(
        self,
        kernel: Kernel,
        lam: float,
        cover: Cover,
        observations: Observations,
        points: Points | None,
        pattern: Floats,
        rng: np.random.Generator | None,
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.cover = cover
        self.points = points
        #: shift and scale of the rewards that the cells see
        self.standard = (0.0, 1.0)
        self._observations = observations
        self._pattern = pattern
        self._rng = rng
        self.cells: list[LocalCell] = []
        self.slot_of: dict[Key, int] = {}
        self.rebuild()

    def rebuild(self) -> None:
        """All cells from scratch: the cover's, refined where its rule asks for it."""
        seen = self._observations
        told = np.flatnonzero(seen.told)
        rows_in = self.cover.members(self.cover.unit(seen.points[told])) if len(told) else {}
        if self.points is None:
            ids_in = dict.fromkeys(self._all_cells(), _NONE)
        else:
            ids_in = self.cover.members(self.cover.unit(self.points))
        self.cells, self.slot_of = [], {}
        for key, ids in ids_in.items():
            rows = rows_in.get(key, _NONE)
            for cell in self._plant(key, ids, told[rows]):
                self._place(cell, len(self.cells))

    def _all_cells(self) -> list[Key]:
        found, open_ = [], self.cover.first()
        while open_:
            key = open_.pop()
            if key in self.cover.splits:
                open_ += self.cover.children(key)
            else:
                found.append(key)
        return sorted(found)

    def _place(self, cell: LocalCell, slot: int) -> None:
        if slot == len(self.cells):
            self.cells.append(cell)
        else:
            self.cells[slot] = cell
        self.slot_of[cell.key] = slot

    def _plant(self, key: Key, ids: Ints, rows: Ints) -> list[LocalCell]:
        """The cell with these candidates and arms told, or those it splits into."""
        seen, cover = self._observations, self.cover
        count = int(seen.told[rows].sum())
        if not cover.is_full(key, count):
            cell = LocalCell(key, ids, count=count)
            if len(rows):
                counts, (shift, unit) = seen.told[rows].astype(np.float64), self.standard
                self._teach(cell, rows, counts, (seen.sums[rows] - shift * counts) / unit)
            return [cell]
        return self._plant_halves(key, ids, rows)

    def _plant_halves(self, key: Key, ids: Ints, rows: Ints) -> list[LocalCell]:
        cover = self.cover
        cover.splits.add(key)
        data = dict(cover.divide(key, cover.unit(self._observations.points[rows])))
        if self.points is None:
            parts = dict.fromkeys(cover.children(key), _NONE)
        else:
            parts = dict(cover.divide(key, cover.unit(self.points[ids])))
        planted = []
        for child, part in parts.items():
            planted += self._plant(child, ids[part], rows[data.get(child, _NONE)])
        return planted

    # -- following the observations ----------------------------------------------------------

    def slots(self, row: int) -> list[int]:
        """The cells that an arm lies in."""
        keys = self.cover.cells_of(self.cover.unit(self._observations.points[row : row + 1])[0])
        return [self.slot_of[key] for key in keys if key in self.slot_of]

    def tell(self, rows: Ints, rewards: Floats) -> set[int]:
        """Take in new evaluations, already among the observations; the slots that changed.

        ``rewards`` (n) are standardised as :attr:`standard` says.
        """
        counts, sums = np.ones(len(rows)), rewards
        if len(rows) > 1:
            rows, inverse = np.unique(rows, return_inverse=True)
            counts = np.bincount(inverse).astype(np.float64)
            sums = np.bincount(inverse, rewards).astype(np.float64)
        touched: dict[int, list[int]] = {}
        for i, row in enumerate(rows.tolist()):
            for slot in self.slots(row):
                touched.setdefault(slot, []).append(i)
        changed = set(touched)
        for slot, which in touched.items():
            cell = self.cells[slot]
            cell.view = None
            cell.count += int(counts[which].sum())
            if self.cover.is_full(cell.key, cell.count):
                told = [row for row in cell.rows if self._observations.told[row]]
                changed |= self._split(slot, np.union1d(told, rows[which]).astype(np.int64))
            else:
                self._teach(cell, rows[which], counts[which], sums[which])
        return changed

    def _split(self, slot: int, rows: Ints) -> set[int]:
        old = self.cells[slot]
        del self.slot_of[old.key]
        changed = set()
        for i, cell in enumerate(self._plant_halves(old.key, old.ids, rows)):
            place = slot if i == 0 else len(self.cells)
            self._place(cell, place)
            changed.add(place)
        for row, count in old.pending.items():
            self.pend(row, count)
        return changed

    def pend(self, row: int, count: int) -> list[int]:
        """An arm has this many pending evaluations from now on; the slots that changed."""
        slots = self.slots(row)
        for slot in slots:
            cell = self.cells[slot]
            cell.view = None
            if count:
                cell.pending[row] = count
            else:
                cell.pending.pop(row, None)
        return slots

    def _teach(self, cell: LocalCell, rows: Ints, counts: Floats, sums: Floats) -> None:
        model = self._model(cell)
        model.condition(self._positions(cell, rows.tolist()), counts, sums)

    def _model(self, cell: LocalCell) -> LocalGP | SparseLocal:
        if cell.model is None:
            points = self.followed(cell)
            prior = self.kernel.diag(points)
            if self._rng is None:
                cell.model = LocalGP(self.kernel, self.lam, points, prior)
            else:
                cell.model = SparseLocal(self.kernel, self.lam, points, prior, self._rng)
        return cell.model

    def followed(self, cell: LocalCell) -> Points:
        """The points that a cell follows from the start: its candidates, or a pattern on a box."""
        if self.points is not None:
            return np.asarray(self.points[cell.ids])
        low, high = self.cover.bounds(cell.key)
        return low + (high - low) * self._pattern

    def _all_followed(self, cell: LocalCell) -> Points:
        """The points a cell follows, with those that were appended as its arms came in."""
        first = self.followed(cell)
        others = sorted((at, row) for row, at in cell.rows.items() if at >= len(first))
        return np.concatenate([first, self._observations.points[[row for _, row in others]]])

    def _positions(self, cell: LocalCell, rows: list[int]) -> Ints:
        """Where arms stand among the cell's points; arms that are not there are appended."""
        seen = self._observations
        unknown = [row for row in rows if row not in cell.rows]
        if unknown:
            new = np.array(unknown)
            ids = seen.ids[new]
            listed, others = new[ids >= 0], new[ids < 0]
            positions = np.searchsorted(cell.ids, ids[ids >= 0])
            cell.rows.update(zip(listed.tolist(), positions.tolist(), strict=True))
            if len(others):
                model = self._model(cell)
                known = len(model.points)
                cell.rows.update((row, known + i) for i, row in enumerate(others.tolist()))
                model.append(seen.points[others], self.kernel.diag(seen.points[others]))
        return np.array([cell.rows[row] for row in rows], dtype=np.int64)

    def posterior(self, cell: LocalCell) -> LocalPosterior:
        """What the cell believes, pending evaluations counted in the variance."""
        if not cell.pending:
            return self._model(cell)
        if cell.view is None:
            rows = sorted(cell.pending)
            index = self._positions(cell, rows)
            counts = np.array([cell.pending[row] for row in rows], dtype=np.float64)
            cell.view = self._model(cell).hallucinate(index, counts)
        return cell.view

    # -- files -------------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Arrays that :meth:`restore` takes."""
        width = self.cover.dimension + 1
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "splits": np.array(sorted(self.cover.splits), dtype=np.int64).reshape(-1, width),
            "keys": np.array([cell.key for cell in self.cells], dtype=np.int64),
            "counts": np.array([cell.count for cell in self.cells], dtype=np.int64),
        }
        known = [cell for cell in self.cells if cell.model is not None]
        arrays["known"] = np.array([self.slot_of[cell.key] for cell in known], dtype=np.int64)
        rows = [np.array(list(cell.rows.items()), dtype=np.int64).reshape(-1, 2) for cell in known]
        arrays |= _pack("rows", rows)
        waiting = [np.array(list(c.pending.items()), np.int64).reshape(-1, 2) for c in self.cells]
        arrays |= _pack("pending", waiting)
        states = [cell.model.state() for cell in known if cell.model is not None]
        arrays["numbers"] = np.array([number for _, number in states])
        for name in sorted({name for state, _ in states for name in state}):
            have = [i for i, (state, _) in enumerate(states) if name in state]
            arrays |= _pack(f"cells/{name}", [states[i][0][name] for i in have])
            arrays[f"cells/{name}:have"] = np.array(have, dtype=np.int64)
        return arrays

    def restore(self, arrays: dict[str, np.ndarray[Any, Any]], geometry_only: bool) -> None:
        """Take over a saved state, the list being that of the saved run.

        With ``geometry_only`` just the cover: the cells will be built again.
        """
        self.cover.splits = {tuple(key) for key in arrays["splits"].tolist()}
        if geometry_only:
            return
        ids_in = {} if self.points is None else self.cover.members(self.cover.unit(self.points))
        self.cells, self.slot_of = [], {}
        waiting = _unpack("pending", arrays)
        for i, values in enumerate(arrays["keys"].tolist()):
            key = tuple(values)
            cell = LocalCell(key, ids_in.get(key, _NONE), count=int(arrays["counts"][i]))
            cell.pending = dict(waiting[i].tolist())
            self._place(cell, i)
        known = [self.cells[slot] for slot in arrays["known"].tolist()]
        for cell, rows in zip(known, _unpack("rows", arrays), strict=True):
            cell.rows = dict(rows.tolist())
        states: list[dict[str, np.ndarray[Any, Any]]] = [{} for _ in known]
        for name in {name.split(":")[0] for name in arrays if name.startswith("cells/")}:
            have = arrays[f"{name}:have"].tolist()
            for i, part in zip(have, _unpack(name, arrays), strict=True):
                states[i][name.removeprefix("cells/")] = part
        for cell, state, number in zip(known, states, arrays["numbers"].tolist(), strict=True):
            self._model(cell).restore(state, number, self._all_followed(cell))


def _pack(name: str, parts: list[np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """Many small arrays as one, with their shapes: thousands of entries make a file slow."""
    empty = np.empty(0)
    dimensions = parts[0].ndim if parts else 1
    return {
        f"{name}:flat": np.concatenate([part.ravel() for part in parts]) if parts else empty,
        f"{name}:shapes": np.array([part.shape for part in parts], dtype=np.int64).reshape(
            len(parts), dimensions
        ),
    }


def _unpack(name: str, arrays: dict[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """The arrays that :func:`_pack` took."""
    shapes = arrays[f"{name}:shapes"]
    ends = np.cumsum(shapes.prod(axis=1, dtype=np.int64))
    parts = np.split(arrays[f"{name}:flat"], ends[:-1]) if len(shapes) else []
    return [part.reshape(shape) for part, shape in zip(parts, shapes.tolist(), strict=True)]
