"""π-GP-UCB (Janz, Burt & González, AISTATS 2020): IGP-UCB on each cell of a cover."""

from dataclasses import dataclass
from typing import Any, Literal, cast

from noregret import _checks
from noregret._types import Floats, Points
from noregret.algorithms.igpucb import IGP_WIDTHS
from noregret.kernels import as_kernel
from noregret.learning.cells import CoverBeliefs
from noregret.learning.learner import Learner, Learning, is_auto, starting_kernel
from noregret.learning.local import Covering
from noregret.linalg.threads import one_blas_thread
from noregret.models.assumptions import Assumptions
from noregret.models.cover import Cell, first_cover, smoothness, usable_smoothness
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.covers.bounds import cover_bounds
from noregret.picking.covers.lists import covered_box
from noregret.picking.covers.ucb import CoverUCB, in_cells
from noregret.running.run import located

#: T at first, where it is not known
_HORIZON = 1000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PiGPUCB(Optimizer):
    """π-GP-UCB: a GP for each cell of a cover; cells are hypercubes that split where data gathers.

    A step works only in the cells that the last evaluations fell into.

    Proved: with ``width="theory"`` f lies within the bounds of all cells, for all choices and at
    all times, with probability 1 − δ, for any kernel, ‖f‖ ≤ F and ξ-sub-Gaussian noise (Proofs
    page, Theorem 7); also with ``local="sparse"``. With ``width="paper"`` the paper states the
    same. Its Theorem 3: the regret grows sublinearly for every Matérn kernel with ν > 1 in any
    dimension. Not proved: other widths, ``"paper"`` with sparse cells, learnt settings, the search
    of a box.

    Parameters
    ----------
    domain
        A :class:`~noregret.Box`, or a list of points of numbers. Cells of a box are searched by
        gradients, whatever ``search`` is.
    kernel
        A Matérn kernel with ν > 1. With others the bounds hold, but not the regret bound
        (``opt.events`` says so). ``"auto"``: Matérn of smoothness ``nu`` with one lengthscale in
        sides of the box, as the theorem has it, for standardised rewards.
    noise, norm, delta, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`; ``noise`` is the paper's L,
        ``norm`` its B.
    lam
        The paper's α; 1 + 2/T by default. The paper's experiments use 1. With the theory's width,
        and where the kernel is ``"auto"``, the default is that of :class:`~noregret.GPUCB`.
    width
        ``"theory"``: the tightest that the library can prove, from the cell's own data, with a
        share of δ that depends on the cell's depth. ``"paper"``: β = B + L√(2(γ + 1 + log Ñ_t/δ))
        with γ the cell's information gain and Ñ_t = 4(t + 1)^(bd), or the number of first cells
        where that is larger. ``"practical"``, the width of the paper's experiments, is the same.
        A number or a function, of the evidence in a cell: see :class:`~noregret.Optimizer`.
    horizon
        T, the evaluations planned: the first cover has about T^q cells. It is doubled when it is
        passed, and the cover refined accordingly. By default it is not known: it is 1000 at first,
        and with ``"paper"`` the horizons share δ.
    box
        What is covered, for a list of points: a :class:`~noregret.Box` or bounds; by default the
        list's bounding box.
    first_cells
        About how many cells the first cover has, in place of T^q, the largest order that the
        theorem allows; 1 is the whole box.
    split
        ``"count"``: a cell of side ρ with n evaluations splits when ρ^(−1/b) < n + 1. ``"gain"``:
        when its information gain also exceeds log(n + 1) (Section 7). Theorem 3 still holds; the
        documentation's page on π-GP-UCB says why.
    local
        ``"exact"``: an exact GP in each cell, as in the paper. ``"sparse"``: the GP of
        :class:`~noregret.BKB`, so that steps stay cheap where all evaluations fall into one cell;
        γ is then an upper bound.
    nu
        ν, which sets how fast cells split; by default the kernel's (2.5 for kernels without, and
        for ``"auto"``).
    strict
        Whether ν ≤ 1 is refused.
    """

    horizon: int | None = None
    box: Any = None
    first_cells: int | None = None
    split: Literal["count", "gain"] = "count"
    local: Literal["exact", "sparse"] = "exact"
    nu: float | None = None
    strict: bool = True

    def parts(self) -> Parts:
        """A GP for each cell, and the largest upper bound of all cells is next."""
        _checks.one_of("split", self.split, ("count", "gain"))
        _checks.one_of("local", self.local, ("exact", "sparse"))
        if self.horizon is not None:
            _checks.count("horizon", self.horizon)
        inside = in_cells(self.domain, covered_box(self.domain, self.box), int(self.seed or 0))
        auto, nu = is_auto(self.kernel), self._nu()
        covered = auto or smoothness(as_kernel(self.kernel)) is not None
        note = f"the regret bound is for Matérn kernels; cells split as for ν = {nu:g}"
        return Parts(
            chooser=CoverUCB(inside),
            widths=IGP_WIDTHS,
            proved=("theory",),
            dictionary="complete" if self.local == "exact" else "grow",
            learning=Learning(fit_on="random", one_scale=True, max_points=1000),
            kernel=starting_kernel(self.domain.corners, nu) if auto else None,
            lam=None if self.width == "theory" else 1.0 + 2.0 / (self.horizon or _HORIZON),
            beliefs=self._beliefs,
            view=cover_bounds,
            many=True,
            notes=() if covered else (note,),
        )

    def _nu(self) -> float:
        """ν in use."""
        kernel = None if is_auto(self.kernel) else as_kernel(self.kernel)
        return usable_smoothness(kernel, self.nu, strict=self.strict)

    def _beliefs(
        self, assumed: Assumptions, learner: Learner | None, nothing: Points
    ) -> CoverBeliefs:
        box, horizon = covered_box(self.domain, self.box), self.horizon or _HORIZON
        low, high = self.domain.corners if box is None else box.corners
        cover, q = first_cover(low, high, self._nu(), horizon, self.first_cells)
        how = Covering(
            horizon=horizon,
            planned=self.horizon is not None,
            growth=q if self.first_cells is None else None,
            split=self.split,
            dictionary="complete" if self.local == "exact" else "grow",
            lam_follows=self.lam is None and self.width != "theory" and not is_auto(self.kernel),
            by_time=self.width in ("paper", "practical"),
        )
        return CoverBeliefs(assumed, learner, nothing, cover, how)

    @property
    def cover(self) -> list[Cell]:
        """The cells: bounds, evaluations told, information gain and width of each.

        On a list, cells without candidates are left out.
        """
        with one_blas_thread():
            return cast(CoverUCB, self.chooser).cells(self.situation())

    def upper(self, points: Any = None) -> Floats:
        """UCB_t of some ids (all by default), or points of a box: the largest of their cells'.

        Pending points count in the deviation.
        """
        ids, where = self.domain.locate_all() if points is None else located(self.domain, points)
        with one_blas_thread():
            now = self.situation()
            upper = cast(CoverUCB, self.chooser).upper(now, ids, where)
            return now.beliefs.assumed.reward(upper)

    @property
    def horizon_now(self) -> int:
        """T in use: the ``horizon`` given, or 1000, doubled as often as it was passed."""
        return cast(CoverBeliefs, self.beliefs).horizon
