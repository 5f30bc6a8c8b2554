"""ClippedGPUCB's estimate: softly clipped rewards, and the width that goes with them."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from noregret._types import Floats
from noregret.linalg.factors import row_norms
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.clipped_arms import HIGHEST, PARTS
from noregret.rewards.least_squares import RewardEstimate
from noregret.widths import clipped
from noregret.widths.heavy import Horizon

#: λF²k(x, x)/ς² of the λ that prices are computed for is as near to this as there is a λ
_USUAL = 5.0
#: if F√k(x, x) is more than this times ς, prices are also computed for the third λ
_LARGE, _SECOND = 2.0, 2
#: the width beyond the highest level, in units of the prior's: so large that it says nothing
_NO_WIDTH = 1e9
#: the level at which the first search starts
_FIRST_LEVEL = 5.0
#: another θ is tried once in this many batch starts
_PATIENCE = 4
#: where no level was high enough, the next search is made after this many times as many rewards
_WAIT = 1.1
#: smaller leverages are round-off
_TINY = 1e-300
#: a search for a level starts this factor below the last level
_LOWER = 1.05


@dataclass(frozen=True)
class _Clipping:
    """How rewards were clipped at the last batch start, and the widths that this gave.

    Attributes
    ----------
    mean
        The mean of every arm before the latest rewards (u): rewards are clipped about it.
    squares
        β² for every λ (g): ‖f − mean‖² in the norm of V is at most this; none before the first
        reward. Below zero if the assumptions are refuted.
    levels, parts
        For every λ that prices are computed for, the level and the number of the θ that gave it.
    starts
        How many batch starts there have been.
    waits
        For every λ that prices are computed for, the number of rewards from which a level is looked
        for again, after no level was high enough.
    """

    mean: Floats = field(default_factory=lambda: np.empty(0))
    squares: Floats = field(default_factory=lambda: np.empty(0))
    levels: tuple[float, ...] = (_FIRST_LEVEL,) * 2
    parts: tuple[int, ...] = (0,) * 2
    starts: int = 0
    waits: tuple[int, ...] = (0,) * 2


class ClippedRewards(RewardEstimate):
    """Rewards are softly clipped: those far from the mean count as the logarithm of the distance.

    The distance that counts as far depends on the leverage of the arm: the better the arm is known,
    the less is clipped.
    See the Proofs page, Theorem 8.

    Parameters
    ----------
    alpha
        α in (0, 1]: the noise has a finite moment of order 1 + α.
    horizon, delta
        T, used if α < 1, and δ.
    """

    def __init__(self, alpha: float, horizon: Horizon, delta: float) -> None:
        self._order, self._horizon, self._delta = 1.0 + alpha, horizon, delta
        self._clipping = _Clipping()

    @property
    def squared_widths(self) -> Floats:
        """β² of every λ (g), for the norm that is assumed; none before the first reward."""
        return self._clipping.squares

    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """Sums of the rewards by arm (u), as a start; :meth:`weights` clips them."""
        mean = model.mean(np.arange(len(observations)))
        self._clipping = replace(self._clipping, mean=mean)
        return np.asarray(observations.sums.astype(np.float64))

    def weights(
        self, model: SparseGP, observations: Observations, assumed: Assumptions
    ) -> Floats | None:
        """The weights of least squares on the clipped rewards (g × m); widths are computed too."""
        last, t = self._clipping, observations.t
        told = np.flatnonzero(observations.told > 0)
        sample = clipped.Sample.of(observations.rewards, observations.history_rows)
        posterior, features = model.posterior(), model.features[told]
        reach = assumed.norm * np.sqrt(model.prior[told])
        scales = self.scales(assumed, t)
        priced = self._priced(assumed, scales)
        deviations = []
        for number, scale in zip(priced, scales, strict=False):
            inside = row_norms(features @ posterior.roots[number])
            leverage = model.residual[told] / posterior.lams[number] + inside
            deviations.append(np.sqrt(np.maximum(leverage, _TINY)) / scale)
        settings = [
            clipped.Setting(scale, assumed.noise, self._order, level, PARTS[part])
            for scale, level, part in zip(scales, last.levels, last.parts, strict=False)
        ]
        mean = last.mean[told]
        for _ in range(2):
            sums = clipped.soft_sums(sample, mean, deviations[-1], settings[len(priced) - 1])
            target = sums @ features
            weights = posterior.solve(target)
            mean = features @ weights[0]
        delta = self._delta if self._order == 2.0 else self._horizon.delta(self._delta, t)
        logs = model.log_dets() + 2.0 * math.log(len(priced) / delta)
        squares = np.full(len(weights), math.inf)
        levels, parts, waits = list(last.levels), list(last.parts), list(last.waits)
        for i, (number, s) in enumerate(zip(priced, deviations, strict=True)):
            lam, mean, scale = posterior.lams[number], features @ weights[number], scales[i]
            base = lam * assumed.norm**2 / scale**2 + float(logs[number])
            coordinates = features @ posterior.roots[number]
            case = clipped.Case(sample, sums, mean, s, reach, base, coordinates)
            if t < waits[i]:
                continue
            square, levels[i], parts[i] = self._solved(case, settings[i], last.parts[i])
            waits[i] = 0 if math.isfinite(square) else math.ceil(_WAIT * t)
            others = clipped.for_other_lambdas(
                scale**2 * square, assumed.norm, np.array(posterior.lams), weights,
                posterior.gram, number,
            )  # fmt: skip
            squares = np.minimum(squares, others)
        none = np.square(_NO_WIDTH * assumed.norm) * np.array(posterior.lams)
        squares = np.where(np.isfinite(squares), squares, none)
        self._clipping = _Clipping(
            last.mean, squares, tuple(levels), tuple(parts), last.starts + 1, tuple(waits)
        )
        return weights

    def _solved(
        self, case: clipped.Case, setting: clipped.Setting, part: int
    ) -> tuple[float, float, int]:
        """(β/ς)² and the level and the θ that gave it; infinite if no level is high enough.

        The θ of the last time is tried, and at some batch starts one of its neighbours.
        """
        starts, failed = self._clipping.starts, setting.level >= HIGHEST
        others = failed or starts % _PATIENCE == 0
        first = _FIRST_LEVEL if failed else setting.level / _LOWER
        after = (part + 1) % len(PARTS) if starts % (2 * _PATIENCE) else max(part - 1, 0)
        found = []
        for number in dict.fromkeys([part, after] if others else [part]):
            level = clipped.level_above(first)
            while level < HIGHEST:
                square = clipped.squared(case, replace(setting, level=level, part=PARTS[number]))
                if math.sqrt(square) <= level:
                    found.append((square, level, number))
                    break
                higher = min(max(math.sqrt(square), 1.02 * level), 1.2 * level)
                level = clipped.level_above(higher)
        return min(found, default=(math.inf, HIGHEST, after))

    def scales(self, assumed: Assumptions, t: int) -> tuple[float, ...]:
        """ς of each λ that prices are computed for, after t rewards: one or two.

        The first is that of the noise. There is a second, larger one if f may vary by more than the
        noise, because prices for the first are then large until much is known. Each has an equal
        part of δ.
        """
        horizon = 1 if self._order == 2.0 else self._horizon.after(t)
        first = clipped.usual_scale(assumed.noise, self._order, horizon)
        reach = assumed.norm * math.sqrt(assumed.scale)
        if reach <= _LARGE * first:
            return (first,)
        return first, math.hypot(first, 0.5 * reach)

    def _priced(self, assumed: Assumptions, scales: tuple[float, ...]) -> list[int]:
        """The numbers of the λ that prices are computed for.

        They are the same at all times at which the scales are.
        """
        parts = np.array(assumed.lams) * assumed.norm**2 * assumed.scale / scales[0] ** 2
        first = int(np.argmin(np.abs(np.log(np.maximum(parts, _TINY) / _USUAL))))
        second = [_SECOND] if len(scales) > 1 and len(parts) > _SECOND else []
        return list(dict.fromkeys([first, *second]))

    def restart(self) -> None:
        """Start the search for levels again, because kernel, units or λ have changed."""
        self._clipping = _Clipping()
