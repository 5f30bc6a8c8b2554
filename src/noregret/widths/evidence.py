"""What a width may depend on."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from noregret._types import Floats
from noregret.widths import proved


@dataclass(frozen=True)
class Evidence:
    """What is known when a width is computed, for one GP. ``width=callable`` gets this object.

    Attributes
    ----------
    t
        Evaluations told.
    noise, norm, delta
        ξ, F and δ.
    lams
        Every λ there is a posterior for (g); ``predict`` uses the first.
    ratio
        C̃, the largest ratio of variances inside a batch (1 for sequential rules).
    choices
        The number of candidates; on a box, the number of points asked for so far.
    log_dets
        For every λ, an upper bound on log det(I + K/λ); equal to it where tr R = 0 (g).
    ridge
        A function that computes ``ridges``, which takes longer than the rest.
    trace
        tr R = tr(K − Q): the prior variance of the evaluations that the dictionary leaves out.
    summed
        Σ log(1 + leverage), each leverage from the start of the batch its evaluation came in.
    summed_three
        Σ log(1 + 3·leverage), likewise.
    prior_sum
        Σ k(x, x) over the evaluations.
    dimension
        A function that computes the effective dimension, which takes longer than the rest.
    estimate
        The estimate of rewards in use, with what it has computed, such as a moment of the rewards.
    """

    t: int
    noise: float
    norm: float
    delta: float
    lams: Floats
    ratio: float
    choices: int
    log_dets: Floats
    ridge: Callable[[], Floats]
    trace: float
    summed: float
    summed_three: float
    prior_sum: float
    dimension: Callable[[], float]
    estimate: Any

    @property
    def lam(self) -> float:
        """The first λ."""
        return float(self.lams[0])

    @property
    def log_det(self) -> float:
        """An upper bound on log det(I + K/λ) for the first λ; an array where there are many GPs."""
        return self.log_dets[0]  # type: ignore[no-any-return]

    @cached_property
    def ridges(self) -> Floats:
        """For every λ, λ yᵀ(Q + λI)⁻¹y (g).

        Q is the kernel matrix of the evaluations on the span of the dictionary.
        """
        return self.ridge()

    @cached_property
    def effective_dimension(self) -> float:
        """Σ leverage over the evaluations told (BKB eq. 5)."""
        return self.dimension()

    def settled(self, rule: "WidthRule") -> "Evidence":
        """This evidence for later: what the rule reads of it stays as it is now."""
        now = replace(self, estimate=copy.copy(self.estimate))
        rule(now)  # what takes longer is computed here, or never
        return replace(now, ridge=lambda: now.ridges, dimension=lambda: now.effective_dimension)


#: the factors of √leverage for every λ (g), and whether the evidence refutes the assumptions
Widths = tuple[Floats, bool]
#: a named width of an algorithm: a factor of √leverage for the first λ, or one for every λ
WidthRule = Callable[[Evidence], float | Widths]


@dataclass(frozen=True)
class FixedWidth:
    """A number β as width: bounds are mean ± β·std, whatever the evidence."""

    beta: float

    def __call__(self, evidence: Evidence) -> float:
        """The factor of √leverage."""
        return self.factor(evidence.lam)

    def factor(self, lam: float) -> float:
        """The factor of √leverage for this λ, without any evidence."""
        return self.beta * math.sqrt(lam)


def theory(evidence: Evidence) -> Widths:
    """The tightest widths the library can prove; see :func:`~noregret.widths.proved`."""
    return proved.for_each_lambda(
        evidence.noise,
        evidence.norm,
        evidence.delta,
        evidence.lams,
        evidence.log_dets,
        evidence.ridges,
        evidence.trace,
    )
