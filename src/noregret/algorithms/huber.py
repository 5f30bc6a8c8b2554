"""GP-UCB with a Huber regression in place of least squares: outliers of any kind, no α, no v."""

import math
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.algorithms.gp import Width
from noregret.algorithms.truncated import FeatureGP
from noregret.learning.design import Auto, is_auto
from noregret.models.dictionary import Plan
from noregret.rewards.huber import HuberMean
from noregret.rewards.moments import estimate_from, robust_scale
from noregret.widths import gaussian as widths

#: rewards from which a scale is estimated
_FEWEST = 8
#: deviations of Gaussian noise that no cut goes below: 96 % of the efficiency of least squares
_CUT = 1.5
#: how fast cuts rise; any factor removes the bias of skew noise in the end, a small one keeps cuts
#: low as long as an arm's bias is beside the point
_RISE = 0.25
#: rounds of fit and scale when the scale is estimated anew
_ROUNDS = 3


class HuberGPUCB(FeatureGP):
    """GP-UCB on residuals that are clipped, not rewards that are dropped.

    The mean minimises Σ_τ ρ_c(y_τ − μ(x_τ)) + λ‖μ‖²/2 with Huber's ρ_c: square up to c, straight
    beyond. An arm of leverage 1/n, with noise of scale s, has the cut
    c = s·max(1.5, ¼√(n/log(A t²π²/6δ))) + F·std, A the number of candidates (on a box, of points
    asked for so far): it leaves Gaussian noise and f itself alone, and rises with what is known of
    the arm, so that skew noise costs no lasting bias. There is no α and no v to know: it is what we
    advise where tails are unknown (docs/heavy-tails.md has the measurements).

    Proved: one reward, however large, moves no mean by more than 2cκ²/λ, κ² the largest k(x, x)
    (the objective is λ-strongly convex and its gradient moves by at most 2c). Not proved: its
    intervals. Cuts of this kind give sub-Gaussian errors on independent rewards of finite variance
    (Sun, Zhou & Fan 2020, "Adaptive Huber regression"); a bandit's are not independent. Where
    intervals must be theorems, use :class:`~noregret.TGPUCB` with theory's width.

    Parameters
    ----------
    domain, kernel, delta, seed
        As for every algorithm, see :class:`~noregret.Optimizer`. A kernel that is ``"auto"`` is
        fitted to uniform draws whose rewards are drawn in to within 3 robust deviations of their
        median, and standardised by those.
    norm
        F; ``"auto"``: the fit's, doubled where the bounds before and after some rewards do not
        meet.
    lam
        λ: 1 by default; the kernel's variance where that is ``"auto"``. Much smaller ones make an
        outlier at a new place look like a peak.
    noise
        s, the deviation of the noise's bulk. ``"auto"``: estimated, from the median absolute
        residual, each time the number of rewards has doubled.
    width
        ``"practical"``: √λF + ξ√(2 log 1/δ) as a factor of √(variance/λ), ξ the root mean square of
        the clipped residuals: bias and noise at one candidate and one time, without a union bound
        over all. A number β: mean ± β·std.
    features, ratio, epsilon, nodes, horizon
        As for :class:`~noregret.ATAGPUCB`; ``"exact"`` by default.
    """

    widths = ("practical",)

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        noise: float | str = "auto",
        norm: float | str = 1.0,
        delta: float = 0.1,
        lam: float | None = None,
        seed: int | None = None,
        width: Width = "practical",
        features: str = "exact",
        ratio: float = 1.0,
        epsilon: float = 0.1,
        nodes: int | None = None,
        horizon: int | None = None,
    ) -> None:
        self._given = not is_auto(noise)
        super().__init__(
            domain,
            kernel,
            noise=_checks.positive("noise", noise) if self._given else noise,
            norm=norm,
            delta=delta,
            lam=lam,
            seed=seed,
            width=width,
            features=features,
            ratio=ratio,
            epsilon=epsilon,
            nodes=nodes,
            horizon=horizon,
        )
        self._start()

    def _start(self) -> None:
        """A mean of no rewards, and scales of which nothing is known but what was given."""
        self._scale = self.noise if self._given else math.inf
        self._spread = self.noise  # root mean square of the clipped residuals
        self._used = 0
        self._mean = HuberMean(self._model)
        self._kept = 0  # rewards in it

    def _refit(self, auto: Auto) -> None:
        super()._refit(auto)
        self._start()

    def _leverage_width(self, name: str) -> float:
        noise = self._spread * math.sqrt(2.0 * math.log(1.0 / self.delta))
        return math.sqrt(self.lam) * self.norm + noise

    def _carry_out(self, plan: Plan) -> None:
        observations = self._observations
        warm = self._model.theta[: 0 if plan.replace else None]
        self._follow_model(plan, np.zeros(len(observations)))
        self._keep_rewards(observations.t)
        use = estimate_from(self.t)
        estimate = use != self._used and use >= _FEWEST
        self._used = use
        theta = np.zeros(len(self._model.theta))
        theta[: len(warm)] = warm
        for _ in range(_ROUNDS if estimate else 1):
            if estimate:
                self._estimate(theta)
            theta = self._mean.fit(theta, self._cuts())
        self._model.set_theta(theta)

    def _keep_rewards(self, last: int) -> None:
        observations, new = self._observations, slice(self._kept, last)
        rewards = self._seen(observations.rewards[new])
        self._mean.add(len(observations), observations.history_rows[new], rewards)
        self._kept = last

    def _cuts(self) -> Floats:
        """c of every arm (u): noise, and what f itself may still differ by, F·std."""
        leverage = np.maximum(self._model.arms.leverage(self.lam), 1.0 / self.t)
        choices = len(self._observations) if self._box else len(self._points)
        union = 0.5 * widths.srinivas(choices, self.t, self.delta) ** 2
        noise = self._scale * np.maximum(_CUT, _RISE * np.sqrt(1.0 / (leverage * union)))
        return np.asarray(noise + self.norm * np.sqrt(self.lam * leverage))

    def _estimate(self, theta: Floats) -> None:
        """The noise's scale and spread from the residuals of all rewards so far."""
        observations, rows = self._observations, self._observations.history_rows
        fitted = (self._model.arms.all_features() @ theta)[rows]
        residuals = self._seen(observations.rewards) - fitted
        if not self._given:
            self._scale = robust_scale(residuals)
        self._earlier = None  # what was believed of another noise contradicts no norm
        cuts = self._cuts()[rows]
        self._spread = float(np.sqrt(np.mean(np.square(np.clip(residuals, -cuts, cuts)))))

    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        arrays, values = super()._state()
        arrays["huber"] = np.array([self._scale, self._spread])
        return arrays, {**values, "used": self._used}

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        super()._restore(arrays, values)
        self._scale, self._spread = (float(value) for value in arrays["huber"])
        self._used = int(values["used"])
        self._keep_rewards(self._synced)
