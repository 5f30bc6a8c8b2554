"""Uniform choice, the baseline every regret is compared with."""

from typing import Any

from noregret._types import Floats, Ints
from noregret.algorithms.gp import GPOptimizer, Width
from noregret.models.dictionary import Sparsifier
from noregret.results import BatchInfo
from noregret.widths import gaussian as widths


class Uniform(GPOptimizer):
    """Choices uniformly at random, with replacement.

    Predictions and recommendations come from the same sparse GP that BBKB uses, brought up to date
    only when they are asked for.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, search
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width
        Of the intervals of ``recommend``: as for :class:`~noregret.BBKB`.
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
            sparsifier=Sparsifier("grow"),
        )

    def _leverage_width(self, name: str) -> float:
        shared = (self.noise, self.norm, self.lam, self.delta)
        if name == "practical":
            return widths.practical(*shared, 1.0, self._log_det[1])
        return widths.bbkb(*shared, self._log_det[3])

    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        return self._draw(n or 1), None
