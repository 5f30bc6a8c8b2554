"""TGP-UCB's estimate: rewards beyond a level that rises with time count as zero, also later."""

from dataclasses import dataclass, field

import numpy as np

from noregret._types import Floats
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.least_squares import RewardEstimate
from noregret.rewards.moments import MomentBound
from noregret.widths.heavy import tgp_levels

#: a reward at its level, as a lone one is if v is estimated, must not be lost by round-off
_SLACK = 1e-12


@dataclass(frozen=True)
class _TruncatedSums:
    """Sums of the rewards so far, those beyond their level counted as zero.

    Attributes
    ----------
    moment
        v in use.
    taken
        Rewards taken in.
    within
        Of them, those within their level.
    sums
        Their sums by arm (u).
    """

    moment: MomentBound
    taken: int = 0
    within: int = 0
    sums: Floats = field(default_factory=lambda: np.empty(0))


class TruncatedRewards(RewardEstimate):
    """The t-th reward counts as zero where |y| > b_t (TGP-UCB Algorithm 1).

    Where v is estimated, all rewards are truncated anew when it changes. Truncation depends on the
    rewards alone: another kernel changes nothing.

    Parameters
    ----------
    moment
        v, a bound on E|y|^(1+α).
    """

    def __init__(self, moment: MomentBound) -> None:
        self._truncated = _TruncatedSums(moment)

    @property
    def moment(self) -> MomentBound:
        """v in use."""
        return self._truncated.moment

    @property
    def revision(self) -> int:
        """How often v has changed."""
        return self._truncated.moment.changes

    def sums(self, model: SparseGP, observations: Observations, assumed: Assumptions) -> Floats:
        """Sums of the truncated rewards by arm (u)."""
        before, rewards = self._truncated, observations.rewards
        moment = before.moment.after(rewards)
        changed = moment.changes != before.moment.changes
        first, within = (0, 0) if changed else (before.taken, before.within)
        sums = np.zeros(len(observations))
        if not changed:
            sums[: len(before.sums)] = before.sums
        levels = tgp_levels(moment.alpha, moment.value, np.arange(first, observations.t) + 1)
        inside = np.abs(rewards[first:]) <= levels * (1.0 + _SLACK)
        within += int(inside.sum())
        np.add.at(sums, observations.history_rows[first:], np.where(inside, rewards[first:], 0.0))
        if not within:
            moment = moment.warning(rewards, float(levels[-1]))
        self._truncated = _TruncatedSums(moment, observations.t, within, sums)
        return sums
