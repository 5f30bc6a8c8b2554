"""GP-BUCB (Desautels et al. 2014; BBKB Algorithm 2): adaptive batches on the exact GP."""

import math
from dataclasses import dataclass
from typing import Literal

from noregret import _checks
from noregret.algorithms.gpucb import EXACT_WIDTHS, refuse_box
from noregret.batching import BatchRule, GlobalRatio, LocalRatio, ProductRule
from noregret.models.fantasy import Fantasy
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.explore import until_certain
from noregret.picking.ucb import ucb


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GPBUCB(Optimizer):
    """GP-BUCB: the exact GP, adaptive batches.

    Proved as for :class:`~noregret.GPUCB`. Inside a batch deviations are multiplied by √C (by C
    with ``"paper"``) and intersected with the bounds of the batch start.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, bounds, search, repeats, aim
        As for :class:`~noregret.GPUCB`.
    width
        As for :class:`~noregret.GPUCB`. Inside a batch only the deviations of ``"theory"``,
        ``"paper"`` and ``"srinivas"`` are multiplied. With ``"practical"``, a number or a function
        bounds are mean ± β·std with the deviation after the picks so far.
    ratio
        C: a batch ends when its bound on the ratio of posterior variances passes this.
    batch_rule
        ``"product"``: ∏(1 + σ²_{s−1}(x_s)), the paper's. ``"global"``: 1 + Σσ²_fb(x_s), the tighter
        bound of BBKB Lemma 1, with longer batches. ``"local"``: the ratio itself, over the
        candidates looked at, for the longest batches; on a list only.
    min_batch
        P: first sample where the variance is largest until every leverage is at most 1/P (BBKB
        Algorithm 3). Batches after that have at least P(C − 1) points with ``"global"`` and
        ``"local"``, and P·log C with ``"product"``.
    """

    ratio: float = 2.0
    batch_rule: Literal["product", "global", "local"] = "product"
    min_batch: int | None = None

    adaptive = True

    def parts(self) -> Parts:
        """Every arm told is an inducing point; a batch ends by the rule."""
        _checks.at_least_one("ratio", self.ratio)
        _checks.one_of("batch_rule", self.batch_rule, ("product", "global", "local"))
        if self.width == "srinivas":
            refuse_box(self)
        if self.batch_rule == "local" and self.domain.size is None:
            raise ValueError("batch_rule 'local' needs a list; on a box use 'global'")
        root = math.sqrt(self.ratio)
        chooser = ucb(self.domain, self.search)
        return Parts(
            chooser=until_certain(chooser, self.min_batch, self.domain, self.search),
            widths=EXACT_WIDTHS,
            proved=("theory", "paper"),
            ratio=self.ratio,
            rule=self._rule,
            inflation={"theory": root, "srinivas": root, "paper": self.ratio},
            many=True,
        )

    def _rule(self, fantasy: Fantasy) -> BatchRule:
        if self.batch_rule == "local":
            return LocalRatio(self.ratio)
        if self.batch_rule == "global":
            return GlobalRatio(self.ratio, fantasy.pending)
        return ProductRule(self.ratio, fantasy.pending)
