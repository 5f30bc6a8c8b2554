"""What the algorithms for heavy-tailed rewards share: moments, horizon, features, batches."""

import math
import warnings
from typing import Any

import numpy as np

from noregret import _checks, widths_heavy
from noregret._types import Floats, Points
from noregret.algorithms.gp import GPOptimizer
from noregret.batching import BatchRule, FixedSize, GlobalRatio
from noregret.domains import Box
from noregret.models.dictionary import Plan, Sparsifier
from noregret.models.fourier import quadrature_for, spans_of
from noregret.models.moments import estimate_from, robust_moment
from noregret.models.sparse import SparseGP
from noregret.models.view import PosteriorView

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
        before = self.value
        # Rewards that are all zero bound nothing: any level lets them through.
        self.value = robust_moment(rewards[:use], self.alpha) or self.value
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
        **others: Any,
    ) -> None:
        self.features = _checks.one_of("features", features, ("exact", "nystrom", "qff"))
        self.epsilon = _checks.probability("epsilon", epsilon)
        self.nodes = None if nodes is None else _checks.count("nodes", nodes)
        self._horizon = None if horizon is None else _checks.count("horizon", horizon)
        sparsifier = Sparsifier("grow" if features == "nystrom" else "complete")
        if any(isinstance(v, str) and v == "auto" for v in (kernel, *others.values())):
            raise ValueError("'auto' is not for truncated or clipped rewards: pass kernel and norm")
        if features == "qff" and isinstance(domain, Box):
            raise ValueError("features 'qff' need a list here; on a box use 'nystrom' or 'exact'")
        super().__init__(domain, kernel, ratio=ratio, sparsifier=sparsifier, **others)
        self.adaptive = self.ratio > 1
        if self.features == "qff":
            # The exact GP of φᵀφ is regression on φ: λφᵀV⁻¹φ = k̃ − k̃ᵀ(K̃ + λI)⁻¹k̃ (choice i).
            # An error of T⁻⁶ makes the regret that the approximation adds O(1) (ATA-GP-UCB 5.2).
            error = float(self.horizon) ** -6.0
            fourier = quadrature_for(self.kernel, self._points, self.nodes, error)
            self.nodes = fourier.nodes
            self._model = SparseGP(fourier, self.lam, self._points, fourier.diag(self._points))

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


class TruncatedGP(FeatureGP):
    """A GP whose rewards beyond some level count as zero, the level from E|y|^(1+α) ≤ v."""

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
