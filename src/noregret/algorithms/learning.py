"""What algorithms that learn kernel, noise or norm share: uniform draws, fits, guess and double."""

from collections.abc import Callable
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.algorithms.base import Optimizer
from noregret.kernels import Kernel
from noregret.learning.design import Auto, design_size, is_auto, starting_kernel
from noregret.learning.fit import Fit, fit_kernel
from noregret.results import Batch
from noregret.spaces import Box, Domain, as_domain

#: a norm that is doubled no further
_LARGEST_NORM = 1e12


class LearningOptimizer(Optimizer):
    """An optimiser whose ``kernel``, ``noise`` and ``norm`` may be ``"auto"``.

    Subclasses draw uniformly as :meth:`_uniform_draws` says, call :meth:`_fit` when
    ``_auto.due``, and let their model see (reward − ``_shift``) / ``_unit``.
    """

    #: whether the batch rule decides how many points ask() gives
    adaptive = False
    #: whether rewards are standardised for a kernel that is learnt
    standardises = True

    def __init__(
        self, domain: Any, kernel: Any, *, noise: Any = 0.1, norm: Any = 1.0, **shared: Any
    ) -> None:
        domain = as_domain(domain)
        kernel_too, noise_too, norm_too = is_auto(kernel), is_auto(noise), is_auto(norm)
        super().__init__(
            domain,
            self._starting_kernel(domain) if kernel_too else kernel,
            noise=0.1 if noise_too else noise,
            norm=1.0 if norm_too else norm,
            **shared,
        )
        self._auto: Auto | None = None
        if kernel_too or noise_too or norm_too:
            follow, size = shared.get("lam") is None, design_size(domain)
            self._auto = Auto(kernel_too, noise_too, norm_too, follow, size)
        # The model sees (reward − shift) / scale.
        self._shift, self._unit = 0.0, 1.0
        self._uniform = False  # whether the batch under way is a uniform draw

    def _starting_kernel(self, domain: Domain) -> Kernel:
        """Where the fit of a kernel starts."""
        return starting_kernel(domain)

    # -- uniform draws -----------------------------------------------------------------------

    def ask(self, n: int | None = None) -> Batch:
        """What to evaluate next, see :meth:`~noregret.Optimizer.ask`."""
        self._uniform = False
        batch = super().ask(n)
        if self._auto and self._uniform and batch._rows is not None:
            self._auto.asked(batch._rows)
        return batch

    def tell(self, points: Any, rewards: Any) -> None:
        """Report evaluations, see :meth:`~noregret.Optimizer.tell`."""
        before = self.t
        super().tell(points, rewards)
        if self._auto:
            self._auto.told(before, self._observations.history_rows[before:])

    def cancel(self, points: Any) -> None:
        """These pending points will never be told, see :meth:`~noregret.Optimizer.cancel`."""
        super().cancel(points)
        if self._auto:
            self._auto.cancelled(self._observations.pending)

    def _uniform_draws(self, limit: int) -> int:
        """How many points to draw uniformly now for the fits, instead of choosing."""
        wanted = self._auto.wanted(self.t + self.pending) if self._auto else 0
        # ask(n) of a sequential rule gives n points whatever they are.
        return wanted and (min(wanted, limit) if self.adaptive else limit)

    def _draw(self, n: int) -> Ints | Floats:
        """Ids or points uniformly at random."""
        self._uniform = True
        if isinstance(self.domain, Box):
            return self.domain.sample(n, self._rng)
        return self._rng.integers(len(self._points), size=n)

    # -- fits --------------------------------------------------------------------------------

    @property
    def standardisation(self) -> tuple[float, float]:
        """Shift and scale: with ``kernel="auto"`` the model sees (reward − shift) / scale.

        ``noise``, ``norm`` and ``lam`` are then those of the standardised rewards. Algorithms that
        truncate rewards see them as they are: (0, 1).
        """
        return self._shift, self._unit

    def _seen(self, rewards: Floats, counts: Ints | float = 1.0) -> Floats:
        """Sums of so many rewards (n), as the model sees them."""
        if not self._shift and self._unit == 1.0:
            return rewards
        return np.asarray((rewards - self._shift * counts) / self._unit)

    def _sums(self) -> Floats:
        """Sums of the rewards told by arm, as the model sees them (u)."""
        return self._seen(self._observations.sums, self._observations.told)

    def _sample(self, rewards: Floats) -> Floats:
        """The rewards of the uniform draws (n), as the fit is to see them."""
        return rewards

    def _fit_to(self, X: Points, y: Floats, noise: float | None, only_noise: bool) -> Fit:
        return fit_kernel(self.kernel, X, y, noise, only_noise=only_noise, seed=self.seed)

    def _fit(self, auto: Auto) -> None:
        """Fit what is learnt, to the uniform draws or all; the model is to be made anew."""
        observations = self._observations
        used = auto.fitting(observations.t)
        X = observations.points[observations.history_rows[used]]
        y = self._sample(observations.rewards[used])
        noise = self.noise * self._unit  # in the rewards' units
        if auto.kernel and self.standardises:
            # Of equal rewards the mean may be off, and the deviation above zero, by round-off.
            equal = bool(np.all(y == y[0]))
            self._shift = float(y[0] if equal else y.mean())
            self._unit = 1.0 if equal else float(y.std()) or 1.0  # its squares may be too small
        known = None if auto.noise else noise / self._unit
        fit = self._fit_to(X, self._seen(y), known, not auto.kernel)
        self.kernel, self.noise = fit.kernel, fit.noise if known is None else known
        if auto.kernel:
            self._prior = self.kernel.diag(self._points)
            self.kappa_squared = float(self.kernel.diag(X[:1])[0])  # the same everywhere
        if auto.lam:
            self.lam = self._following_lam()
        if auto.norm:
            self.norm = max(fit.norm, 1e-3)
        auto.fitted = observations.t
        self._log("fit", draws=len(y), kernel=repr(self.kernel), noise=self.noise, norm=self.norm)

    def _following_lam(self) -> float:
        """λ after a fit, where none was given."""
        return max(self.noise**2, 1e-8 * self.kappa_squared)

    def _double_norm_while(self, contradicted: Callable[[], bool]) -> None:
        """Guess and double (BKB Section 4): more norm while rewards contradict the bounds."""
        while contradicted() and self.norm < _LARGEST_NORM:
            self.norm *= 2.0
            self._log("norm doubled", norm=self.norm)

    # -- files -------------------------------------------------------------------------------

    def _learnt_state(self) -> dict[str, Any]:
        """JSON that :meth:`_restore_learnt` takes."""
        if not self._auto:
            return {}
        settings = [self.noise, self.norm, self.lam, self._shift, self._unit]
        return {"auto": self._auto.state(), "settings": settings}

    def _restore_learnt(self, values: dict[str, Any]) -> None:
        if "auto" in values:
            self._auto = Auto.restore(values["auto"])
            self.noise, self.norm, self.lam, self._shift, self._unit = values["settings"]
