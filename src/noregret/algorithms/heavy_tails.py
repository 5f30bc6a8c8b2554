"""Parts that the GP algorithms for heavy-tailed rewards share: features, horizon, batches."""

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from noregret import _checks
from noregret.batching import BatchRule, FixedSize, GlobalRatio
from noregret.kernels import Kernel
from noregret.learning.learner import Learning, is_auto
from noregret.models.assumptions import Assumptions
from noregret.models.fantasy import Fantasy
from noregret.models.fourier import check_within, quadrature_for
from noregret.parts import Parts
from noregret.picking.ucb import ucb
from noregret.rewards.least_squares import RewardEstimate
from noregret.spaces import Candidates
from noregret.widths import heavy
from noregret.widths.evidence import WidthRule

if TYPE_CHECKING:
    from noregret.algorithms.atagpucb import ATAGPUCB
    from noregret.algorithms.hubergpucb import HuberGPUCB
    from noregret.algorithms.tgpucb import TGPUCB

Features = Literal["exact", "nystrom", "qff"]


class FeatureGP:
    """Turns the settings ``features``, ``ratio``, ``horizon`` and others into parts.

    Parameters
    ----------
    optimizer
        The algorithm. A wrong setting raises an error that names it.

    Attributes
    ----------
    horizon
        T.
    """

    def __init__(self, optimizer: "TGPUCB | ATAGPUCB | HuberGPUCB") -> None:
        _checks.one_of("features", optimizer.features, ("exact", "nystrom", "qff"))
        _checks.at_least_one("ratio", optimizer.ratio)
        _checks.probability("epsilon", optimizer.epsilon)
        if optimizer.nodes is not None:
            _checks.count("nodes", optimizer.nodes)
        if optimizer.horizon is not None:
            _checks.count("horizon", optimizer.horizon)
        if is_auto(optimizer.kernel) and optimizer.features == "qff":
            raise ValueError(
                "kernel 'auto' is not for features 'qff', whose number depends on the lengthscale: "
                "pass an RBF kernel, or use 'nystrom' or 'exact'"
            )
        self._optimizer = optimizer
        self.horizon = heavy.Horizon(optimizer.horizon)

    @property
    def by_theorem(self) -> bool:
        """Whether the width is a theorem's, with the theorem's levels and dictionary."""
        return self._optimizer.width in ("theory", "paper")

    @property
    def bias(self) -> float:
        """The factor by which the dictionary multiplies the bias √λB in a theorem's width."""
        if self._optimizer.features != "nystrom":
            return 1.0
        return heavy.nystrom_bias(self._optimizer.epsilon)

    def kernel_in_use(self, kernel: Kernel) -> Kernel:
        """The kernel itself, or the kernel φᵀφ of its quadrature features.

        The exact GP of φᵀφ is regression on φ: λφᵀV⁻¹φ = k̃ − k̃ᵀ(K̃ + λI)⁻¹k̃ (ATA-GP-UCB's choice i).
        """
        if self._optimizer.features != "qff":
            return kernel
        # An error of T⁻⁶ makes the regret that the approximation adds O(1) (ATA-GP-UCB 5.2). More
        # nodes than double precision can tell apart are of no use.
        error = max(float(self.horizon.after(0)) ** -6.0, sys.float_info.epsilon)
        corners = self._optimizer.domain.corners
        return quadrature_for(kernel, corners, self._optimizer.nodes, error)

    def parts(
        self, widths: Mapping[str, WidthRule], estimate: RewardEstimate, *, standardises: bool
    ) -> Parts:
        """The parts, with an algorithm's own widths and estimate of rewards."""
        optimizer = self._optimizer
        inflation = math.sqrt(optimizer.ratio)
        return Parts(
            chooser=ucb(optimizer.domain, optimizer.search),
            widths=widths,
            dictionary="grow" if optimizer.features == "nystrom" else "complete",
            qbar=self._qbar,
            ratio=optimizer.ratio,
            rule=self._rule,
            estimate=estimate,
            learning=Learning(
                fit_on="random",
                max_points=1000,
                standardises=standardises,
                winsorises=True,
                lam_is_variance=True,
                fits_for=("kernel", "norm"),
            ),
            replaced_kernel=self.kernel_in_use,
            check_list=_check_list,
            lam=1.0,
            inflation={"theory": inflation, "paper": inflation},
        )

    def _qbar(self, t: int) -> float:
        """q of the Nyström dictionary, times C̃ for batches (BBKB Theorem 2)."""
        horizon, epsilon = self.horizon.after(t), self._optimizer.epsilon
        if not self.by_theorem:
            return self._optimizer.ratio * heavy.nystrom_practical_q(epsilon, horizon)
        delta = self.horizon.delta(self._optimizer.delta, t)
        return self._optimizer.ratio * heavy.nystrom_q(epsilon, horizon, delta)

    def _rule(self, fantasy: Fantasy) -> BatchRule:
        ratio = self._optimizer.ratio
        return GlobalRatio(ratio, fantasy.pending) if ratio > 1 else FixedSize()


def _check_list(candidates: Candidates, assumed: Assumptions) -> None:
    check_within(assumed.kernel, candidates.corners)
