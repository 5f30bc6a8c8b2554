"""Beliefs on a cover: every cell has a GP of its own (π-GP-UCB, Section 3).

The beliefs of a cell are never changed, only replaced. So a copy of all beliefs costs little, and
an update that is interrupted leaves them as they were.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.beliefs import log_det_bounds
from noregret.learning.contradictions import LARGEST_NORM, apart
from noregret.learning.learner import Learner
from noregret.learning.local import CellBeliefs, Covering, joined, seen_before
from noregret.learning.rules import Rules
from noregret.learning.trace import lower_trace, trace_limit
from noregret.models.assumptions import Assumptions
from noregret.models.cover import Cover, Key, cells_a_side
from noregret.models.dictionary import Sparsifier
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.widths import proved, shares
from noregret.widths.evidence import Evidence

_NONE: Ints = np.empty(0, dtype=np.int64)
#: exact GPs of at most this many arms are computed from scratch whenever rewards come
_SMALL = 32


class CoverBeliefs:
    """The cells of a cover with evaluations, and what is assumed.

    Attributes
    ----------
    assumed, learner, t, latest, version, refuted
        As for one GP, see :class:`~noregret.learning.beliefs.Beliefs`.
    cover
        The cover, which says which cells there are.
    how
        How the cover is kept.
    horizon, epoch
        T, doubled so far, and how often it was doubled.
    cells
        What is believed of each cell with evaluations; the cells changed last are at the end.
    stamp
        How often rewards have been taken in.
    size
        The number of inducing points of all cells.
    allows_heavy_tails
        Noise must be sub-Gaussian: the model is least squares.
    """

    allows_heavy_tails = False

    def __init__(
        self,
        assumed: Assumptions,
        learner: Learner | None,
        nothing: Points,
        cover: Cover,
        how: Covering,
    ) -> None:
        self.assumed = assumed
        self.learner = learner
        self.cover = cover
        self.how = how
        self.horizon = how.horizon
        self.epoch = 0
        self.t = 0
        self.latest: Ints = _NONE
        self.version = 0
        self.refuted = False
        self.cells: dict[Key, CellBeliefs] = {}
        self.stamp = 0
        self.size = 0
        self._nothing = nothing

    def __deepcopy__(self, memo: dict[int, Any]) -> "CoverBeliefs":
        """A copy that shares the cells, which are never written to."""
        made = copy.copy(self)
        made.learner = copy.deepcopy(self.learner, memo)
        return made

    def is_current(self, observations: Observations) -> bool:
        """Whether everything told has been taken in."""
        return observations.t == self.t

    @property
    def dictionary(self) -> Ints:
        """The arms that are inducing points of some cell (rows)."""
        parts = [cell.rows[cell.model.dictionary] for cell in self.cells.values()]
        return np.unique(np.concatenate([_NONE, *parts]))

    def effective_dimension(self) -> float:
        """Σ leverage over the evaluations told, each in every cell that it lies in."""
        return sum(cell.model.effective_dimension() for cell in self.cells.values())

    def log_det(self) -> float:
        """Σ log det(I + K/λ) of the cells."""
        return sum(cell.log_det for cell in self.cells.values())

    # -- widths ------------------------------------------------------------------------------

    def cell(self, key: Key, rules: Rules) -> CellBeliefs:
        """What is believed of a cell, with or without evaluations."""
        found = self.cells.get(key)
        if found is not None:
            return found
        unknown = CellBeliefs(key, _NONE, self._model(), Sparsifier(self.how.dictionary))
        return self._judged(unknown, rules)

    def _model(self) -> SparseGP:
        assumed = self.assumed
        return SparseGP(assumed.kernel, assumed.lams, self._nothing, assumed.scale)

    def widths(self, cell: CellBeliefs, rules: Rules) -> Floats:
        """The factors of √leverage for every λ (g), in a cell."""
        if cell.widths is not None:
            return cell.widths
        fixed = rules.fixed_widths(self.assumed.lam)
        return self.widths_now(np.array([cell.log_det]), rules) if fixed is None else fixed

    def widths_now(self, log_dets: Floats, rules: Rules) -> Floats:
        """The factors now, for the first λ, of cells with these log det(I + K/λ) (n)."""
        nothing = np.zeros(len(self.assumed.lams))
        found, _ = rules.widths(self._evidence((0,), rules, 0, log_dets[None], lambda: nothing))
        return np.asarray(found[0])

    def _evidence_in(self, cell: CellBeliefs, rules: Rules) -> Evidence:
        """What the widths of a cell depend on."""
        model = cell.model
        ridge = model.ridge(cell.scatter / self.assumed.unit**2)
        found = self._evidence(cell.key, rules, cell.count, log_det_bounds(model), ridge)
        return replace(
            found,
            trace=model.trace(),
            prior_sum=model.prior_sum(),
            dimension=model.effective_dimension,
        )

    def _evidence(
        self, key: Key, rules: Rules, count: int, log_dets: Floats, ridge: Callable[[], Floats]
    ) -> Evidence:
        """What the widths of a cell depend on, if its dictionary is complete."""
        assumed = self.assumed
        return Evidence(
            t=count,
            noise=assumed.noise,
            norm=assumed.norm,
            delta=self._share(rules.delta, key),
            lams=np.array(assumed.lams),
            ratio=rules.ratio,
            choices=rules.choices or count,
            log_dets=log_dets,
            ridge=ridge,
            trace=0.0,
            # With one evaluation at a time the sum is log det, and log(1 + 3a) ≤ 3 log(1 + a).
            summed=log_dets[0],
            summed_three=3.0 * log_dets[0],
            prior_sum=0.0,
            dimension=float,
            estimate=None,
        )

    def _share(self, delta: float, key: Key) -> float:
        """A cell's share of δ."""
        cover, d = self.cover, self.cover.dimension
        if not self.how.by_time:
            return shares.by_depth(delta, cover.per_side**d, d, key[0])
        share = shares.by_epoch(delta, self.epoch, planned=self.how.planned)
        first = (cover.per_side << cover.least) ** d
        # The time is that of the next evaluation.
        return shares.by_time(share, first, cover.exponent * d, self.t + 1)

    # -- taking in ---------------------------------------------------------------------------

    def take_in(
        self, observations: Observations, rules: Rules, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        """Take in what has been told since the last call; return what happened, as events."""
        if observations.t == self.t:
            return []
        before = vars(self).copy()
        self.cells = dict(self.cells)
        try:
            return self._advance(observations, rules, rng)
        except BaseException:
            vars(self).update(before)
            raise

    def _advance(
        self, observations: Observations, rules: Rules, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        assumed, least = self.assumed, self.cover.least
        events = self._learn(observations, rules)
        latest = set(observations.history_rows[self.t :].tolist())
        self.latest = rows = np.array(sorted(latest), dtype=np.int64)
        if self.assumed is not assumed:
            self.version += 1
            self.cells, self.size = {}, 0
            rows = np.flatnonzero(observations.told)
        elif self.cover.least > least:
            halved = [self._take(key).rows for key in list(self.cells) if self.cover.is_split(key)]
            rows = np.unique(np.concatenate([rows, *halved]))
        self.t = observations.t
        self.stamp += 1
        changes = self._update(rows, observations, rules, rng)
        return events + self._check(changes, observations, rules)

    def _learn(self, observations: Observations, rules: Rules) -> list[dict[str, Any]]:
        """Do the fits that are due, and double a horizon that has been passed."""
        events: list[dict[str, Any]] = []
        if self.learner is not None and self.learner.due(observations.t):
            self.learner = copy.deepcopy(self.learner)
            found = self.learner.fit(observations, self.assumed, rules.corners(), rules.seed)
            self.assumed = found
            told = {"kernel": repr(found.kernel), "noise": found.noise, "norm": found.norm}
            events.append({"event": "fit", **told})
        if observations.t > self.horizon:
            while observations.t > self.horizon:
                self.horizon, self.epoch = 2 * self.horizon, self.epoch + 1
            if self.how.lam_follows:
                self.assumed = replace(self.assumed, lams=(1.0 + 2.0 / self.horizon,))
            self._refine()
            events.append({"event": "horizon doubled", "horizon": self.horizon})
        return events

    def _refine(self) -> None:
        """Halve the cells that are larger than those of a first cover for the new horizon."""
        if self.how.growth is not None:
            self.cover = cover = self.cover.copy()
            goal = cells_a_side(float(self.horizon) ** self.how.growth, cover.dimension)
            while 2 * (cover.per_side << cover.least) <= goal:
                cover.least += 1

    def _take(self, key: Key) -> CellBeliefs:
        """Take a cell out."""
        cell = self.cells.pop(key)
        self.size -= cell.model.size
        return cell

    def _update(
        self, rows: Ints, observations: Observations, rules: Rules, rng: np.random.Generator
    ) -> list[tuple[CellBeliefs | None, CellBeliefs]]:
        """Take in new evaluations of these arms; the changed cells, before and after."""
        cover = before = self.cover
        points = observations.points
        parts = cover.members(cover.unit(points[rows]))
        open_ = [(key, rows[part]) for key, part in reversed(parts.items())]
        changes = []
        while open_:
            key, inside = open_.pop()
            old = None
            if key in self.cells:
                old = self._take(key)
                inside = joined(old.rows, inside)
            cell = self._cell(key, inside, old, observations, rules, rng)
            if cell is None:
                if cover is before:
                    self.cover = cover = cover.copy()
                cover.splits.add(key)
                halves = cover.divide(key, cover.unit(points[inside]))
                open_ += [(child, inside[part]) for child, part in reversed(halves)]
            else:
                self.cells[key] = cell
                self.size += cell.model.size
                changes.append((old, cell))
        return changes

    def _cell(
        self,
        key: Key,
        rows: Ints,
        old: CellBeliefs | None,
        observations: Observations,
        rules: Rules,
        rng: np.random.Generator,
    ) -> CellBeliefs | None:
        """The cell with the evaluations of these arms; ``None`` if it splits."""
        told = observations.told[rows]
        count = int(told.sum())
        full = self.cover.is_full(key, count)
        if full and self.how.split == "count":
            return None
        model, sparsifier = self._taught(rows, told, old, observations, rules, rng)
        scatter = float(observations.scatters[rows].sum())
        draft = CellBeliefs(key, rows, model, sparsifier, scatter, stamp=self.stamp)
        if rules.limits_trace:
            limit = trace_limit(self._evidence_in(draft, rules))
            lower_trace(model, observations.points[rows], limit)
        cell = self._judged(draft, rules)
        # Section 7: the information gain itself decides, once the other rule allows a split.
        return None if full and cell.gain > math.log(count + 1) else cell

    def _taught(
        self,
        rows: Ints,
        told: Ints,
        old: CellBeliefs | None,
        observations: Observations,
        rules: Rules,
        rng: np.random.Generator,
    ) -> tuple[SparseGP, Sparsifier]:
        """A model with the evaluations of these arms, and the sparsifier of its dictionary."""
        sums = self.assumed.seen(observations.sums[rows], told)
        complete, size = self.how.dictionary == "complete", len(rows)
        if old is not None and complete and len(old.rows) == size <= _SMALL:
            return old.model.recounted(told, sums), old.sparsifier
        points = observations.points[rows]
        if old is None or (complete and size <= _SMALL):
            model, sparsifier = self._model(), Sparsifier(self.how.dictionary)
            if complete:
                model.rebuild(points, told, sums, np.arange(size))
                return model, sparsifier
        else:
            model, sparsifier = old.model.copy(), copy.copy(old.sparsifier)
        model.see(points)
        plan = sparsifier.plan(model, points, told, rules.qbar(int(told.sum())), rng)
        (model.rebuild if plan.replace else model.advance)(points, told, sums, plan.rows)
        return model, sparsifier

    def _judged(self, cell: CellBeliefs, rules: Rules) -> CellBeliefs:
        """A cell with the widths that follow from its evaluations."""
        if self.how.by_time or rules.fixed_widths(self.assumed.lam) is not None:
            return cell
        widths, refuted = rules.widths(self._evidence_in(cell, rules))
        return replace(cell, widths=widths, refuted=refuted)

    # -- refuted assumptions -----------------------------------------------------------------

    def _check(
        self,
        changes: list[tuple[CellBeliefs | None, CellBeliefs]],
        observations: Observations,
        rules: Rules,
    ) -> list[dict[str, Any]]:
        """Whether the rewards allow the norm; a norm that is learnt is doubled until they do."""
        learner = self.learner
        if not rules.checked or self.refuted or (learner is not None and not learner.fitted):
            return []
        broken = [
            (old, cell) for old, cell in changes if self._breaks(old, cell, observations, rules)
        ]
        norm = self.assumed.norm
        if not broken:
            return []
        if learner is None or not learner.norm:
            self.refuted = True
            smallest = max(self._smallest_norm(cell, rules) for _, cell in broken)
            return [{"event": "refuted", "norm": norm, "smallest_norm": smallest}]
        contradicted = [self._apart(old, cell, observations, rules) for old, cell in broken]
        while any(check(norm) for check in contradicted) and norm < LARGEST_NORM:
            norm *= 2.0
        self.assumed = replace(self.assumed, norm=norm)
        self.version += 1
        self.cells = {key: self._judged(cell, rules) for key, cell in self.cells.items()}
        return [{"event": "norm doubled", "norm": norm}]

    def _breaks(
        self,
        old: CellBeliefs | None,
        cell: CellBeliefs,
        observations: Observations,
        rules: Rules,
    ) -> bool:
        """Whether bounds of a cell before and after the last rewards are disjoint."""
        if old is None or cell.refuted:
            return cell.refuted
        rows, mean, root = seen_before(old, cell, observations)
        moved = np.abs(cell.model.mean(rows) - mean) * (1.0 - 1e-9) - 1e-12
        reach = self.widths(old, rules)[0] * root
        return bool(
            np.any(moved > reach + self.widths(cell, rules)[0] * np.sqrt(cell.model.leverage(rows)))
        )

    def _apart(
        self,
        old: CellBeliefs | None,
        cell: CellBeliefs,
        observations: Observations,
        rules: Rules,
    ) -> Callable[[float], bool]:
        """Gives for a norm whether bounds before and after the last rewards are disjoint."""
        latest = self._evidence_in(cell, rules)
        if old is None:
            return apart(None, cell.model, _NONE, latest, rules)
        rows, mean, root = seen_before(old, cell, observations)
        before = mean, root, self._evidence_in(old, rules)
        return apart(before, cell.model, rows, latest, rules)

    def _smallest_norm(self, cell: CellBeliefs, rules: Rules) -> float:
        """The smallest norm that the rewards of a cell allow."""
        found = self._evidence_in(cell, rules)
        square = proved.squared_radius(found.noise, found.delta, found.log_dets, found.ridges)
        return proved.smallest_norm(square, found.lams, found.ridges, found.trace)
