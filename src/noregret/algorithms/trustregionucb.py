"""GP-UCB on a box, most of whose steps look only near the best point known."""

from dataclasses import dataclass
from typing import cast

from noregret import _checks
from noregret.algorithms.gpucb import EXACT_WIDTHS, refuse_box
from noregret.learning.learner import Learning, is_auto
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.boxes.trust_region import TrustRegion
from noregret.picking.boxes.ucb import BoxUCB
from noregret.rewards.least_squares import LeastSquares
from noregret.rewards.winsorised import Winsorised
from noregret.spaces import Space, as_space

#: up to this many evaluations every arm is an inducing point
_EXACT = 500
#: a q̄ so large that every arm is an inducing point, and the smallest one
_ALL, _LEAST = 1e12, 0.5


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrustRegionUCB(Optimizer):
    """GP-UCB that takes two steps in a trust region for every step in the whole box.

    The region is a box around the point with the largest posterior mean of those told, as in TuRBO
    (Eriksson et al. 2019). Its sides are 0.8 of the whole box's at first, halved after max(4, d)
    failures in a row, doubled after 3 successes, and 0.8 again once they would fall below 1/128. A
    success is an evaluation in the region that becomes the point with the largest mean. One GP of
    all evaluations serves both kinds of step; in the region bounds are half as wide. So a narrow
    valley that does not stand out in the whole box is still followed. In the whole box bounds are
    twice as wide if the kernel is learnt and the width is not proved: otherwise these steps too
    would stay on the first hill that is found.

    Proved: the bounds, as for :class:`~noregret.GPUCB`. The steps in the whole box are those of
    GP-UCB, and evaluations between them only shrink its deviations: with a proved width and a known
    kernel the regret bound of GP-UCB holds for those steps, with the information gain of all
    evaluations in it. Not proved: the other steps, learnt settings, the search of a box.

    Settings that are ``"auto"`` are fitted to all evaluations, not to uniform draws alone. After
    the first design nothing is drawn uniformly, and the fit is repeated whenever the data has grown
    by a quarter. So the kernel fits best near good points, where it is needed, but it cannot be the
    basis of a certificate. A learnt kernel comes with a fitted mean. A width that is not proved
    makes the model sparse beyond 500 evaluations.

    With a learnt kernel and a width that is not proved, outliers and a huge range do little harm.
    Rewards further than 3 robust deviations from their median are moved to that distance. From 20
    evaluations on, a reward 10 such deviations too bad of a point told once is moved on, to within
    3 deviations of what the others predict, and fits leave it out if it is far too bad for where it
    stands. If the best point was told once and its reward is better than the others predict by 3
    deviations, it is evaluated again. If the noise is learnt too and the width is a number, bad
    rewards are put on a logarithmic scale where the likelihood says so
    (:func:`noregret.learning.warps.best_warp`, read it at ``opt.assumed.warp``). Answers stay in
    the units of the rewards: bounds are mapped back exactly, means become medians, and a deviation
    is half of what lies between the median minus and plus one deviation.

    Parameters
    ----------
    domain
        A :class:`~noregret.Box` or :class:`~noregret.Space`. The region contains all categories of
        parameters without an order.
    kernel, noise, norm, delta, lam, seed, width, bounds, search, repeats, aim
        As for :class:`~noregret.GPUCB`; λ alone, without its multiples.
    horizon
        The number of evaluations planned, if known. With a learnt kernel the run begins with a
        Sobol sequence of 6 points (or 2 per dimension), at most a quarter of the horizon.
    """

    horizon: int | None = None

    def parts(self) -> Parts:
        """Whole box and trust region take turns."""
        box = as_space(self.domain)
        proved = self.width in ("theory", "paper")
        # Outliers are expected where no theorem excludes them.
        robust = is_auto(self.kernel) and not proved
        if self.width == "srinivas":
            refuse_box(self)
        return Parts(
            chooser=TrustRegion(BoxUCB(box, self.search, quick=True), learnt=robust),
            widths=EXACT_WIDTHS,
            proved=("theory", "paper"),
            # Few evaluations are all inducing points, many only where they are needed.
            dictionary="complete" if proved else "grow",
            # With a fixed q̄ dictionary and time of an ask would grow with the evaluations.
            qbar=_qbar,
            estimate=Winsorised() if robust else LeastSquares(),
            learning=Learning(
                design=self._design(box.dimension),
                winsorises=True,
                leaves_out=robust and is_auto(self.noise),  # "heavy" has an estimate of its own
                warps=not isinstance(self.width, str),
                fits_mean=True,
                spreads=True,
                restarts=2,
            ),
        )

    def _design(self, dimension: int) -> int:
        """Evaluations before the first fit."""
        design = max(6, 2 * dimension)
        if self.horizon is None:
            return design
        return min(design, max(_checks.count("horizon", self.horizon) // 4, 2))

    @property
    def region(self) -> Space:
        """The trust region around the point with the largest mean; the whole box at the start."""
        return cast(TrustRegion, self.chooser).region(self.situation())


def _qbar(t: int) -> float:
    return _ALL if t <= _EXACT else max(2.0 * _EXACT / t, _LEAST)
