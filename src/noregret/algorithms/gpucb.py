"""GP-UCB and its batched form GP-BUCB, on the exact GP."""

import math
from typing import Any

from noregret import _checks
from noregret.algorithms.gp import GPOptimizer, Width
from noregret.batching import BatchRule, GlobalRatio, ProductRule
from noregret.models.dictionary import Sparsifier
from noregret.models.view import PosteriorView
from noregret.spaces import Box
from noregret.widths import gaussian as widths


class _ExactGP(GPOptimizer):
    """The exact GP: every evaluated arm is an inducing point."""

    widths = ("theory", "practical", "srinivas")

    def __init__(self, domain: Any, kernel: Any, *, width: Width, ratio: float, **shared: Any):
        if width == "srinivas" and isinstance(domain, Box):
            raise ValueError(
                "width 'srinivas' counts the candidates of a list. For a box (Srinivas et al., "
                "Theorem 2) it needs a bound on the derivatives of functions drawn from the GP, "
                "which a kernel does not tell: use 'theory' or a number"
            )
        super().__init__(
            domain,
            kernel,
            width=width,
            ratio=ratio,
            sparsifier=Sparsifier("complete"),
            **shared,
        )

    def _leverage_width(self, name: str) -> float:
        log_det = self._model.log_det_bound()
        if name == "srinivas":
            scale = math.sqrt(self.lam)
            return scale * widths.srinivas(len(self._points), self.t + 1, self.delta)
        if name == "practical":
            return widths.practical(self.noise, self.norm, self.lam, self.delta, 1.0, log_det)
        return widths.gp_ucb(self.noise, self.norm, self.lam, self.delta, log_det)


class GPUCB(_ExactGP):
    """GP-UCB (Srinivas et al. 2010; Chowdhury & Gopalan 2017): exact GP, one point at a time.

    A step costs O(A·u) for u arms evaluated so far; :class:`~noregret.BBKB` does not grow with u.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, search
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width
        ``"theory"``: β = √λF + ξ√(2(log det(K/λ+I) + log 1/δ)) (BKB eq. 7), with
        probability 1 − δ for ‖f‖ ≤ F and ξ-sub-Gaussian noise. ``"practical"``: without the 2.
        ``"srinivas"``: √(2 log(A t²π²/6δ)) deviations, for f drawn from the GP and λ = ξ².
        A number β: mean ± β·std.
    """

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        noise: float | str = 0.1,
        norm: float | str = 1.0,
        delta: float = 0.1,
        lam: float | None = None,
        seed: int | None = None,
        search: str = "gradients",
        width: Width = "theory",
    ) -> None:
        super().__init__(
            domain,
            kernel,
            noise=noise,
            norm=norm,
            delta=delta,
            lam=lam,
            seed=seed,
            search=search,
            width=width,
            ratio=1.0,
        )


class GPBUCB(_ExactGP):
    """GP-BUCB (Desautels et al. 2014; BBKB Algorithm 2): exact GP, adaptive batches.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, search, width
        As for :class:`~noregret.GPUCB`; inside a batch the theory's width is multiplied by C.
    ratio
        C: a batch ends when its bound on the ratio of posterior deviations passes this.
    batch_rule
        ``"product"``: ∏(1 + σ²_{s−1}(x_s)), the paper's. ``"global"``: 1 + Σσ²_fb(x_s), the
        tighter bound of BBKB Lemma 1, with longer batches.
    """

    adaptive = True

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        noise: float | str = 0.1,
        norm: float | str = 1.0,
        delta: float = 0.1,
        lam: float | None = None,
        seed: int | None = None,
        search: str = "gradients",
        width: Width = "theory",
        ratio: float = 2.0,
        batch_rule: str = "product",
    ) -> None:
        self.batch_rule = _checks.one_of("batch_rule", batch_rule, ("product", "global"))
        super().__init__(
            domain,
            kernel,
            noise=noise,
            norm=norm,
            delta=delta,
            lam=lam,
            seed=seed,
            search=search,
            width=width,
            ratio=ratio,
        )

    def _rule(self, view: PosteriorView, pending: float) -> BatchRule:
        if self.batch_rule == "global":
            return GlobalRatio(self.ratio, pending)
        return ProductRule(self.ratio, pending)
