"""What the algorithms for heavy-tailed rewards share: moments, horizon, features, batches."""

import math
import warnings
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.algorithms.gp import GPOptimizer
from noregret.batching import BatchRule, FixedSize, GlobalRatio
from noregret.learning.design import is_auto
from noregret.models.dictionary import Plan, Sparsifier
from noregret.models.fourier import quadrature_for, spans_of
from noregret.models.sparse import SparseGP
from noregret.models.view import PosteriorView
from noregret.rewards.moments import estimate_from, robust_moment, winsorised
from noregret.spaces import Box
from noregret.widths import heavy as widths_heavy

#: the first horizon where none is given
_FIRST_HORIZON = 1024
#: evaluations after which it is worth a warning that none was within its level
_ENOUGH = 16


def check_alpha(alpha: Any) -> float:
    """α in (0, 1]."""
    number = _checks.finite("alpha", alpha)
    if not 0 < number <= 1:
        raise ValueError(
            f"alpha must lie in (0, 1], got {alpha!r}: rewards have a finite moment of order "
            "1 + alpha; 1 for a finite variance"
        )
    return number


def check_v(v: Any) -> float | str:
    """A bound above zero, or the word ``"estimate"``."""
    return _checks.one_of("v", v, ("estimate",)) if isinstance(v, str) else _checks.positive("v", v)


class Moment:
    """v, given or estimated from the rewards so far each time their number has doubled."""

    def __init__(self, v: float | str, alpha: float) -> None:
        self.alpha = alpha
        self.estimated = isinstance(v, str)
        self.value = 1.0 if isinstance(v, str) else v
        self._used = 0

    def follow(self, rewards: Floats) -> bool:
        """Take in all rewards so far (t); whether the value changed."""
        use = estimate_from(len(rewards))
        if not self.estimated or use == self._used:
            return False
        self._used = use
        before, value = self.value, 0.0
        # Where most rewards are zero, so may an estimate be, which bounds nothing: an earlier one.
        while use and not value:
            value = robust_moment(rewards[:use], self.alpha)
            use //= 2
        self.value = value or 1.0  # rewards that are all zero: any level lets them through
        return self.value != before


class FeatureGP(GPOptimizer):
    """A GP on exact, Nyström or quadrature features, one point at a time or in adaptive batches."""

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        features: str,
        epsilon: float,
        nodes: int | None,
        horizon: int | None,
        ratio: float,
        lam: float | None,
        noise: Any,
        norm: Any,
        **others: Any,
    ) -> None:
        self.features = _checks.one_of("features", features, ("exact", "nystrom", "qff"))
        self.epsilon = _checks.probability("epsilon", epsilon)
        self.nodes = None if nodes is None else _checks.count("nodes", nodes)
        self._horizon = None if horizon is None else _checks.count("horizon", horizon)
        if is_auto(kernel) and features == "qff":
            raise ValueError(
                "kernel 'auto' is not for features 'qff', whose number depends on the lengthscale: "
                "pass an RBF kernel, or use 'nystrom' or 'exact'"
            )
        if lam is None and not is_auto(kernel):
            lam = 1.0
        if is_auto(noise) and not is_auto(kernel) and not is_auto(norm):
            # There is no fit; where the noise matters it is estimated on the way.
            noise = _checks.positive("norm", norm)
        super().__init__(
            domain,
            kernel,
            ratio=ratio,
            sparsifier=Sparsifier("grow" if features == "nystrom" else "complete"),
            lam=lam,
            noise=noise,
            norm=norm,
            **others,
        )
        self.adaptive = self.ratio > 1
        self._earlier: tuple[Floats, Floats] | None = None  # means and deviations of arms

    def _new_model(self) -> SparseGP:
        if self.features != "qff":
            return super()._new_model()
        # The exact GP of φᵀφ is regression on φ: λφᵀV⁻¹φ = k̃ − k̃ᵀ(K̃ + λI)⁻¹k̃ (choice i).
        corners = self.domain.bounds.T if isinstance(self.domain, Box) else self._points
        # An error of T⁻⁶ makes the regret that the approximation adds O(1) (ATA-GP-UCB 5.2).
        fourier = quadrature_for(self.kernel, corners, self.nodes, float(self.horizon) ** -6.0)
        self.nodes = fourier.nodes
        prior = fourier.diag(self._points)
        return SparseGP(fourier, self.lam, self._points, prior, fourier.variance)

    # -- what the theorems need --------------------------------------------------------------

    @property
    def horizon(self) -> int:
        """T: as given (1,024 by default), doubled until it holds all evaluations told."""
        return (self._horizon or _FIRST_HORIZON) << self._doublings()

    def _doublings(self) -> int:
        first = self._horizon or _FIRST_HORIZON
        return max(-(-max(self.t, 1) // first) - 1, 0).bit_length()

    def _delta(self) -> float:
        """δ, halved with every doubling of T (and once more where no horizon was given)."""
        return self.delta / 2.0 ** (self._doublings() + (self._horizon is None))

    def _qbar(self) -> float:
        """q of the Nyström dictionary, times C̃ for batches (BBKB Theorem 2)."""
        if self.width == "theory":
            q = widths_heavy.nystrom_q(self.epsilon, self.horizon, self._delta())
        else:
            q = math.log(max(self.horizon, 2)) / self.epsilon**2
        return self.ratio * q

    def _bias(self) -> float:
        return widths_heavy.nystrom_bias(self.epsilon) if self.features == "nystrom" else 1.0

    def _rule(self, view: PosteriorView, pending: float) -> BatchRule:
        return GlobalRatio(self.ratio, pending) if self.adaptive else FixedSize()

    # -- following the observations ----------------------------------------------------------

    def _follow_model(self, plan: Plan, sums: Floats) -> None:
        """Counts, dictionary and these sums of rewards by arm (u) for the model."""
        model, told = self._model, self._observations.told
        before = model.size
        if plan.replace:
            model.rebuild(told, sums, plan.rows)
        else:
            model.advance(told, sums, plan.rows)
        if plan.reason in ("compact", "warm start"):
            self._log(plan.reason, before=before, after=model.size)

    # -- what is learnt ----------------------------------------------------------------------

    def _sample(self, rewards: Floats) -> Floats:
        """Winsorised: a Gaussian likelihood is at the mercy of outliers."""
        return winsorised(rewards)

    def _following_lam(self) -> float:
        """The kernel's variance: what λ = 1 is to the papers' kernels with k(x, x) = 1."""
        return self.kappa_squared

    def _double_norm(self) -> None:
        """Note the bounds before new rewards are taken in, to be compared with those after.

        One reward of a heavy tail contradicts nothing, however far out. But f lies within the
        bounds of every moment: where those before and after do not meet, the norm is too small.
        """
        if isinstance(self.width, str):
            self._earlier = self._model.arms.mean.copy(), self._deviations()

    def _deviations(self) -> Floats:
        """Posterior deviations of the arms (u)."""
        return np.sqrt(self.lam * self._model.arms.leverage(self.lam))

    def _take_in(self) -> None:
        self._earlier = None
        super()._take_in()
        if self._earlier is not None:
            mean, deviation = self._earlier
            apart = np.abs(self._model.arms.mean - mean) - 1e-12
            reach = deviation + self._deviations()
            self._double_norm_while(lambda: bool(np.any(apart > self._beta() * reach)))

    def _replace(self, points: Points, prior: Floats) -> None:
        if self.features == "qff":
            both = np.concatenate([self._points, points])
            if np.any(spans_of(self.kernel, both) > spans_of(self.kernel, self._points)):
                raise ValueError(
                    "candidates must lie in the box spanned by the old ones: the error of the "
                    "quadrature features is bounded there only"
                )
            prior = self._model.kernel.diag(points)
        super()._replace(points, prior)

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "nodes": self.nodes}  # of the first list, were it replaced


class TruncatedGP(FeatureGP):
    """A GP whose rewards beyond some level count as zero, the level from E|y|^(1+α) ≤ v."""

    standardises = False  # truncation is about zero, and v is in the rewards' units

    def __init__(
        self, domain: Any, kernel: Any, *, alpha: float, v: float | str, **others: Any
    ) -> None:
        self.alpha = check_alpha(alpha)
        self._moment = Moment(check_v(v), self.alpha)
        self._warned = False
        super().__init__(domain, kernel, **others)

    @property
    def v(self) -> float:
        """The bound on E|y|^(1+α) in use: as given, or estimated so far."""
        self._sync()
        return self._moment.value

    def _follow_moment(self) -> bool:
        """Take in the rewards so far; whether v changed."""
        changed = self._moment.follow(self._observations.rewards)
        if changed:
            self._earlier = None  # what was believed with another v contradicts no norm
        return changed

    def _warn_if_all_truncated(self, nothing: bool, level: float) -> None:
        rewards = self._observations.rewards
        if not nothing or self._warned or len(rewards) < _ENOUGH or not rewards.any():
            return
        self._warned = True
        warnings.warn(
            f"all {len(rewards)} rewards lie beyond the truncation level {level:.3g} and count as "
            f"zero: v = {self._moment.value:.3g} is too small for rewards with a median magnitude "
            f"of {np.median(np.abs(rewards)):.3g}; raise v, or use v='estimate'",
            stacklevel=2,
        )
