"""Robust UCB for finitely many arms without structure (Bubeck, Cesa-Bianchi & Lugosi 2013)."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.algorithms.base import Optimizer
from noregret.algorithms.gp import Width
from noregret.algorithms.truncated import Moment, check_alpha, check_v
from noregret.learning.design import is_auto, starting_kernel
from noregret.results import BatchInfo, Recommendation
from noregret.rewards.truncation import SortedSums
from noregret.spaces import as_candidates
from noregret.widths import heavy as widths_heavy


class RobustUCB(Optimizer):
    """Robust UCB with the truncated mean: a bandit on separate arms, no smoothness used.

    After t evaluations, the j-th reward of an arm counts as zero where |y|^(1+α) > v j/log t², and
    an arm evaluated n times has the bound mean + 4 v^(1/(1+α)) (log t² / n)^(α/(1+α)). Proved: each
    bound fails with probability at most t⁻². Arms never evaluated come first, in their order.

    Parameters
    ----------
    domain, norm, delta, lam, noise, seed
        As for every algorithm, see :class:`~noregret.Optimizer`; only the domain, a list, matters.
    kernel
        Taken as every algorithm takes it; only the GP algorithms it is compared with use it. There
        is nothing to learn for ``"auto"`` but ``v``.
    alpha, v
        As for :class:`~noregret.TGPUCB`.
    width
        ``"theory"``: the above. ``"practical"``: without the factor 4. A number β: the bound is
        mean ± β·std with std = n^(−α/(1+α)).
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
        lam: float | None = 1.0,
        noise: float | str = 0.1,
        seed: int | None = None,
        width: Width = "theory",
    ) -> None:
        self.alpha = check_alpha(alpha)
        self._moment = Moment(check_v(v), self.alpha)
        if isinstance(width, str):
            self.width: Width = _checks.one_of("width", width, ("theory", "practical"))
        else:
            self.width = _checks.not_negative("width", width)
        candidates = as_candidates(domain)
        super().__init__(
            candidates,
            starting_kernel(candidates) if is_auto(kernel) else kernel,
            norm=_known(norm, 1.0),
            delta=delta,
            lam=lam,
            noise=_known(noise, 0.1),
            seed=seed,
        )
        self._rewards = SortedSums()
        self._counts: Ints = np.empty(0, dtype=np.int64)  # rewards sorted in, by row

    # -- following the observations ----------------------------------------------------------

    def _sync(self) -> None:
        observations = self._observations
        first = int(self._counts.sum())
        if first == observations.t:
            return
        rows = observations.history_rows[first:]
        rewards = observations.rewards[first:]
        self._rewards.grow(len(observations))
        more = np.zeros(len(observations) - len(self._counts), dtype=np.int64)
        self._counts = np.concatenate([self._counts, more])
        # The j-th reward is within (v j/log t²)^(1/(1+α)) where |y|^(1+α)/j ≤ v/log t².
        order = np.argsort(rows, kind="stable")
        ranks = np.empty(len(rows), dtype=np.int64)
        starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
        ranks[order] = np.arange(len(rows)) - np.repeat(starts, np.diff([*starts, len(rows)]))
        turn = self._counts[rows] + ranks + 1
        with np.errstate(over="ignore"):
            keys = np.abs(rewards) ** (1.0 + self.alpha) / turn
        self._rewards.add(rows, keys, rewards)
        np.add.at(self._counts, rows, 1)
        self._moment.follow(observations.rewards)

    @property
    def beta(self) -> float:
        """The width in use: bounds are mean ± beta · std, std = n^(−α/(1+α))."""
        self._sync()
        if not isinstance(self.width, str):
            return self.width
        factor = 4.0 if self.width == "theory" else 1.0
        return widths_heavy.robust_ucb(self.alpha, self._moment.value, self.t, factor)

    @property
    def v(self) -> float:
        """The bound on E|y|^(1+α) in use: as given, or estimated so far."""
        self._sync()
        return self._moment.value

    def _means(self, ids: Ints) -> Floats:
        """Truncated means of some ids, 0 for arms never evaluated."""
        self._sync()
        counts = self._counts_of(ids, pending=False)
        told = np.flatnonzero(counts)
        rows = self._observations.known_rows(ids)[told]
        level = self._moment.value / (2.0 * np.log(max(self.t, 2)))
        means = np.zeros(len(ids))
        means[told] = self._rewards.sums(rows, np.full((len(told), 1), level))[:, 0] / counts[told]
        return means

    def _counts_of(self, ids: Ints, pending: bool) -> Ints:
        """Evaluations told of some ids, with the pending ones or without."""
        observations = self._observations
        rows = observations.known_rows(ids)
        counts = np.zeros(len(ids), dtype=np.int64)
        seen = rows >= 0
        counts[seen] = observations.told[rows[seen]]
        if pending:
            counts[seen] += observations.pending[rows[seen]]
        return counts

    def _deviations(self, counts: Ints) -> Floats:
        """n^(−α/(1+α)); 1 for arms never evaluated, as |mean| ≤ v^(1/(1+α)) ≤ β by Jensen."""
        power = -self.alpha / (1.0 + self.alpha)
        return np.asarray(np.maximum(counts, 1).astype(np.float64) ** power)

    # -- ask and tell ------------------------------------------------------------------------

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        ids = np.arange(len(self._points))
        means, beta = self._means(ids), self.beta
        counts = self._counts_of(ids, pending=True)
        chosen, bounds = [], []
        for _ in range(n or 1):
            upper = np.where(counts > 0, means + beta * self._deviations(counts), np.inf)
            best = int(np.argmax(upper))
            chosen.append(best)
            bounds.append(float(upper[best]))
            counts[best] += 1
        return np.array(chosen), BatchInfo(np.array(bounds), beta, 1.0, 0)

    def _predict(self, where: Ints | Floats) -> tuple[Floats, Floats]:
        ids = np.asarray(where, dtype=np.int64)
        counts = self._counts_of(ids, pending=True)
        return self._means(ids), np.square(self._deviations(counts))

    def _recommend(self) -> Recommendation:
        ids = np.arange(len(self._points))
        means = self._means(ids)
        radius = self.beta * self._deviations(self._counts_of(ids, pending=False))
        lower, upper = means - radius, means + radius
        best = int(np.argmax(lower))
        return Recommendation(
            id=best,
            point=self._points[best],
            mean=float(means[best]),
            lower=float(lower[best]),
            upper=float(upper[best]),
            gap=max(float(upper.max() - lower[best]), 0.0),
        )

    # -- lists and files ---------------------------------------------------------------------

    def _replace(self, points: Points, prior: Floats) -> None:
        self._sync()

    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        return {}, {}

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        """Everything follows from the history."""


def _known(value: Any, otherwise: float) -> Any:
    """A setting that no width here uses."""
    return otherwise if is_auto(value) else value
