"""Settings that are learnt: ``kernel="auto"``, ``noise="auto"``, ``norm="auto"``.

A design of uniform draws comes first. After it kernel and noise are fitted to all evaluations, and
again whenever these have grown by a quarter (doubled, once there are more than a fit looks at). An
algorithm may fit to uniform draws alone instead (D_random of ξ-greedy TS, Section 2.3): then a
fifth of what follows the design is uniform too, and fits come when the data has doubled.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels import Columns, Hamming, Kernel, Matern, Tanimoto, WithLogs
from noregret.learning.lone import lone_outliers
from noregret.learning.ties import always_agree, has_atoms, informative
from noregret.learning.warps import best_warp
from noregret.models.assumptions import Assumptions, noise_lams
from noregret.observations import Observations
from noregret.rewards.moments import winsorised
from noregret.spaces.decades import log_floor

#: the usual share of uniform draws after the design, if fits use these alone
SHARE = 0.2
#: fit again when the data has grown by this factor; the key is ``fit_on``, and ``"random"`` once a
#: fit sees only some of the evaluations
GROWTH = {"random": 2.0, "all": 1.25}
#: the norm that a fit reports is at least this
_SMALLEST_NORM = 1e-3

#: evaluations before the first fit, if fits use all of them
_DESIGN = 10
#: from this many columns of 0 and 1 on, points are fingerprints: too many lengthscales to fit
_FINGERPRINT = 64
#: uniform draws of fingerprints before the first fit, which finds variance and noise only
_FINGERPRINT_DESIGN = 40
#: fits without outliers: a model that had to explain one of them may not see the next one
_ROUNDS = 3
#: the noise over the rewards' deviation where the rewards show that there is none
_NO_NOISE = 1e-3
#: the weight that a category starts with
_WEIGHT = 0.5


@dataclass(frozen=True)
class Learning:
    """How an algorithm learns the settings given as ``"auto"``.

    Attributes
    ----------
    design
        Uniform draws before the first fit; ``None``: see :func:`design_size`.
    fit_on
        ``"all"``: fits use every evaluation, and nothing is drawn uniformly after the design.
        ``"random"``: fits use the uniform draws alone.
    standardises
        Whether the model of a learnt kernel sees standardised rewards.
    winsorises
        Whether fits see rewards moved to within 3 robust deviations of their median.
    leaves_out
        Whether fits leave out rewards that are far too bad for where they stand, if kernel and
        noise are both learnt: see :func:`noregret.learning.lone.lone_outliers`. One of them would
        make the noise seem much larger.
    warps
        Whether rewards below a centre may be put on a logarithmic scale, if kernel and noise are
        both learnt. The likelihood decides: see :func:`noregret.learning.warps.best_warp`.
    fits_mean
        Whether the prior mean is fitted too. Otherwise it is the rewards' average, which is too
        high for points that an algorithm chose.
    spreads
        Whether the design is a Sobol sequence instead of independent draws.
    max_points
        Fits see at most this many evaluations, drawn at random.
    lam_is_variance
        Whether λ, if none is given, follows the kernel's variance instead of the noise.
    one_scale
        Whether one lengthscale serves all dimensions, in sides of the space's bounding box.
    fits_for
        Settings that are fitted if they are ``"auto"``; others are only fitted along with them.
    share
        The share of uniform draws for the fits after the design; 0 if the algorithm itself draws
        uniformly.
    restarts
        Starts of a fit: the kernel in use, the prior's mode, then random ones. Until the data has
        doubled, the next fits start from the kernel in use alone.
    expects_signal
        Whether the function may be taken to explain much of the rewards' variance; else fits use
        priors for rewards that are almost all noise.
    """

    design: int | None = None
    fit_on: str = "all"
    standardises: bool = True
    winsorises: bool = False
    leaves_out: bool = False
    warps: bool = False
    fits_mean: bool = False
    spreads: bool = False
    max_points: int = 400
    lam_is_variance: bool = False
    one_scale: bool = False
    fits_for: tuple[str, ...] = ("kernel", "noise", "norm")
    share: float = SHARE
    restarts: int = 3
    expects_signal: bool = True


@dataclass
class Learner:
    """Which settings are learnt, and which evaluations were uniform draws.

    If nothing is learnt, there is no learner.

    Attributes
    ----------
    kernel, noise, norm
        Whether each is learnt; at least one of them is.
    lam
        Whether λ follows what is learnt.
    many
        Whether there is a posterior for each λ of a grid.
    design
        Uniform draws before the first fit.
    how
        How the algorithm learns.
    fitted, searched
        Evaluations told at the last fit, and at the last fit from all starts; 0 before the first.
    random
        Positions in the history of the uniform draws told: D_random.
    waiting
        Uniform draws not told yet, by row.
    """

    kernel: bool
    noise: bool
    norm: bool
    lam: bool
    many: bool
    design: int
    how: Learning
    fitted: int = 0
    searched: int = 0
    random: list[int] = field(default_factory=list)
    waiting: dict[int, int] = field(default_factory=dict)

    @property
    def refits(self) -> bool:
        """Whether there is anything to fit again after the design."""
        return self.kernel or self.noise

    def due(self, t: int) -> bool:
        """Whether it is time for a fit."""
        if not self.fitted:
            return self._drawn(t) >= self.design
        sampled = self.fitted >= self.how.max_points  # then a fit sees only some evaluations
        growth = GROWTH["random" if sampled else self.how.fit_on]
        return self.refits and t >= growth * self.fitted

    def _drawn(self, t: int) -> int:
        """How many of ``t`` evaluations a fit may use."""
        return t if self.how.fit_on == "all" else len(self.random)

    def wanted(self, asked: int) -> int:
        """Uniform draws to ask for now, after ``asked`` evaluations told or pending."""
        drawn = len(self.random) + sum(self.waiting.values())
        if not self.fitted:
            return max(self.design - max(drawn, self._drawn(asked)), 1)
        if not self.refits or self.how.fit_on != "random":
            return 0
        share = self.how.share
        missing = self.design + share * (asked - self.design) - drawn
        # All at once: one by one they would be as many batches of one after a long batch. The draws
        # themselves count as asked for, which makes more of them due.
        return max(math.ceil(missing / (1.0 - share)), 0)

    def asked(self, rows: Ints) -> None:
        """These rows have been drawn uniformly."""
        for row in rows.tolist():
            self.waiting[row] = self.waiting.get(row, 0) + 1

    def told(self, first: int, rows: Ints) -> None:
        """Evaluations of these rows have arrived, at positions ``first`` … of the history."""
        if not self.waiting:
            return
        for position, row in enumerate(rows.tolist(), first):
            if row in self.waiting:
                self.random.append(position)
                self.waiting[row] -= 1
                if not self.waiting[row]:
                    del self.waiting[row]

    def cancelled(self, pending: Ints) -> None:
        """Some draws were cancelled: ``pending`` says how often each row is still pending (u)."""
        kept = {row: min(count, int(pending[row])) for row, count in self.waiting.items()}
        self.waiting = {row: count for row, count in kept.items() if count}

    def fit(
        self, observations: Observations, assumed: Assumptions, corners: Points, seed: int
    ) -> Assumptions:
        """What to assume from now on: fits of what is learnt, to the uniform draws or to all."""
        rows, y = observations.history_rows, observations.rewards
        if self.how.fit_on == "random":
            rows, y = rows[self.random], y[self.random]
        told = np.delete(np.arange(observations.t), list(observations.stand_ins))
        tied = has_atoms(observations.history_rows[told], observations.rewards[told])
        if self.noise:
            kept = informative(rows, y)
            rows, y = rows[kept], y[kept]
        if self.how.warps and self.kernel and self.noise:
            warp = best_warp(assumed.kernel, observations.points[rows], y, seed)
            assumed = replace(assumed, warp=warp)
        raw = y = assumed.warp.apply(y)
        if self.how.winsorises:
            y = winsorised(y)
        noise = assumed.noise * assumed.unit  # in the units of the rewards, warped if they are
        if self.kernel and self.how.standardises:
            shift, unit = _standard(y)
            assumed = replace(assumed, shift=shift, unit=unit)
        known = None if self.noise else noise / assumed.unit
        if self.noise and always_agree(observations):
            known = _NO_NOISE
        starts = self.how.restarts if observations.t >= 2 * self.searched else 1
        points = observations.points
        fit = self._fit_to(
            points[rows], assumed, assumed.seen(y), known, corners, seed, starts, tied
        )
        for _ in range(_ROUNDS if self.how.leaves_out and self.kernel and self.noise else 0):
            centred = (assumed.seen(values) - fit.mean for values in (y, raw))
            lone = lone_outliers(fit.kernel, fit.noise**2, points, rows, *centred)
            if not len(lone):
                break
            rows, raw = np.delete(rows, lone), np.delete(raw, lone)
            y = winsorised(raw)
            shift, unit = _standard(y)
            assumed = replace(assumed, shift=shift, unit=unit)
            fit = self._fit_to(
                points[rows], assumed, assumed.seen(y), known, corners, seed, starts, tied
            )
        before, self.fitted = self.fitted, observations.t
        if observations.t >= 2 * self.searched:
            self.searched = observations.t
        scale, norm = assumed.scale, max(fit.norm, _SMALLEST_NORM)
        if fit.mean:
            assumed = replace(assumed, shift=assumed.shift + assumed.unit * fit.mean)
        if self.kernel:
            scale = float(fit.kernel.diag(observations.points[rows[:1]])[0])  # the same everywhere
        elif before:  # the norm has the same meaning as before, and may have been doubled
            norm = max(norm, assumed.norm)
        found = replace(
            assumed,
            kernel=fit.kernel,
            noise=fit.noise if known is None else known,
            norm=norm if self.norm else assumed.norm,
            scale=scale,
        )
        if not self.lam:
            return found
        if self.how.lam_is_variance:
            return replace(found, lams=(scale,))
        return replace(found, lams=noise_lams(found.noise, scale, many=self.many))

    def _fit_to(
        self,
        X: Points,
        assumed: Assumptions,
        y: Floats,
        noise: float | None,
        corners: Points,
        seed: int,
        starts: int,
        tied: bool,
    ) -> Any:
        # Imported here, as scipy.optimize is slow to import.
        from noregret.learning.fit import NOISY_PRIORS, PRIORS, TIED_NOISE, fit_kernel

        priors = PRIORS if self.how.expects_signal else NOISY_PRIORS
        if tied:
            priors = replace(priors, noise=TIED_NOISE)
        only_noise = not self.kernel
        if only_noise or not self.how.one_scale:
            return fit_kernel(
                assumed.kernel,
                X,
                y,
                noise,
                priors,
                only_noise=only_noise,
                fit_mean=self.how.fits_mean and not only_noise,
                restarts=starts,
                max_points=self.how.max_points,
                seed=seed,
            )
        # One lengthscale for all dimensions, in sides of the bounding box (π-GP-UCB, Theorem 3).
        kernel = assumed.kernel
        assert isinstance(kernel, Matern)
        sides = _sides(corners)
        start = float(np.mean(np.asarray(kernel.lengthscale) / sides))
        fit = fit_kernel(Matern(start, kernel.nu, kernel.variance), X / sides, y, noise, seed=seed)
        scales = np.asarray(fit.kernel.lengthscale) * sides  # type: ignore[attr-defined]
        return replace(fit, kernel=Matern(scales, kernel.nu, fit.kernel.variance))  # type: ignore[attr-defined]


def _standard(y: Floats) -> tuple[float, float]:
    """Mean and deviation of rewards (n)."""
    # Round-off may move the mean of equal rewards, and make their deviation positive.
    if bool(np.all(y == y[0])):
        return float(y[0]), 1.0
    return float(y.mean()), float(y.std()) or 1.0  # squares of tiny rewards may underflow to 0


def is_auto(value: Any) -> bool:
    """Whether a setting is to be learnt."""
    return isinstance(value, str) and value == "auto"


def is_heavy(noise: Any) -> bool:
    """Whether the noise is said to be heavy-tailed; its scale is learnt then."""
    return isinstance(noise, str) and noise == "heavy"


def starting_kernel(corners: Points, nu: float = 2.5, categories: tuple[int, ...] = ()) -> Kernel:
    """Matérn with one lengthscale per dimension, a fifth of √d times the space's span.

    ``corners`` (k × d) span the space. The columns ``categories`` hold positions of choices: they
    are compared by a Hamming kernel with one weight each, which multiplies the Matérn kernel.
    """
    if corners.dtype == object:
        way = "give kernel=..."
        if isinstance(corners[0], Mapping):
            way += ", or make a table of the dicts: nr.Candidates(polars.DataFrame(dicts))"
        raise ValueError(
            f"kernel 'auto' needs candidates that are rows of numbers, not objects: {way}"
        )
    numbers = [i for i in range(corners.shape[1]) if i not in categories]
    scales = 0.2 * np.sqrt(len(numbers)) * _sides(corners)
    if not categories:
        return Matern(scales, nu=nu)
    alike = Hamming(np.full(len(categories), _WEIGHT))
    if not numbers:
        return 1.0 * alike
    return Columns(Matern(scales[numbers], nu=nu), numbers) * Columns(alike, categories)


def list_kernel(corners: Points, some: Points) -> Kernel:
    """The kernel from which the fit starts on a list, whose columns may span decades.

    ``some`` are points of the list (n × d), ``corners`` (2 × d) the lowest and highest values.
    """
    plain = starting_kernel(corners)
    found = {
        i: floor
        for i, values in enumerate(some.T)
        if corners[:, i].min() >= 0.0 and (floor := log_floor(values)) is not None
    }
    if not found:
        return plain
    columns, floors = list(found), list(found.values())
    return WithLogs(starting_kernel(WithLogs(plain, columns, floors).of(corners)), columns, floors)


def fingerprint_kernel(some: Points) -> Kernel | None:
    """The kernel from which the fit starts for fingerprints: packed bits, or many 0/1 columns.

    ``some`` are points of the space (n × d); ``None`` if they are no fingerprints.
    """
    if some.dtype == object or (some.dtype != np.uint8 and some.shape[1] < _FINGERPRINT):
        return None
    is_bits = some.dtype == np.uint8 or bool(np.all((some == 0.0) | (some == 1.0)))
    return Tanimoto() if is_bits else None


def design_size(fit_on: str, dimension: int | None, kernel: Kernel) -> int:
    """Uniform draws before the first fit: 10 if fits use all evaluations.

    If they use uniform draws alone: 10, or 4 per dimension; 40 for fingerprints.
    """
    if fit_on == "all":
        return _DESIGN
    if isinstance(kernel, Tanimoto):
        return _FINGERPRINT_DESIGN
    return max(_DESIGN, 4 * (dimension or 1))


def _sides(corners: Points) -> Floats:
    span = np.ptp(corners, axis=0)
    return np.where(span > 0, span, 1.0)
