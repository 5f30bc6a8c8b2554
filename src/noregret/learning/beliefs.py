"""What is believed after some rewards: the model, and the settings that were learnt.

Rewards are taken in at one place, :meth:`Beliefs.take_in`, which an optimiser calls at the start of
a batch.
"""

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.learning.contradictions import LARGEST_NORM, apart, smallest_norm
from noregret.learning.learner import Learner
from noregret.learning.own_bounds import BoundsOfArms, OwnBounds
from noregret.learning.rules import Rules
from noregret.learning.ties import always_agree
from noregret.learning.trace import lower_trace, trace_limit
from noregret.models.assumptions import Assumptions
from noregret.models.dictionary import Sparsifier
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.huber import HuberRegression
from noregret.rewards.least_squares import RewardEstimate, checked_sums
from noregret.widths import proved
from noregret.widths.evidence import Evidence, theory

#: the norm is checked each time the evaluations have grown by a factor: by the first one up to
#: this many inducing points, by the second one beyond
_SMALL, _CHECK_GROWTHS = 64, (1.02, 1.5)
#: of leverages in the two sums
_FACTORS = np.array([[1.0], [3.0]])


class Beliefs:
    """The model of what has been taken in, and what it assumes.

    Attributes
    ----------
    assumed
        Kernel, noise, norm, λ and units in use.
    model
        The sparse GP.
    learner
        What is learnt, and from which evaluations; ``None`` if nothing is.
    estimate
        How the mean is estimated from rewards.
    t
        Evaluations taken in.
    latest
        The arms whose rewards were taken in last (rows).
    version
        How often kernel, noise, norm or λ have changed: bounds of an older version are void.
    refuted
        Whether the rewards refute the assumptions, at level δ.
    own_bounds
        Bounds of the arms whose rewards were taken in last, from their own rewards alone; ``None``
        if the algorithm has none.
    """

    def __init__(
        self,
        assumed: Assumptions,
        learner: Learner | None,
        estimate: RewardEstimate,
        mode: str,
        nothing: Points,
        own: OwnBounds | None = None,
    ) -> None:
        self.assumed = assumed
        self.learner = learner
        self.estimate = estimate
        self.t = 0
        self.latest: Ints = np.empty(0, dtype=np.int64)
        self.version = 0
        self.refuted = False
        self.own_bounds: BoundsOfArms | None = None
        self._own = own
        self._sparsifier = Sparsifier(mode)
        self._nothing = nothing
        self._unasked = 0
        self._checked = 0  # evaluations at the last check of the norm
        self._revision = estimate.revision
        self._restart()

    def _restart(self) -> None:
        """An empty model, for the assumptions in use."""
        assumed = self.assumed
        self.model = SparseGP(assumed.kernel, assumed.lams, self._nothing, assumed.scale)
        self._summed = np.zeros(2)  # Σ log(1 + leverage) and Σ log(1 + 3·leverage)

    def is_current(self, observations: Observations) -> bool:
        """Whether everything seen has been taken in."""
        seen = observations.t == self.t and len(observations) == len(self.model.counts)
        return seen and self.model.is_whole

    def __getstate__(self) -> dict[str, Any]:
        """Files leave out what can be computed again from the observations."""
        if self._sparsifier.mode != "exact at first":
            return vars(self)
        return {**vars(self), "model": self.model.without_factors()}

    def __deepcopy__(self, memo: dict[int, Any]) -> "Beliefs":
        """A copy with everything, also what files leave out."""
        made = object.__new__(type(self))
        vars(made).update({name: copy.deepcopy(part, memo) for name, part in vars(self).items()})
        return made

    @property
    def size(self) -> int:
        """m, the number of inducing points."""
        return self.model.size

    @property
    def dictionary(self) -> Ints:
        """The arms that are inducing points (m rows)."""
        return self.model.dictionary

    @property
    def allows_heavy_tails(self) -> bool:
        """Whether rewards are estimated for noise that need not be sub-Gaussian."""
        return not self.estimate.is_least_squares

    def effective_dimension(self) -> float:
        """Σ leverage over the evaluations taken in (BKB eq. 5)."""
        return self.model.effective_dimension()

    def log_det(self) -> float:
        """log det(I + K/λ) of the evaluations taken in, on the dictionary's span."""
        return float(self.model.log_dets()[0])

    def evidence(self, observations: Observations, rules: Rules) -> Evidence:
        """What a width may depend on."""
        model, assumed = self.model, self.assumed
        return Evidence(
            t=self.t,
            noise=assumed.noise if self.estimate.spread is None else self.estimate.spread,
            norm=assumed.norm,
            delta=rules.delta,
            lams=np.array(model.lams),
            ratio=rules.ratio,
            choices=rules.choices or len(observations),
            log_dets=log_det_bounds(model),
            ridge=model.ridge(observations.scatter / assumed.unit**2),
            trace=model.trace(),
            summed=float(self._summed[0]),
            summed_three=float(self._summed[1]),
            prior_sum=model.prior_sum(),
            dimension=model.effective_dimension,
            estimate=self.estimate,
        )

    # -- taking in ---------------------------------------------------------------------------

    def take_in(
        self, observations: Observations, rules: Rules, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        """Take in what has been told since the last call; return what happened, as events."""
        events: list[dict[str, Any]] = []
        told, learner = observations.t > self.t, self.learner
        if told and learner is not None and learner.due(observations.t):
            events += self._find_heavy_tails(learner, observations, rules)
            events.append(self._fit(learner, observations, rules))
        self.model.see(observations.points)
        if not told:
            return events
        rows = (observations.told > self.model.counts).nonzero()[0]
        leverage = self.model.leverage(rows)
        before = self._bounds_of(rows, leverage, observations, rules)
        self._count_information(rows, leverage, observations)
        events += self._update(observations, rules, rng)
        self._follow_unasked(observations, rules)
        if self.estimate.revision != self._revision:
            before, self.version = None, self.version + 1
            self._revision = self.estimate.revision
        self.t, self.latest = observations.t, rows
        if self._own is not None:
            prior = self.model.prior[rows]
            self.own_bounds = BoundsOfArms(
                rows, *self._own.bounds(observations, self.assumed, prior, rows)
            )
        events += self._check(before, rows, observations, rules)
        return events

    def _find_heavy_tails(
        self, learner: Learner, observations: Observations, rules: Rules
    ) -> list[dict[str, Any]]:
        """Check, if the noise is learnt, whether the rewards show heavy tails.

        Repeated evaluations show it, or distances to the model where nothing is repeated. If so,
        the mean is a Huber regression from then on, and fits use rewards whose extreme values are
        moved towards the median.
        """
        if not learner.noise or not self.estimate.is_least_squares or always_agree(observations):
            return []
        from noregret.learning.outliers import heavy_residuals  # only learnt noise needs them
        from noregret.rewards.diagnosis import heavy_repeats

        found = heavy_repeats(observations.history_rows, observations.rewards)
        if found is None and learner.kernel:
            corners, seed = rules.corners(), rules.seed
            found = heavy_residuals(learner, observations, self.assumed, corners, seed)
        if found is None:
            return []
        self.estimate = HuberRegression(known_noise=False)
        self._revision = self.estimate.revision
        learner.how = replace(learner.how, winsorises=True)
        return [{"event": "heavy tails", "residuals": found[0], "pvalue": found[1]}]

    def _fit(self, learner: Learner, observations: Observations, rules: Rules) -> dict[str, Any]:
        self.assumed = learner.fit(observations, self.assumed, rules.corners(), rules.seed)
        self._restart()
        self.estimate.restart()
        self.t, self.version, self._unasked = 0, self.version + 1, 0
        found = self.assumed
        event = {"event": "fit", "kernel": repr(found.kernel), "noise": found.noise}
        event |= {"norm": found.norm}
        return event | ({"warp": repr(found.warp)} if found.warp.strength else {})

    def _count_information(self, rows: Ints, leverage: Floats, observations: Observations) -> None:
        """log det(I + K/λ) grows by at most Σ log(1 + σ²_fb), σ² ≤ 3σ̃² (BBKB C.2)."""
        more = observations.told[rows] - self.model.counts[rows]
        self._summed = self._summed + np.log1p(leverage * _FACTORS) @ more

    def _update(
        self, observations: Observations, rules: Rules, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        model, points, told = self.model, observations.points, observations.told
        plan = self._sparsifier.plan(model, points, told, rules.qbar(observations.t), rng)
        sums, before = checked_sums(self.estimate, model, observations, self.assumed), model.size
        (model.rebuild if plan.replace else model.advance)(points, told, sums, plan.rows)
        if rules.limits_trace and model.trace() > 0.0:
            found = replace(self.evidence(observations, rules), t=observations.t)
            lower_trace(model, points, trace_limit(found))
        weights = self.estimate.weights(model, observations, self.assumed)
        if weights is not None:
            model.set_weights(weights)
        if plan.reason in ("compact", "warm start"):
            return [{"event": plan.reason, "before": before, "after": model.size}]
        return []

    def _follow_unasked(self, observations: Observations, rules: Rules) -> None:
        """Limit the sum after old data came in bulk: the sum is then a poor bound of log det."""
        if observations.unasked > self._unasked:
            self._unasked = observations.unasked
            limit = self.evidence(observations, rules).log_det
            self._summed = np.minimum(self._summed, limit)

    # -- refuted assumptions -----------------------------------------------------------------

    def _bounds_of(
        self, rows: Ints, leverage: Floats, observations: Observations, rules: Rules
    ) -> tuple[Floats, Floats, Evidence] | None:
        """Means and √leverage of some arms (n each), and the evidence for their width."""
        if not rules.checked or self.refuted or not self.t:
            return None
        # The evidence has the scatter of rewards that are not taken in yet. Scatter adds the same
        # to the ridges of all λ, so that it cancels in a width, or widens it if tr R > 0.
        found = self.evidence(observations, rules)
        # The model and the estimate are about to change.
        if rules.width is theory:
            found.ridge()  # kept from here on
        else:
            found = found.settled(rules.width)
        return self.model.mean(rows), np.sqrt(leverage), found

    def _check(
        self,
        before: tuple[Floats, Floats, Evidence] | None,
        rows: Ints,
        observations: Observations,
        rules: Rules,
    ) -> list[dict[str, Any]]:
        """Whether the rewards allow the norm; a norm that is learnt is doubled until they do."""
        learner = self.learner
        if not rules.checked or self.refuted or (learner is not None and not learner.fitted):
            return []
        latest = self.evidence(observations, rules)
        smallest, crossed = self._smallest_norm(latest, observations), False
        if self.own_bounds is not None:
            smallest = max(smallest, self.own_bounds.smallest_norm(self.model))
            crossed = self.own_bounds.contradict(self.model, rules.widths(latest)[0])
        contradicted = apart(before, self.model, rows, latest, rules)
        norm = self.assumed.norm
        if norm >= smallest and not crossed and not contradicted(norm):
            return []
        if learner is None or not learner.norm:
            self.refuted = True
            return [{"event": "refuted", "norm": norm, "smallest_norm": smallest}]
        while (norm < smallest or contradicted(norm)) and norm < LARGEST_NORM:
            norm *= 2.0
        self.assumed = replace(self.assumed, norm=norm)
        self.version += 1
        return [{"event": "norm doubled", "norm": norm}]

    def _smallest_norm(self, found: Evidence, observations: Observations) -> float:
        """The smallest norm that the rewards allow; 0 if it is not known, or was checked lately."""
        if not self.estimate.is_least_squares:  # then ridges have no meaning
            return 0.0
        if self.t < _CHECK_GROWTHS[self.model.size > _SMALL] * self._checked:
            return 0.0
        self._checked = self.t
        scatter = observations.scatter / self.assumed.unit**2
        return smallest_norm(self.model, found, scatter, tests_noise=self.learner is None)


def log_det_bounds(model: SparseGP) -> Floats:
    """Upper bounds on log det(I + K/λ) for every λ of a model (g); K is the exact kernel matrix."""

    def compute() -> Floats:
        if not model.residual.any():  # the span holds all arms
            return model.log_dets()
        told = model.counts > 0
        arms = model.counts[told], model.prior[told], model.residual[told]
        return proved.log_det_bounds(model.log_dets(), *arms, np.array(model.lams))

    return model.kept("log dets", compute)
