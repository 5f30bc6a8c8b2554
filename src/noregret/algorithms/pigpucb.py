"""π-GP-UCB (Janz, Burt & González, AISTATS 2020) and IGP-UCB, the same with a single cell."""

from dataclasses import replace
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Points
from noregret.algorithms.cover import CoverOptimizer, Width
from noregret.kernels import Kernel, Matern, SklearnKernel
from noregret.kernels.base import Scaled
from noregret.learning.design import is_auto, starting_kernel
from noregret.learning.fit import Fit, fit_kernel
from noregret.models.cover import Cell, Cover, WholeDomain, first_cells, smoothness_exponents
from noregret.spaces import Box, Domain

#: a cell of a box splits into 2ᵈ
_LARGEST_DIMENSION = 10


class IGPUCB(CoverOptimizer):
    """IGP-UCB (Chowdhury & Gopalan 2017) as in π-GP-UCB, section 2: one exact GP.

    A step costs O(A·n) after n evaluations (on a list of A). For rough functions
    :class:`~noregret.PiGPUCB` has the smaller regret and costs far less.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, seed
        As for every algorithm, see :class:`~noregret.Optimizer`; ``noise`` is the paper's L,
        ``norm`` its B.
    lam
        The paper's α; 1 by default, as in its experiments. The theorem has 1 + 2/T. Where the
        kernel is ``"auto"``, ξ² by default: β is then that of a λ below 1.
    width
        ``"theory"``: β = B + L√(2(γ_t + 1 + log 1/δ)) (eq. 2) with the exact information gain γ_t
        of what has been told. The paper's experiments use it as it is, so ``"practical"`` is the
        same. A number β: mean ± β·std.
    """

    pattern_size = 1024
    searches = 4

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
        width: Width = "theory",
    ) -> None:
        super().__init__(
            domain,
            kernel,
            noise=noise,
            norm=norm,
            delta=delta,
            lam=1.0 if lam is None and not is_auto(kernel) else lam,
            seed=seed,
            width=width,
            local="exact",
        )
        nothing = np.empty(0)
        box = self.domain if isinstance(self.domain, Box) else None
        self._start(WholeDomain(*((box.lower, box.upper) if box else (nothing, nothing))))

    def _cell_delta(self) -> float:
        return self.delta

    def information_gain(self) -> float:
        """γ_t = ½ log det(I + K_t/λ) of the evaluations told, exactly."""
        self._sync()
        return float(self._gains[0])


class PiGPUCB(CoverOptimizer):
    """π-GP-UCB: IGP-UCB on each cell of a cover by hypercubes, which split where data gathers.

    The regret grows sublinearly for every Matérn kernel with ν > 1 in any dimension (Theorem 3). A
    step works only in the cells that the last evaluations fell into.

    Parameters
    ----------
    domain
        A :class:`~noregret.Box`, or a list of points of numbers.
    kernel
        A Matérn kernel with ν > 1. Others are allowed, but the regret bound does not cover them
        (``opt.events`` says so); the confidence bounds hold for any kernel. ``"auto"``: Matérn of
        smoothness ``nu`` with one lengthscale in sides of the box, as the theorem has it, for
        standardised rewards.
    noise, norm, delta, seed
        As for every algorithm, see :class:`~noregret.Optimizer`; ``noise`` is the paper's L,
        ``norm`` its B.
    lam
        The paper's α; by default 1 + 2/T, or ξ² where the kernel is ``"auto"``. The paper's
        experiments use 1.
    horizon
        T, the evaluations planned: the first cover has about T^q cells. It is doubled when it is
        passed, and the cover refined accordingly.
    width
        ``"theory"``: β = B + L√(2(γ + 1 + log Ñ_t/δ)) with γ the cell's exact information gain and
        Ñ_t = 4(t + 1)^(bd). The paper's experiments use it as it is, so ``"practical"`` is the
        same. A number β: mean ± β·std.
    box
        What is covered, for a list of points: a :class:`~noregret.Box` or bounds; by default the
        list's bounding box.
    local
        ``"exact"``: an exact GP in each cell, as in the paper. ``"sparse"``: the GP of
        :class:`~noregret.BKB` in each cell, so that a step's cost stays bounded where all
        evaluations fall into one cell. γ is then an upper bound.
    nu
        ν, which sets how fast cells split; by default the kernel's (2.5 for kernels without, and
        for ``"auto"``).
    strict
        Whether ν ≤ 1 is refused.
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
        horizon: int = 1000,
        width: Width = "theory",
        box: Any = None,
        local: str = "exact",
        nu: float | None = None,
        strict: bool = True,
    ) -> None:
        self._horizon = _checks.count("horizon", horizon)
        self._lam_given = lam is not None or is_auto(kernel)
        self._smoothest = 2.5 if nu is None else _checks.positive("nu", nu)
        super().__init__(
            domain,
            kernel,
            noise=noise,
            norm=norm,
            delta=delta,
            lam=lam if self._lam_given else self._default_lam(),
            seed=seed,
            width=width,
            local=local,
        )
        self.box = self._check_box(box)
        self._box_given = box is not None
        own = _smoothness(self.kernel)
        self.nu = self._smoothest if nu is not None or own is None else own
        if strict and self.nu <= 1:
            raise ValueError(
                f"nu must be above 1 for the regret bound of π-GP-UCB (Janz et al. 2020, Theorem "
                f"3), got {self.nu}; strict=False goes on without it"
            )
        if own is None:
            text = f"the regret bound is for Matérn kernels; cells split as for nu = {self.nu:g}"
            self._log("note", text=text)
        d = self.box.dimension
        if isinstance(self.domain, Box) and d > _LARGEST_DIMENSION:
            raise ValueError(
                f"domain must be a box of at most {_LARGEST_DIMENSION} dimensions (cells split "
                f"into 2^d), got {d}; a list of points may have more"
            )
        self._b, self._q = smoothness_exponents(self.nu, d)
        per_side = first_cells(self._horizon, self._q, d)
        self._start(Cover(self.box.lower, self.box.upper, per_side, self._b))

    def _starting_kernel(self, domain: Domain) -> Kernel:
        start = starting_kernel(domain)
        assert isinstance(start, Matern)
        return Matern(start.lengthscale, self._smoothest)

    def _fit_to(self, X: Points, y: Floats, noise: float | None, only_noise: bool) -> Fit:
        """One lengthscale for all dimensions, in sides of the box: the theorem's kernel."""
        if only_noise:
            return super()._fit_to(X, y, noise, only_noise)
        assert isinstance(self.kernel, Matern)
        sides = np.where(self.box.upper > self.box.lower, self.box.upper - self.box.lower, 1.0)
        start = float(np.mean(np.asarray(self.kernel.lengthscale) / sides))
        kernel = Matern(start, self.nu, self.kernel.variance)
        fit = fit_kernel(kernel, X / sides, y, noise, seed=self.seed)
        assert isinstance(fit.kernel, Matern)
        scales = np.asarray(fit.kernel.lengthscale) * sides
        return replace(fit, kernel=Matern(scales, self.nu, fit.kernel.variance))

    def _default_lam(self) -> float:
        return 1.0 + 2.0 / self._horizon

    def _check_box(self, box: Any) -> "_Bounds":
        if isinstance(self.domain, Box):
            if box is not None:
                raise ValueError("box must not be given: the domain is one already")
            return _Bounds(self.domain.lower, self.domain.upper)
        if self.domain.are_objects:
            raise ValueError(
                "domain must be a box or a list of points of numbers, which a box can cover; "
                f"got {self.domain!r}"
            )
        if box is None:
            return _Bounds(self._points.min(axis=0), self._points.max(axis=0))
        given = box if isinstance(box, Box) else Box(box)
        bounds = _Bounds(given.lower, given.upper)
        bounds.check(self._points)
        return bounds

    @property
    def horizon(self) -> int:
        """T, as doubled so far."""
        self._sync()
        return self._horizon

    @property
    def cover(self) -> list[Cell]:
        """The cells: bounds, evaluations told, information gain and width of each.

        On a list, cells without candidates are left out.
        """
        self._sync()
        found = []
        for cell, gain, beta in zip(self._model.cells, self._gains, self._betas(), strict=True):
            low, high = self._model.cover.bounds(cell.key)
            side = self._model.cover.side(cell.key)
            found.append(Cell(low, high, side, cell.count, float(gain), float(beta)))
        return found

    def _cell_delta(self) -> float:
        # Ñ_t = 4(t + 1)^(bd) of Lemma 6, where t is the evaluation about to be made.
        return float(self.delta / (4.0 * (self._synced + 2.0) ** (self._b * self.box.dimension)))

    def _sync(self) -> None:
        if self.t > self._horizon:
            while self.t > self._horizon:
                self._horizon *= 2
            self._refine()
        super()._sync()

    def _refine(self) -> None:
        """Halve cells that a cover made for the new horizon would not have."""
        if not self._lam_given:
            self.lam = self._default_lam()
        cover = self._model.cover
        goal = first_cells(self._horizon, self._q, cover.dimension)
        open_ = list(self._model.slot_of)
        while open_:
            key = open_.pop()
            if 2 * (cover.per_side << key[0]) <= goal:
                cover.splits.add(key)
                open_ += cover.children(key)
        self._stale = True
        self._log("horizon doubled", horizon=self._horizon)

    def _replace(self, points: Points, prior: Floats) -> None:
        if self._box_given:
            self.box.check(points)
        super()._replace(points, prior)

    def _options(self) -> dict[str, Any]:
        bounds = np.column_stack([self.box.lower, self.box.upper]).tolist()
        options = {**super()._options(), "box": bounds if self._box_given else None}
        return options if self._lam_given else {**options, "lam": None}

    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        arrays, values = super()._state()
        cover = self._model.cover
        arrays["box"] = np.stack([self.box.lower, self.box.upper])
        return arrays, values | {"horizon": self._horizon, "per_side": cover.per_side}

    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        self._horizon = int(values["horizon"])
        if not self._lam_given:
            self.lam = self._default_lam()
        self.box = _Bounds(*arrays["box"])  # the first list's, where that has been replaced
        self._start(Cover(self.box.lower, self.box.upper, int(values["per_side"]), self._b))
        super()._restore(arrays, values)


class _Bounds:
    """A box whose sides may have no length."""

    def __init__(self, lower: Floats, upper: Floats) -> None:
        self.lower, self.upper = lower, upper

    @property
    def dimension(self) -> int:
        return len(self.lower)

    def check(self, points: Points) -> None:
        """Refuse a list that is not inside."""
        if points.shape[1] != self.dimension:
            raise ValueError(
                f"box must have the candidates' {points.shape[1]} dimensions, got {self.dimension}"
            )
        slack = 1e-9 * (self.upper - self.lower)
        outside = np.argwhere((points < self.lower - slack) | (points > self.upper + slack))
        if len(outside):
            row, column = outside[0]
            raise ValueError(
                f"box must contain all candidates: row {row}, dimension {column} is "
                f"{points[row, column]}, not in [{self.lower[column]}, {self.upper[column]}]"
            )


def _smoothness(kernel: Kernel) -> float | None:
    """ν of a Matérn kernel."""
    if isinstance(kernel, Scaled):
        return _smoothness(kernel.kernel)
    if isinstance(kernel, Matern):
        return kernel.nu
    if isinstance(kernel, SklearnKernel) and hasattr(kernel.kernel, "nu"):
        return float(kernel.kernel.nu)
    return None
