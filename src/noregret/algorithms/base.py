"""Ask and tell: what every algorithm shares."""

import inspect
import os
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from noregret import _checks, serialization
from noregret._threads import one_blas_thread
from noregret._types import Floats, Ints, Points
from noregret.domains import Candidates, as_candidates
from noregret.kernels import Kernel, as_kernel
from noregret.kernels.adapters import check_kernel
from noregret.observations import Observations
from noregret.results import Batch, BatchInfo, History, Recommendation

#: every algorithm by its class name in lower case
algorithms: dict[str, type["Optimizer"]] = {}


class Optimizer(ABC):
    """An optimiser of a noisy function over a list of candidates, by ask and tell.

    Parameters
    ----------
    domain
        :class:`~noregret.Candidates`, or what makes them.
    kernel
        A kernel, a scikit-learn kernel object or any callable ``k(xs, ys) -> matrix``.
    noise
        ξ, the standard deviation of the noise (its sub-Gaussian constant).
    norm
        F, a bound on the function's norm in the kernel's RKHS.
    delta
        The bounds hold with probability at least 1 − δ.
    lam
        λ, the regularisation; by default ξ², which makes the posterior that of a GP observed with
        that noise (at least 1e-8 of the largest k(x, x)).
    seed
        Makes every answer repeatable; drawn at random, and to be read at ``opt.seed``, by default.
    """

    #: arguments given to the constructor, as a saved run needs them again
    _arguments: dict[str, Any]

    def __new__(cls, *args: Any, **arguments: Any) -> Self:
        """Remember the options; ``__init__`` checks them."""
        self = super().__new__(cls)
        self._arguments = {k: v for k, v in arguments.items() if k not in ("domain", "kernel")}
        return self

    def __init__(
        self,
        domain: Any,
        kernel: Any,
        *,
        noise: float = 0.1,
        norm: float = 1.0,
        delta: float = 0.1,
        lam: float | None = None,
        seed: int | None = None,
    ) -> None:
        self.domain: Candidates = as_candidates(domain)
        self.kernel: Kernel = as_kernel(kernel)
        self.noise = _checks.not_negative("noise", noise)
        self.norm = _checks.positive("norm", norm)
        self.delta = _checks.probability("delta", delta)
        if lam is not None:
            _checks.positive("lam", lam)
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
        elif isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}")
        self.seed = int(seed)
        self._prior = check_kernel(self.kernel, self.domain.points)
        self.kappa_squared = float(self._prior.max())
        smallest = 1e-8 * self.kappa_squared
        self.lam = float(lam) if lam is not None else max(self.noise**2, smallest)
        self._rng = np.random.default_rng(self.seed)
        self._observations = Observations(self.domain.points)
        self._events: list[dict[str, Any]] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not inspect.isabstract(cls) and not cls.__name__.startswith("_"):
            algorithms[cls.__name__.lower()] = cls

    # -- ask and tell ------------------------------------------------------------------------

    def ask(self, n: int | None = None) -> Batch:
        """What to evaluate next.

        One point for a sequential rule, a whole adaptive batch for a batched one. ``ask(n)`` gives
        exactly ``n`` for the former and at most ``n`` for the latter. Points handed out and not
        told yet count in the variance, never in the mean.
        """
        if n is not None:
            n = _checks.count("n", n)
        with one_blas_thread():
            ids, info = self._choose(n)
            rows = self._observations.rows(ids)
            self._observations.ask(rows)
        generation = self._observations.generation
        return Batch(ids, self.domain.points[ids], info, generation, rows)

    def tell(self, points: Batch | Any, rewards: Any) -> None:
        """Report evaluations: a batch (or part of one, ``batch[:3]``), or ids, with n rewards.

        In any order, in parts, late; also of points nobody asked for, such as old data.
        """
        if isinstance(points, Batch) and points._generation != self._observations.generation:
            rows = self._old_rows(points)
            values = _checks.rewards(rewards, len(rows))
        else:
            ids = self._ids(points)
            values = _checks.rewards(rewards, len(ids))
            rows = self._observations.rows(ids)
        self._observations.tell(rows, values)

    def cancel(self, points: Batch | Any) -> None:
        """These pending points will never be told: they stop counting in the variance."""
        if isinstance(points, Batch) and points._generation != self._observations.generation:
            rows = self._old_rows(points)
        else:
            rows = self._observations.known_rows(self._ids(points))
        self._observations.cancel(rows)

    def replace_candidates(self, candidates: Any) -> None:
        """Choose from another list from now on; the history stays, ids mean the new list.

        Batches handed out before can still be told.
        """
        domain = as_candidates(candidates)
        prior = check_kernel(self.kernel, domain.points)
        if domain.points.dtype != self.domain.points.dtype or domain.dimension != (
            self.domain.dimension
        ):
            raise ValueError(
                f"candidates must be of the same kind as {self.domain!r}, got {domain!r}"
            )
        with one_blas_thread():
            self._replace(domain.points, prior)
        self._observations.replace_list(domain.points)
        self.domain = domain
        self._prior = prior
        self.kappa_squared = max(self.kappa_squared, float(prior.max()))

    # -- what is known -----------------------------------------------------------------------

    def predict(self, ids: Any = None) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation of some candidates (all by default).

        Pending points count in the deviation, not in the mean.
        """
        chosen = np.arange(len(self.domain)) if ids is None else self._ids(ids)
        with one_blas_thread():
            mean, variance = self._predict(chosen)
        return mean, np.sqrt(variance)

    def recommend(self) -> Recommendation:
        """The candidate with the largest lower confidence bound, with its interval and gap."""
        with one_blas_thread():
            mean, deviation = self._told_posterior()
            radius = self.beta * deviation
        lower, upper = mean - radius, mean + radius
        best = int(np.argmax(lower))
        return Recommendation(
            id=best,
            point=self.domain.points[best],
            mean=float(mean[best]),
            lower=float(lower[best]),
            upper=float(upper[best]),
            gap=max(float(upper.max() - lower[best]), 0.0),
        )

    @property
    @abstractmethod
    def beta(self) -> float:
        """The width in use: bounds are mean ± beta · std."""

    @property
    def t(self) -> int:
        """Evaluations told."""
        return self._observations.t

    @property
    def pending(self) -> int:
        """Evaluations asked for and not yet told."""
        return int(self._observations.pending.sum())

    @property
    def history(self) -> History:
        """Everything told, in order."""
        observations = self._observations
        return History(
            observations.ids[observations.history_rows], observations.rewards.copy()
        )

    @property
    def events(self) -> list[dict[str, Any]]:
        """What the algorithm did on its own, such as compacting its dictionary; each with its t."""
        return [dict(event) for event in self._events]

    # -- files -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file (arrays and JSON, no code); see :func:`noregret.load`."""
        serialization.save(self, path)

    def _options(self) -> dict[str, Any]:
        """Constructor arguments that make this optimiser again."""
        return {**self._arguments, "lam": self.lam, "seed": self.seed}

    def _log(self, what: str, **details: Any) -> None:
        self._events.append({"t": self.t, "event": what, **details})

    # -- what an algorithm supplies ----------------------------------------------------------

    @abstractmethod
    def _choose(self, n: int | None) -> tuple[Ints, BatchInfo | None]:
        """The next ids and why."""

    @abstractmethod
    def _predict(self, ids: Ints) -> tuple[Floats, Floats]:
        """Mean and variance of some candidates, pending points counted in the latter."""

    @abstractmethod
    def _told_posterior(self) -> tuple[Floats, Floats]:
        """Mean and deviation of all candidates from what has been told only."""

    @abstractmethod
    def _replace(self, points: Points, prior: Floats) -> None:
        """Turn to another list; the observations still mean the old one."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        """Arrays and JSON values that :meth:`_restore` takes."""

    @abstractmethod
    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        """Take over what :meth:`_state` gave."""

    def _ids(self, points: Batch | Any) -> Ints:
        return _checks.ids(points.ids if isinstance(points, Batch) else points, len(self.domain))

    def _old_rows(self, batch: Batch) -> Ints:
        if batch._rows is None or (len(batch) and batch._rows.max() >= len(self._observations)):
            raise ValueError("this batch belongs to another optimiser or another list")
        return batch._rows


def make(name: str, domain: Any, kernel: Any, **options: Any) -> Optimizer:
    """An algorithm by its name, the class name in lower case: ``make("bbkb", domain, kernel)``."""
    if not isinstance(name, str) or name.lower() not in algorithms:
        known = ", ".join(sorted(algorithms))
        raise ValueError(f"name must be one of {known}; got {name!r}")
    return algorithms[name.lower()](domain, kernel, **options)
