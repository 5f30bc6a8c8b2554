"""ClippedGPUCB's estimate: rewards clipped at cuts that were known before they were seen."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.widths import clipped
from noregret.widths.heavy import Horizon

#: each epoch's level is this many times the one before
_STEP = 1.3
#: the level of the first epoch is made for this log det(I + K/λ) and this z
_ROOM = 10.0, 3.0
#: prices are computed again when the number of rewards has grown by this factor,
_GROWTH = 1.15
#: for a level that is this factor above the one needed
_SLACK = 1.02
#: the last epoch, and the width after it in units of the prior's, which is so large that it says
#: nothing
_LAST_EPOCH, _NO_WIDTH = 60, 1e9


def _none() -> Floats:
    return np.empty(0)


@dataclass(frozen=True)
class _Progress:
    """What is known after the last batch start.

    Attributes
    ----------
    centres, moments, leverages
        m, v and a bound on the leverage of every reward, all known before it (t each).
    epoch
        k: cuts are those of the k-th level.
    sums
        Sums of the rewards, clipped at those cuts, by arm (u).
    width
        β: ‖f − mean‖ in the norm of V is at most this.
    level
        The level for which prices are computed, at most that of the epoch: q = level·√leverage/ς.
    price
        Their sum.
    priced, whole
        Rewards in it, and how many there were when all prices were last computed.
    scale
        ς in use.
    """

    centres: Floats = field(default_factory=_none)
    moments: Floats = field(default_factory=_none)
    leverages: Floats = field(default_factory=_none)
    epoch: int = 0
    sums: Floats = field(default_factory=_none)
    width: float = 0.0
    level: float = 0.0
    price: float = 0.0
    priced: int = 0
    whole: int = 0
    scale: float = 0.0


class ClippedRewards:
    """Every reward counts as m + clip(y − m, ±c).

    m is the middle of the arm's interval before the batch and c a cut that grows as its leverage
    falls. Cuts are made for a level; when the width outgrows it, the next epoch begins and all
    rewards are clipped anew, at smaller cuts. See the Proofs page, Theorem 8.

    Parameters
    ----------
    alpha
        α in (0, 1]: the noise has a finite moment of order 1 + α.
    horizon, delta
        T, used where α < 1, and δ.
    """

    spread: float | None = None
    revision = 0

    def __init__(self, alpha: float, horizon: Horizon, delta: float) -> None:
        self._order, self._horizon, self._delta = 1.0 + alpha, horizon, delta
        self._progress = _Progress()

    @property
    def proved_width(self) -> float | None:
        """β for the norm that is assumed; ``None`` before the first reward."""
        return self._progress.width if self._progress.priced else None

    @property
    def epoch(self) -> int:
        """How often the width has outgrown the level that cuts are made for."""
        return self._progress.epoch

    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """Sums of the clipped rewards by arm (u)."""
        before = self._progress
        first = len(before.centres)
        rows = observations.history_rows[first:]
        leverage = model.leverage()
        width = before.width if before.priced else math.sqrt(assumed.lam) * assumed.norm
        reach, radius = assumed.norm * np.sqrt(model.prior), width * np.sqrt(leverage)
        mean = model.mean(np.arange(len(observations)))
        lower, upper = np.maximum(mean - radius, -reach), np.minimum(mean + radius, reach)
        # Where the assumptions are wrong an interval may be empty.
        distances = 0.5 * np.maximum(upper - lower, 0.0)[rows]
        now = replace(
            before,
            centres=np.concatenate([before.centres, 0.5 * (lower + upper)[rows]]),
            moments=np.concatenate(
                [before.moments, clipped.moment_about(distances, assumed.noise, self._order)]
            ),
            leverages=np.concatenate([before.leverages, _leverage_after(leverage[rows], rows)]),
        )
        scale = self._scale(assumed, observations.t)
        if scale != before.scale:
            now = replace(now, sums=_none())
            first = 0
        sums = np.zeros(len(observations))
        sums[: len(now.sums)] = now.sums
        sums += self._clipped_sums(now, observations, assumed, scale, first)
        self._progress = replace(now, sums=sums)
        return sums

    def _clipped_sums(
        self,
        now: _Progress,
        observations: Observations,
        assumed: Assumptions,
        scale: float,
        first: int,
    ) -> Floats:
        """Sums of the clipped rewards from ``first`` on, by arm (u)."""
        sums = np.zeros(len(observations))
        cuts = self._cuts(now, assumed, scale)[first:]
        centres = now.centres[first:]
        kept = centres + np.clip(observations.rewards[first:] - centres, -cuts, cuts)
        np.add.at(sums, observations.history_rows[first:], kept)
        return sums

    def _cuts(self, now: _Progress, assumed: Assumptions, scale: float) -> Floats:
        """c of every reward (t), for the level of the epoch."""
        largest = self._level(now.epoch, assumed, scale) / scale * np.sqrt(now.leverages)
        return clipped.good_cuts(largest, now.moments, scale, self._order)

    def weights(
        self, model: SparseGP, observations: Observations, assumed: Assumptions
    ) -> Floats | None:
        """``None``: least squares on the clipped rewards. The width is computed here."""
        before, t = self._progress, observations.t
        rows, leverage = observations.history_rows, model.leverage()
        scale = self._scale(assumed, t)
        delta = self._delta if self._order == 2.0 else self._horizon.delta(self._delta, t)
        z = clipped.deviations(int((observations.told > 0).sum()))
        log_det = float(model.log_dets()[0])
        now = replace(before, scale=scale)

        def priced(now: _Progress, first: int) -> float:
            largest = now.level / scale * np.sqrt(leverage[rows[first:]])
            cuts = self._cuts(now, assumed, scale)[first:]
            moments = now.moments[first:]
            return float(clipped.prices(largest, cuts, moments, scale, self._order).sum())

        def squared(now: _Progress) -> float:
            share = delta / ((now.epoch + 1) * (now.epoch + 2))
            return clipped.squared(scale, assumed.norm, assumed.lam, share, log_det, now.price)

        def needed(now: _Progress) -> float:
            return math.sqrt(squared(now)) / scale + z

        fresh = before.level > 0.0 and scale == before.scale and t < _GROWTH * before.whole
        if fresh:
            now = replace(now, price=now.price + priced(now, before.priced))
        if not fresh or needed(now) > now.level:
            now = replace(now, level=self._level(now.epoch, assumed, scale), whole=t)
            now = replace(now, price=priced(now, 0))
            while needed(now) > now.level and now.epoch < _LAST_EPOCH:
                now = replace(now, epoch=now.epoch + 1)
                now = replace(now, level=self._level(now.epoch, assumed, scale))
                now = replace(now, price=priced(now, 0))
            if needed(now) <= now.level:
                now = replace(now, level=min(_SLACK * needed(now), now.level))
                now = replace(now, price=priced(now, 0))
        width = math.sqrt(squared(now))
        if needed(now) > now.level:
            width = _NO_WIDTH * math.sqrt(assumed.lam) * assumed.norm
        changed = now.epoch != before.epoch
        if changed:
            now = replace(now, sums=self._clipped_sums(now, observations, assumed, scale, 0))
        self._progress = replace(now, width=width, priced=t)
        if not changed:
            return None
        root = model.posterior().root
        return np.asarray(root @ (root.T @ (now.sums @ model.features)))

    def _scale(self, assumed: Assumptions, t: int) -> float:
        reach = assumed.norm * math.sqrt(assumed.scale)
        horizon = 1 if self._order == 2.0 else self._horizon.after(t)
        return clipped.usual_scale(assumed.noise, reach, self._order, horizon)

    def _level(self, epoch: int, assumed: Assumptions, scale: float) -> float:
        """√L + z that the cuts of an epoch are made for; settings alone decide it."""
        log_det, z = _ROOM
        square = clipped.squared(scale, assumed.norm, assumed.lam, self._delta, log_det, 0.0)
        return float((math.sqrt(square) / scale + z) * _STEP**epoch)

    def restart(self) -> None:
        """Kernel, units or λ have changed: cuts are chosen anew."""
        self._progress = _Progress()


def _leverage_after(leverage: Floats, rows: Ints) -> Floats:
    """Upper bounds on the leverages (n) after these rewards and those before them are told.

    The j-th new reward of an arm of leverage l makes it at most l/(1 + jl).
    """
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    lengths = np.diff([*starts, len(rows)])
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows)) - np.repeat(starts, lengths) + 1
    return np.asarray(leverage / (1.0 + rank * leverage))
