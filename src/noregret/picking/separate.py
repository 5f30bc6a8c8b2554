"""Who is next among arms that say nothing about each other? Beliefs and bounds without a GP."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from noregret._types import Bools, Floats, Ints, Points
from noregret.learning.learner import Learner
from noregret.learning.rules import Rules
from noregret.models.assumptions import Assumptions
from noregret.observations import Observations
from noregret.picking.chooser import Interval, Picks, Situation
from noregret.picking.lists.gaps import gaps_by_bounds
from noregret.picking.lists.ranking import by_lower
from noregret.picking.lists.room import NOBODY
from noregret.rewards.arm_means import ArmMeans
from noregret.spaces import Candidates
from noregret.widths.evidence import Evidence


class SeparateArms:
    """Beliefs about arms, each from its own rewards only.

    It has the methods of :class:`~noregret.learning.beliefs.Beliefs`, with an empty dictionary.

    Attributes
    ----------
    assumed, learner, t, latest, version, refuted
        As for the beliefs of a GP; nothing is learnt, and nothing refuted.
    estimate
        The estimate of every arm's mean.
    means
        The mean of every arm (u), 0 for arms without rewards.
    """

    #: inducing points
    size = 0
    refuted = False

    def __init__(self, assumed: Assumptions, learner: Learner | None, estimate: ArmMeans) -> None:
        self.assumed = assumed
        self.learner = learner
        self.estimate = estimate
        self.t = 0
        self.version = 0
        self.latest: Ints = np.empty(0, dtype=np.int64)
        self.dictionary: Ints = np.empty(0, dtype=np.int64)
        self.means: Floats = np.empty(0)

    def is_current(self, observations: Observations) -> bool:
        """Whether everything seen has been taken in."""
        return observations.t == self.t and len(observations) == len(self.means)

    @property
    def allows_heavy_tails(self) -> bool:
        """Means are robust: noise need not be sub-Gaussian."""
        return True

    def effective_dimension(self) -> float:
        """There is no posterior with degrees of freedom."""
        return 0.0

    def log_det(self) -> float:
        """There is no kernel matrix."""
        return 0.0

    def take_in(
        self, observations: Observations, rules: Rules, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        """Take in what has been told since."""
        latest = np.unique(observations.history_rows[self.t :])
        self.means = self.estimate.means(observations)
        self.latest, self.t = latest, observations.t
        return []

    def evidence(self, observations: Observations, rules: Rules) -> Evidence:
        """What a width may depend on, without anything about a GP."""
        nothing = np.zeros(1)
        return Evidence(
            t=self.t,
            noise=self.assumed.noise,
            norm=self.assumed.norm,
            delta=rules.delta,
            lams=np.array(self.assumed.lams),
            ratio=rules.ratio,
            choices=rules.choices,
            log_dets=nothing,
            ridge=lambda: nothing,
            trace=0.0,
            summed=0.0,
            summed_three=0.0,
            prior_sum=0.0,
            dimension=self.effective_dimension,
            estimate=self.estimate,
        )


@dataclass(frozen=True)
class SeparateBounds:
    """How bounds are computed now: mean ± β·n^(−α/(1+α)).

    Attributes
    ----------
    width
        β√λ, so that ``opt.beta`` is β.
    beta
        β.
    alpha
        α.
    means, counts
        Means and evaluations of the arms (u each), pending ones counted or not.
    """

    width: float
    beta: float
    alpha: float
    means: Floats
    counts: Ints

    def deviations(self, counts: Ints) -> Floats:
        """n^(−α/(1+α)); 1 for arms never evaluated, as |mean| ≤ v^(1/(1+α)) ≤ β by Jensen."""
        power = -self.alpha / (1.0 + self.alpha)
        return np.asarray(np.maximum(counts, 1).astype(np.float64) ** power)

    def evaluate(self, points: Points) -> tuple[Floats, Floats]:
        """Refused: arms say nothing about other points."""
        raise TypeError("separate arms say nothing about other points: predict ids of the list")


def separate_bounds(
    beliefs: SeparateArms, observations: Observations, rules: Rules, pending: bool, frozen: bool
) -> SeparateBounds:
    """The bounds of separate arms, with what is pending or without."""
    widths, _ = rules.widths(beliefs.evidence(observations, rules))
    width = float(widths[0])
    means = np.zeros(len(observations))  # those asked for since have no reward
    means[: len(beliefs.means)] = beliefs.means
    return SeparateBounds(
        width,
        width / float(np.sqrt(beliefs.assumed.lam)),
        beliefs.estimate.moment.alpha,
        means,
        observations.told + observations.pending * pending,
    )


class SeparateUCB:
    """The largest upper bound; arms never evaluated come first, in their order.

    Where the k best are looked for: of the arms outside the k best so far the one with the largest
    upper bound, or of these k the one with the smallest lower bound, whichever was evaluated less
    often (LUCB of Kalyanakrishnan et al. 2012, one pick at a time).
    """

    follows_aim = True

    def __init__(self, space: Candidates) -> None:
        self.space = space

    def choose(self, now: Situation, limit: int) -> Picks:
        """The picks of a batch that starts here."""
        bounds, observations = _bounds(now), now.observations
        rows = np.flatnonzero(observations.ids >= 0)
        ids, counts = observations.ids[rows], bounds.counts[rows]
        seen = np.zeros(len(self.space), dtype=bool)
        seen[ids[counts > 0]] = True
        seen[now.room.closed] = True
        first = np.flatnonzero(~seen)[:limit]
        chosen, upper = first.tolist(), [np.inf] * len(first)
        # Arms that come first are pending from here on; of those without a reward the mean is 0.
        fresh = first[np.isin(first, ids, invert=True)]
        means = np.concatenate([bounds.means[rows], np.zeros(len(fresh))])
        ids = np.concatenate([ids, fresh])
        counts = np.concatenate([counts, np.zeros(len(fresh), dtype=np.int64)])
        counts[np.isin(ids, first)] += 1
        for id_ in chosen:
            now.room.take(id_)
        leading = np.isin(ids, self._leading(now))
        while len(chosen) < limit:
            radius = bounds.beta * bounds.deviations(counts)
            open_ = ~np.isin(ids, now.room.closed)
            best = _largest(means + radius, ids, open_ & ~leading)
            weakest = _largest(radius - means, ids, open_ & leading)
            if best is None or (weakest is not None and counts[weakest] < counts[best]):
                best = weakest
            if best is None:
                break
            now.room.take(int(ids[best]))
            chosen.append(int(ids[best]))
            upper.append(float(means[best] + radius[best]))
            counts[best] += 1
        picked = np.array(chosen, dtype=np.int64)
        return Picks(picked, self.space.at(picked), np.array(upper), bounds.width)

    def _leading(self, now: Situation) -> Ints:
        """The best arms so far (ids), where more than one is looked for."""
        if now.aim == 1 or not now.observations.t:
            return NOBODY
        return np.array([one.id for one in self.ranking(now, now.aim)], dtype=np.int64)

    def predict(self, now: Situation, ids: Ints, points: Points) -> tuple[Floats, Floats]:
        """Mean and squared deviation of choices (n each)."""
        bounds = _bounds(now)
        rows = now.observations.known_rows(ids, points)
        means = np.append(bounds.means, 0.0)[rows]  # the row −1 is that of arms never seen
        counts = np.append(bounds.counts, 0)[rows]
        return means, np.square(bounds.deviations(counts))

    def ranking(self, now: Situation, count: int) -> list[Interval]:
        """The told candidates with the largest lower bounds, best first; one where none is told."""
        bounds, rows = _bounds(now), now.listed
        radius = bounds.beta * bounds.deviations(bounds.counts[rows])
        unknown = Interval(0, self.space.points[0], 0.0, -bounds.beta, bounds.beta)
        return by_lower(now, self.space, bounds.means[rows], radius, count) or [unknown]

    def gaps(self, now: Situation, found: list[Interval]) -> Floats:
        """How much better than each of some candidates any other can be (k)."""
        return gaps_by_bounds(self, now, found)

    def proves_gaps(self, now: Situation) -> bool:
        """All candidates are compared, so that gaps are proved where the bounds are."""
        return True

    def alive(self, now: Situation) -> int | None:
        """``None``: bounds of all times need not hold at once."""
        return None

    def highest(self, now: Situation, without: Ints) -> float:
        """The largest upper bound of all arms but some; −∞ where nothing is left."""
        bounds, observations = _bounds(now), now.observations
        rows = now.listed
        rows = rows[~np.isin(observations.ids[rows], without)]
        upper = bounds.means[rows] + bounds.beta * bounds.deviations(bounds.counts[rows])
        highest = float(upper.max(initial=-np.inf))
        if len(np.union1d(observations.ids[rows], without)) < len(self.space):
            highest = max(highest, bounds.beta)  # of an arm without rewards
        return highest

    def extend(self, space: Candidates) -> None:
        """More arms."""
        self.space = space

    def restart(self, space: Candidates, *, keep: bool = False) -> None:
        """Another list, of other arms; the same list with ``keep``."""
        self.space = space


def _largest(values: Floats, ids: Ints, allowed: Bools) -> int | None:
    """The position of the largest value that is allowed, of equal ones that of the smallest id."""
    at = np.flatnonzero(allowed)
    if not len(at):
        return None
    top = at[values[at] == values[at].max()]
    return int(top[np.argmin(ids[top])])


def _bounds(now: Situation) -> SeparateBounds:
    """The bounds, which are those of :func:`separate_bounds` here."""
    return cast(SeparateBounds, now.bounds)
