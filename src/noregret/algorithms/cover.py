"""Choosing by the upper bounds of local GPs: what IGP-UCB and π-GP-UCB share."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.algorithms.learning import LearningOptimizer
from noregret.learning.design import surprises
from noregret.linalg.threads import one_blas_thread
from noregret.models.cover import Cover
from noregret.models.covered import CoveredGP, LocalCell, LocalPosterior
from noregret.models.local import LocalGP
from noregret.picking.cells import climb_cell
from noregret.results import BatchInfo, Recommendation
from noregret.spaces import Box
from noregret.widths.gaussian import igp_ucb

Width = str | float

#: what is kept of each cell's maximiser
_LEADERS = ("mean", "deviation", "largest", "beta")


class CoverOptimizer(LearningOptimizer):
    """Keeps a GP in each cell of a cover and picks by the largest upper confidence bound.

    Of each cell the maximiser of its bound is kept; a cell is looked at again when evaluations fall
    into it, or when its growing width may have moved the maximiser (π-GP-UCB, "Practical
    considerations"). Equal bounds are drawn at random.
    """

    #: points followed in each cell of a box, and searches started from the best of them
    pattern_size = 64
    searches = 1

    def __init__(self, domain: Any, kernel: Any, *, width: Width, local: str, **shared: Any):
        super().__init__(domain, kernel, **shared)
        if isinstance(width, str):
            self.width: Width = _checks.one_of("width", width, ("theory", "practical"))
        else:
            self.width = _checks.not_negative("width", width)
        self.local = _checks.one_of("local", local, ("exact", "sparse"))

    def _start(self, cover: Cover) -> None:
        """Put a GP into every cell of a cover."""
        pattern = np.empty((0, 0))
        points: Points | None = self._points
        if isinstance(self.domain, Box):
            unit = Box([(0.0, 1.0)] * self.domain.dimension)
            pattern = unit.spread(self.pattern_size, np.random.default_rng(self.seed))
            points = None
        rng = self._rng if self.local == "sparse" else None
        self._model = CoveredGP(
            self.kernel, self.lam, cover, self._observations, points, pattern, rng
        )
        self._synced = self.t
        self._pending: dict[int, int] = {}
        self._stale = False  # the cells have to be built again
        self._reset()

    def _reset(self) -> None:
        """Forget all maximisers."""
        count = len(self._model.cells)
        self._gains = np.array([cell.gain for cell in self._model.cells])
        self._leaders = {name: np.zeros(count) for name in _LEADERS}
        self._leader_ids: Ints = np.zeros(count, dtype=np.int64)
        box = isinstance(self.domain, Box)
        self._leader_points: Floats = np.zeros((count if box else 0, self.domain.dimension or 0))
        self._dirty = set(range(count))  # cells whose maximiser is out of date

    # -- widths ------------------------------------------------------------------------------

    @abstractmethod
    def _cell_delta(self) -> float:
        """δ for each cell's bounds."""

    def _betas(self) -> Floats:
        """The width of every cell."""
        if not isinstance(self.width, str):
            return np.full(len(self._gains), self.width)
        return igp_ucb(self.noise, self.norm, self.lam, self._cell_delta(), self._gains)

    @property
    def beta(self) -> float:
        """The largest width in use: bounds are mean ± beta · std."""
        self._sync()
        return float(self._betas().max())

    # -- following the observations ----------------------------------------------------------

    def _sync(self) -> None:
        """Let the cells take in what has been told and asked since."""
        seen = self._observations
        if self._stale or seen.t > self._synced:
            with one_blas_thread():
                self._learn()
                self._take_in()
        rows = np.flatnonzero(seen.pending)
        if len(rows) or self._pending:
            now = dict(zip(rows.tolist(), seen.pending[rows].tolist(), strict=True))
            for row in sorted(now.keys() | self._pending.keys()):
                if now.get(row, 0) != self._pending.get(row, 0):
                    self._dirty.update(self._model.pend(row, now.get(row, 0)))
            self._pending = now

    def _learn(self) -> None:
        """Fits that are due, and a norm that the new rewards show to be too small."""
        auto = self._auto
        if auto is None or self.t == self._synced:
            return
        if auto.due(self.t):
            self._fit(auto)
            self._stale = True
        elif auto.norm and auto.fitted and not self._stale and isinstance(self.width, str):
            self._double_norm()

    def _double_norm(self) -> None:
        """More norm while new rewards, not taken in yet, contradict the bounds."""
        seen, new = self._observations, slice(self._synced, self.t)
        rows, inverse = np.unique(seen.history_rows[new], return_inverse=True)
        counts = np.bincount(inverse).astype(np.float64)
        means = np.bincount(inverse, self._seen(seen.rewards[new])) / counts
        known = np.array([self._surest(row) for row in rows.tolist()])
        off = surprises(means - known[:, 0], counts, self.t, self.noise, self.delta)
        deviation, slots = np.sqrt(known[:, 1]), known[:, 2].astype(np.int64)
        before = self.norm
        self._double_norm_while(
            lambda: bool(np.any(off > self._betas()[slots] * deviation + 1e-12))
        )
        if self.norm > before:
            self._dirty.update(range(len(self._model.cells)))

    def _surest(self, row: int) -> tuple[float, float, int]:
        """Mean, variance and slot of the cell that knows most of an arm, told evaluations only."""
        seen, model = self._observations, self._model
        point = seen.points[row : row + 1]
        best = (0.0, np.inf, 0)  # an arm of a replaced list in no cell: nothing is contradicted
        for slot in model.slots(row):
            cell = model.cells[slot]
            mean, variance = np.zeros(1), self.kernel.diag(point)
            if cell.model is not None and seen.ids[row] >= 0:
                at = np.searchsorted(cell.ids, seen.ids[row : row + 1])
                mean, variance = cell.model.mean[at], cell.model.variance[at]
            elif cell.model is not None:
                mean, variance = cell.model.predict(point)
            if variance[0] < best[1]:
                best = float(mean[0]), float(variance[0]), slot
        return best

    def _take_in(self) -> None:
        seen, model = self._observations, self._model
        if self._stale:
            self._rebuild()
            return
        self._stale = True  # an update that is interrupted is made good from scratch
        new = slice(self._synced, seen.t)
        changed = model.tell(seen.history_rows[new], self._seen(seen.rewards[new]))
        self._make_room(len(model.cells) - len(self._gains))
        for slot in changed:
            self._gains[slot] = model.cells[slot].gain
        self._dirty |= changed
        self._synced, self._stale = seen.t, False

    def _rebuild(self) -> None:
        """All cells from scratch."""
        model = self._model
        model.kernel, model.lam = self.kernel, self.lam
        model.standard = self.standardisation
        model.points = None if isinstance(self.domain, Box) else self._points
        model.rebuild()
        self._synced, self._stale = self.t, False
        self._reset()
        for row, count in self._pending.items():
            model.pend(row, count)

    def _make_room(self, more: int) -> None:
        if more:
            for name, values in self._leaders.items():
                self._leaders[name] = np.concatenate([values, np.zeros(more)])
            self._gains = np.concatenate([self._gains, np.zeros(more)])
            self._leader_ids = np.concatenate([self._leader_ids, np.zeros(more, dtype=np.int64)])
            if isinstance(self.domain, Box):
                zeros = np.zeros((more, self.domain.dimension))
                self._leader_points = np.concatenate([self._leader_points, zeros])

    # -- choosing ----------------------------------------------------------------------------

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        self._sync()
        if draws := self._uniform_draws(n or 1):
            return self._draw(draws), None
        betas = self._betas()
        slots: list[int] = []
        upper: list[float] = []
        chosen: list[Any] = []
        box = isinstance(self.domain, Box)
        for left in range(n or 1, 0, -1):
            slot, bound = self._best_cell(betas)
            pick = self._leader_points[slot].copy() if box else self._leader_ids[slot]
            slots.append(slot)
            upper.append(bound)
            chosen.append(pick)
            if left > 1:
                row = int(self._rows(np.array([pick]))[0])
                self._pending[row] = self._pending.get(row, 0) + 1
                self._dirty.update(self._model.pend(row, self._pending[row]))
        bounds = self._shift + self._unit * np.array(upper)
        info = BatchInfo(bounds, float(betas[slots].max()), 1.0, len(self._observations))
        return np.array(chosen), info

    def _best_cell(self, betas: Floats) -> tuple[int, float]:
        """The cell with the largest bound, and that bound.

        A cell's best bound is convex in β with slopes up to its largest deviation, so the kept
        maximiser's own bound is at most (β − β_kept)(largest − its deviation) too low.
        """
        for slot in sorted(self._dirty):
            self._find_leader(slot, float(betas[slot]))
        self._dirty.clear()
        of = self._leaders
        bounds = of["mean"] + betas * of["deviation"]
        slack = (betas - of["beta"]) * (of["largest"] - of["deviation"])
        while True:
            best = float(bounds.max())
            doubtful = np.flatnonzero((slack > 0) & (bounds + slack >= best))
            if not len(doubtful):
                break
            slot = int(doubtful[np.argmax(bounds[doubtful] + slack[doubtful])])
            self._find_leader(slot, float(betas[slot]))
            bounds[slot] = of["mean"][slot] + betas[slot] * of["deviation"][slot]
            slack[slot] = 0.0
        return self._one_of(np.flatnonzero(bounds == best)), best

    def _one_of(self, ties: Ints) -> int:
        return int(ties[self._rng.integers(len(ties))] if len(ties) > 1 else ties[0])

    def _find_leader(self, slot: int, beta: float) -> None:
        """Maximise the bound inside a cell."""
        cell = self._model.cells[slot]
        mean, variance, posterior = self._beliefs(cell)
        deviation = np.sqrt(variance)
        upper = mean + beta * deviation
        i = self._one_of(np.flatnonzero(upper == upper.max()))
        found = [float(mean[i]), float(deviation[i])]
        largest = float(deviation.max())
        if isinstance(self.domain, Box):
            point = self._followed(cell)[i]
            if posterior is not None and (top := self._climb(cell, posterior, upper, beta)):
                point, *found = top
            self._leader_points[slot] = np.clip(point, self.domain.lower, self.domain.upper)
            largest = found[1]  # a search is not repeated only because β has grown
        else:
            self._leader_ids[slot] = cell.ids[i]
            if isinstance(cell.model, LocalGP) and len(cell.model.points) == len(upper):
                cell.model.expect(upper)
        for name, value in zip(_LEADERS, (*found, largest, beta), strict=True):
            self._leaders[name][slot] = value

    def _beliefs(
        self, cell: LocalCell, pending: bool = True
    ) -> tuple[Floats, Floats, LocalPosterior | None]:
        """Mean and variance of a cell's candidates (or of what it follows on a box)."""
        if cell.model is None and not (pending and cell.pending):
            if isinstance(self.domain, Box):
                prior = self.kernel.diag(self._model.followed(cell))
            else:
                prior = self._prior[cell.ids]
            return np.zeros(len(prior)), prior, None
        posterior = self._model.posterior(cell) if pending else cell.model
        assert posterior is not None
        size = None if isinstance(self.domain, Box) else len(cell.ids)
        return posterior.mean[:size], posterior.variance[:size], posterior

    def _climb(
        self, cell: LocalCell, posterior: LocalPosterior, upper: Floats, beta: float
    ) -> tuple[Floats, float, float] | None:
        """A point above all that a cell follows, with its mean and deviation."""
        bounds, followed = self._model.cover.bounds(cell.key), self._followed(cell)
        return climb_cell(bounds, posterior, followed, upper, beta, self.searches)

    def _followed(self, cell: LocalCell) -> Points:
        return self._model.followed(cell) if cell.model is None else cell.model.points

    # -- what is known -----------------------------------------------------------------------

    def _predict(self, where: Ints | Floats) -> tuple[Floats, Floats]:
        """On a face the cell that knows most speaks, whatever is pending: the mean must stay."""
        mean, variance = np.zeros(len(where)), np.zeros(len(where))
        smallest = np.full(len(where), np.inf)
        told = self._by_cell(where, pending=False)
        for (inside, means, known, _), now in zip(told, self._by_cell(where), strict=True):
            surer = known < smallest[inside]
            smallest[inside[surer]] = known[surer]
            mean[inside[surer]] = means[surer]
            variance[inside[surer]] = now[2][surer]
        return self._shift + self._unit * mean, self._unit**2 * variance

    def upper(self, points: Any = None) -> Floats:
        """UCB_t of some ids (all by default), or points of a box: the largest of their cells'.

        Pending points count in the deviation.
        """
        if points is None and isinstance(self.domain, Box):
            raise ValueError("points must be given: a box has no list")
        where = self._where(np.arange(len(self._points)) if points is None else points)
        bound = np.full(len(where), -np.inf)
        with one_blas_thread():
            for inside, mean, variance, beta in self._by_cell(where):
                bound[inside] = np.maximum(bound[inside], mean + beta * np.sqrt(variance))
        return self._shift + self._unit * bound

    def _by_cell(
        self, where: Ints | Floats, pending: bool = True
    ) -> Iterator[tuple[Ints, Floats, Floats, float]]:
        """Of each cell: which of the ids or points it holds, their means, variances, its β."""
        self._sync()
        model, betas = self._model, self._betas()
        box = isinstance(self.domain, Box)
        points = np.asarray(where) if box else self._points[where]
        for key, inside in model.cover.members(model.cover.unit(points)).items():
            slot = model.slot_of[key]
            cell = model.cells[slot]
            mean, variance, posterior = self._beliefs(cell, pending)
            if not box:
                at = np.searchsorted(cell.ids, np.asarray(where)[inside])
                mean, variance = mean[at], variance[at]
            elif posterior is not None:
                mean, variance = posterior.predict(points[inside])
            else:
                mean, variance = np.zeros(len(inside)), self.kernel.diag(points[inside])
            yield inside, mean, variance, float(betas[slot])

    def _recommend(self) -> Recommendation:
        self._sync()
        betas = self._betas()
        best: tuple[float, int, int] = (-np.inf, 0, 0)
        highest = -np.inf
        for slot, cell in enumerate(self._model.cells):
            mean, variance, posterior = self._beliefs(cell, pending=False)
            radius = betas[slot] * np.sqrt(variance)
            i = int(np.argmax(mean - radius))
            if mean[i] - radius[i] > best[0]:
                best = float(mean[i] - radius[i]), slot, i
            upper = mean + radius
            highest = max(highest, float(upper.max()))
            if posterior is not None and isinstance(self.domain, Box):
                beta = float(betas[slot])
                if top := self._climb(cell, posterior, upper, beta):
                    highest = max(highest, top[1] + beta * top[2])
        lower, slot, i = best
        cell = self._model.cells[slot]
        value = float(self._beliefs(cell, pending=False)[0][i])
        box = isinstance(self.domain, Box)
        return Recommendation(
            id=-1 if box else int(cell.ids[i]),
            point=self._followed(cell)[i].copy() if box else self._points[cell.ids[i]],
            mean=self._shift + self._unit * value,
            lower=self._shift + self._unit * lower,
            upper=self._shift + self._unit * (2.0 * value - lower),
            gap=self._unit * max(highest - lower, 0.0),
        )

    # -- lists and files ---------------------------------------------------------------------

    def _replace(self, points: Points, prior: Floats) -> None:
        self._stale = True  # the observations still mean the old list: rebuilt at the next call

    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        arrays: dict[str, np.ndarray[Any, Any]]
        arrays = {f"leaders/{name}": values for name, values in self._leaders.items()}
        arrays |= {"leaders/ids": self._leader_ids, "leaders/points": self._leader_points}
        arrays |= {f"cover/{name}": array for name, array in self._model.state().items()}
        values = {
            "synced": self._synced,
            "pending": list(self._pending.items()),
            "stale": self._stale,
            "dirty": sorted(self._dirty),
        }
        return arrays, values | self._learnt_state()

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        self._restore_learnt(values)
        self._model.lam, self._model.standard = self.lam, self.standardisation
        self._model.restore(
            {name[6:]: array for name, array in arrays.items() if name.startswith("cover/")},
            geometry_only=values["stale"],
        )
        self._leaders = {name: arrays[f"leaders/{name}"] for name in _LEADERS}
        self._leader_ids = arrays["leaders/ids"]
        self._leader_points = arrays["leaders/points"]
        self._gains = np.array([cell.gain for cell in self._model.cells])
        self._synced, self._stale = int(values["synced"]), bool(values["stale"])
        self._pending = {int(row): int(count) for row, count in values["pending"]}
        self._dirty = set(values["dirty"])
