"""TGP-UCB and ATA-GP-UCB: heavy-tailed rewards (Ray Chowdhury & Gopalan, NeurIPS 2019)."""

from typing import Any

import numpy as np

from noregret._types import Floats
from noregret.algorithms.gp import Width
from noregret.algorithms.truncated import TruncatedGP
from noregret.learning.design import Auto
from noregret.models.dictionary import Plan
from noregret.rewards.directions import FeatureDirections
from noregret.rewards.truncation import SortedSums, truncated_directions
from noregret.widths import heavy as widths_heavy


class TGPUCB(TruncatedGP):
    """TGP-UCB (Algorithm 1): GP-UCB with rewards beyond a rising level set to zero.

    The t-th reward counts as zero where |y| > b_t = v^(1/(1+α)) t^(1/(2(1+α))), for good. Proved
    (Theorem 1): with ``features="exact"``, ``width="theory"`` and a true ``v``, f lies within
    mean ± β·std everywhere and always with probability 1 − δ. The same holds in adaptive batches
    (``ratio`` > 1, theory's width times C̃): the theorem's martingale asks only that an arm is
    chosen before its reward is seen, and the ratio rule bounds by how much deviations shrink within
    a batch (BBKB Lemma 1). Not proved: other features, other widths, an estimated ``v``.

    Parameters
    ----------
    domain, kernel, norm, delta, seed
        As for every algorithm, see :class:`~noregret.Optimizer`. A kernel that is ``"auto"`` has a
        variance of its own and is for rewards as they are: truncation is about zero, and ``v`` is
        in the rewards' units. It is fitted to uniform draws whose rewards are drawn in to within 3
        robust deviations of their median. A norm that is ``"auto"`` is doubled where the bounds
        before and after some rewards do not meet.
    alpha
        α in (0, 1]: rewards have a finite moment of order 1 + α; 1 for a finite variance.
    v
        A bound on E|y|^(1+α), signal included. ``"estimate"``: the median of means of |y|^(1+α)
        over up to 15 groups of the rewards so far, estimated anew (and all rewards truncated anew)
        each time their number has doubled.
    lam
        λ, the regularisation: 1 by default; the kernel's variance where that is ``"auto"``.
    noise
        ξ, used for the fits of ``"auto"`` only: ``v`` bounds signal and noise together.
    width
        ``"theory"``: Theorem 1. ``"practical"``: √λB + b_t√log t as a factor of √(variance/λ), as
        in the paper's experiments. A number β: mean ± β·std.
    features
        ``"exact"``: the exact GP. ``"nystrom"``, ``"qff"``: as for :class:`~noregret.ATAGPUCB`.
    ratio
        C̃ ≥ 1: above 1, BBKB's adaptive batches.
    epsilon, nodes, horizon
        Of the features, as for :class:`~noregret.ATAGPUCB`.
    """

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        alpha: float = 1.0,
        v: float | str = "estimate",
        norm: float | str = 1.0,
        delta: float = 0.1,
        lam: float | None = None,
        noise: float | str = "auto",
        seed: int | None = None,
        width: Width = "theory",
        features: str = "exact",
        ratio: float = 1.0,
        epsilon: float = 0.1,
        nodes: int | None = None,
        horizon: int | None = None,
    ) -> None:
        super().__init__(
            domain,
            kernel,
            alpha=alpha,
            v=v,
            norm=norm,
            delta=delta,
            lam=lam,
            noise=noise,
            seed=seed,
            width=width,
            features=features,
            ratio=ratio,
            epsilon=epsilon,
            nodes=nodes,
            horizon=horizon,
        )
        self._truncated: Floats = np.empty(0)  # sums of the truncated rewards, by arm
        self._within = 0  # rewards within their level
        self._kept = 0  # rewards that both count

    def _leverage_width(self, name: str) -> float:
        moment = (self.alpha, self._moment.value)
        if name == "practical":
            return widths_heavy.tgp_practical(*moment, self.norm, self.lam, self.t)
        log_det = self._model.log_det_bound()
        return widths_heavy.tgp(
            *moment, self.norm, self.lam, self.delta, log_det, self.t, self._bias()
        )

    def _carry_out(self, plan: Plan) -> None:
        observations = self._observations
        first = self._kept
        fresh = np.zeros(len(observations) - len(self._truncated))
        self._truncated = np.concatenate([self._truncated, fresh])
        if self._follow_moment():
            first, self._within = 0, 0
            self._truncated[:] = 0.0
        rewards = observations.rewards[first:]
        times = np.arange(first + 1, first + 1 + len(rewards))
        # tgp_level for many t at once.
        levels = (self._moment.value * np.sqrt(times)) ** (1.0 / (1.0 + self.alpha))
        within = np.abs(rewards) <= levels
        self._within += int(within.sum())
        np.add.at(self._truncated, observations.history_rows[first:], np.where(within, rewards, 0))
        self._kept = observations.t
        self._follow_model(plan, self._truncated)
        level = widths_heavy.tgp_level(self.alpha, self._moment.value, self.t)
        self._warn_if_all_truncated(self._within == 0, level)

    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        arrays, values = super()._state()
        arrays["truncated"] = self._truncated
        return arrays, {**values, "within": self._within, "kept": self._kept}

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        super()._restore(arrays, values)
        self._truncated = arrays["truncated"]
        self._within, self._kept = int(values["within"]), int(values["kept"])
        self._moment.follow(self._observations.rewards[: self._kept])


class ATAGPUCB(TruncatedGP):
    """ATA-GP-UCB (Algorithm 2): rewards truncated anew in every direction of a feature space.

    The mean is φᵀV^(-1/2)r̂ with r̂_i = Σ_τ u_iτ y_τ 1{|u_iτ y_τ| ≤ b_t}, u_1 … u_m the rows of
    V^(-1/2)Φᵀ. Rewards are kept sorted by arm with prefix sums: a step costs O(Am² + Am log t).
    Of r̂ only the part in the span of the evaluated features is used; what truncation leaves outside
    is an artefact. The error bounds hold for the projection too: it commutes with V, and what r̂ is
    compared with lies in the span.

    Stated by the paper (Lemma 1, Theorem 4) with ``width="theory"`` and a true ``v``: f lies
    within mean ± β·std for all t ≤ T with probability 1 − δ, for QFF up to O(B√ε_m t²). Its proof
    takes the noise as independent of the arms played, later ones included; where arms are chosen by
    earlier rewards that step is open. In adaptive batches (``ratio`` > 1) the same intervals hold
    at every batch start, and within a batch with theory's width times C̃ (BBKB Lemma 1): proved as
    far as the sequential ones are. Not proved: ``features="exact"`` (Theorem 4 with an exact
    dictionary, whose size is then not bounded by the theorem), other widths, an estimated ``v``.

    Parameters
    ----------
    domain, kernel, norm, delta, seed, alpha, v, lam, noise
        As for :class:`~noregret.TGPUCB`.
    width
        ``"theory"``: Lemma 1 (QFF) or Theorem 4 (Nyström). ``"practical"``: the same order-wise,
        √λB + √m v^(1/(1+α)) L^(α/(1+α)) t^((1−α)/(2(1+α))) with L = log((m+1)T), as a factor of
        √(variance/λ). A number β: mean ± β·std, with the practical levels.
    features
        ``"nystrom"``: a dictionary drawn by posterior variances, any kernel. ``"qff"``: quadrature
        Fourier features, for :class:`~noregret.RBF` in up to 4 dimensions. ``"exact"``: every
        evaluated arm is in the dictionary.
    ratio
        C̃ ≥ 1: above 1, BBKB's adaptive batches, q multiplied by C̃.
    epsilon
        ε: accuracy of the dictionary, q = 6ρ log(4T/δ)/ε² (in practice log(T)/ε²).
    nodes
        m̄ of ``"qff"``, for 2m̄ᵈ features; by default the least with an error bound below T⁻⁶.
    horizon
        T. Passed, or not given (1,024 at first), it doubles; δ halves each time, which keeps the
        probability of any failure below 2δ (δ where no horizon is given).
    """

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        alpha: float = 1.0,
        v: float | str = "estimate",
        norm: float | str = 1.0,
        delta: float = 0.1,
        lam: float | None = None,
        noise: float | str = "auto",
        seed: int | None = None,
        width: Width = "theory",
        features: str = "nystrom",
        ratio: float = 1.0,
        epsilon: float = 0.1,
        nodes: int | None = None,
        horizon: int | None = None,
    ) -> None:
        super().__init__(
            domain,
            kernel,
            alpha=alpha,
            v=v,
            norm=norm,
            delta=delta,
            lam=lam,
            noise=noise,
            seed=seed,
            width=width,
            features=features,
            ratio=ratio,
            epsilon=epsilon,
            nodes=nodes,
            horizon=horizon,
        )
        self._rewards = SortedSums()
        self._kept = 0  # rewards in it
        self._directions = FeatureDirections(self._model)

    @property
    def feature_count(self) -> int:
        """m: the directions in which rewards are truncated."""
        self._sync()
        return self._directions.count

    def _log_factor(self) -> float:
        if self.width != "theory":
            return widths_heavy.ata_practical_log(self._directions.count, self.horizon)
        union = 4 if self.features == "nystrom" else 2
        return widths_heavy.ata_log(self._directions.count, self.horizon, self._delta(), union)

    def _leverage_width(self, name: str) -> float:
        exact = name == "theory"
        return widths_heavy.ata(
            self.alpha,
            self._moment.value,
            self.norm,
            self.lam,
            self._directions.count,
            self.t,
            self._log_factor(),
            factor=4.0 if exact else 1.0,
            bias=self._bias() if exact else 1.0,
        )

    def _carry_out(self, plan: Plan) -> None:
        observations = self._observations
        self._follow_moment()
        self._follow_model(plan, np.zeros(len(observations)))
        self._keep_rewards(observations.t)
        level = widths_heavy.ata_level(self.alpha, self._moment.value, self.t, self._log_factor())
        rows = np.flatnonzero(observations.told)
        weights, back = self._directions.weights(rows)
        sums, nothing = truncated_directions(self._rewards, weights, rows, level)
        self._model.set_theta(back @ sums)
        self._warn_if_all_truncated(nothing, level)

    def _refit(self, auto: Auto) -> None:
        super()._refit(auto)
        self._directions = FeatureDirections(self._model)

    def _keep_rewards(self, last: int) -> None:
        """Sort in the rewards up to ``last``, in the order they were told in."""
        observations = self._observations
        new = slice(self._kept, last)
        self._rewards.grow(len(observations))
        rewards = observations.rewards[new]
        self._rewards.add(observations.history_rows[new], np.abs(rewards), rewards)
        self._kept = last

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        super()._restore(arrays, values)
        self._moment.follow(self._observations.rewards[: self._synced])
        self._keep_rewards(self._synced)
