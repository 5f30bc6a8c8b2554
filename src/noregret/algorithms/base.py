"""Ask and tell: what every algorithm shares."""

import inspect
import os
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from noregret import _checks
from noregret import state as serialization
from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel, as_kernel
from noregret.kernels.adapters import check_kernel
from noregret.linalg.threads import one_blas_thread
from noregret.observations import Observations
from noregret.results import Batch, BatchInfo, History, Recommendation
from noregret.spaces import Box, Domain, as_candidates, as_domain

#: every algorithm by its class name in lower case
algorithms: dict[str, type["Optimizer"]] = {}


class Optimizer(ABC):
    """An optimiser of a noisy function over a list of candidates or a box, by ask and tell.

    Parameters
    ----------
    domain
        :class:`~noregret.Candidates` (or what makes them), or a :class:`~noregret.Box`.
    kernel
        A kernel, a scikit-learn kernel object or any callable ``k(xs, ys) -> matrix``.
        ``"auto"``: Matérn 5/2 with one lengthscale per dimension, for standardised rewards, fitted
        to uniform draws: the first 10 (or 4 per dimension) and a fifth of what follows.
    noise
        ξ, the standard deviation of the noise (its sub-Gaussian constant); ``"auto"``: fitted.
    norm
        F, a bound on the function's norm in the kernel's RKHS; ``"auto"``: guessed, and doubled
        whenever rewards contradict the bounds (see ``opt.events``).
    delta
        The bounds hold with probability at least 1 − δ.
    lam
        λ, the regularisation; by default ξ², which makes the posterior that of a GP observed with
        that noise (at least 1e-8 of the largest k(x, x)).
    seed
        Makes every answer repeatable; drawn at random, and to be read at ``opt.seed``, by default.
    search
        How a box is searched (GP algorithms): ``"gradients"``, many starts by L-BFGS-B, or
        ``"direct"``, DIRECT and a climb, for at most three dimensions.
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
        self.domain: Domain = as_domain(domain)
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
        #: the list's points; none on a box
        self._points: Points
        if isinstance(self.domain, Box):
            probe = self.domain.spread(256, np.random.default_rng(0))
            self.kappa_squared = float(check_kernel(self.kernel, probe).max())
            self._points, self._prior = probe[:0], np.empty(0)
        else:
            self._points = self.domain.points
            self._prior = check_kernel(self.kernel, self._points)
            self.kappa_squared = float(self._prior.max())
        smallest = 1e-8 * self.kappa_squared
        self.lam = float(lam) if lam is not None else max(self.noise**2, smallest)
        self._rng = np.random.default_rng(self.seed)
        self._observations = Observations(self._points)
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
            chosen, info = self._choose(n)
            rows = self._rows(chosen)
            self._observations.ask(rows)
        seen = self._observations
        return Batch(seen.ids[rows], seen.points[rows], info, seen.generation, rows)

    def tell(self, points: Batch | Any, rewards: Any) -> None:
        """Report evaluations: a batch (or part of one, ``batch[:3]``), or ids, with n rewards.

        In any order, in parts, late; also of choices nobody asked for, such as old data. On a box,
        points (n × d) stand in place of ids.
        """
        if self._is_old(points):
            rows = self._old_rows(points)
            values = _checks.rewards(rewards, len(rows))
        else:
            where = self._where(points)
            values = _checks.rewards(rewards, len(where))
            rows = self._rows(where)
        self._observations.tell(rows, values)

    def cancel(self, points: Batch | Any) -> None:
        """These pending points will never be told: they stop counting in the variance."""
        if self._is_old(points):
            rows = self._old_rows(points)
        elif isinstance(self.domain, Box):
            rows = self._observations.known_point_rows(self._where(points))
        else:
            rows = self._observations.known_rows(np.asarray(self._where(points), np.int64))
        self._observations.cancel(rows)

    def replace_candidates(self, candidates: Any) -> None:
        """Choose from another list from now on; the history stays, ids mean the new list.

        Batches handed out before can still be told.
        """
        if isinstance(self.domain, Box):
            raise TypeError("only a list of candidates can be replaced; this domain is a box")
        domain = as_candidates(candidates)
        if domain.points.dtype != self.domain.points.dtype or domain.dimension != (
            self.domain.dimension
        ):
            raise ValueError(
                f"candidates must be of the same kind as {self.domain!r}, got {domain!r}"
            )
        prior = check_kernel(self.kernel, domain.points)
        with one_blas_thread():
            self._replace(domain.points, prior)
        self._observations.replace_list(domain.points)
        self.domain, self._points, self._prior = domain, domain.points, prior
        self.kappa_squared = max(self.kappa_squared, float(prior.max()))

    # -- what is known -----------------------------------------------------------------------

    def predict(self, points: Any = None) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation of some ids (all by default), or points of a box.

        Pending points count in the deviation, not in the mean.
        """
        if points is not None:
            where = self._where(points)
        elif isinstance(self.domain, Box):
            raise ValueError("points must be given: a box has no list to predict for")
        else:
            where = np.arange(len(self.domain))
        with one_blas_thread():
            mean, variance = self._predict(where)
        return mean, np.sqrt(variance)

    def recommend(self) -> Recommendation:
        """The choice with the largest lower confidence bound, with its interval and gap."""
        with one_blas_thread():
            return self._recommend()

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
        seen = self._observations
        rows = seen.history_rows
        return History(seen.ids[rows], seen.points[rows], seen.rewards.copy())

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
    def _choose(self, n: int | None) -> tuple[Ints | Floats, BatchInfo | None]:
        """The next ids (or points of a box) and why."""

    @abstractmethod
    def _predict(self, where: Ints | Floats) -> tuple[Floats, Floats]:
        """Mean and variance at ids (or points of a box), pending points counted in the latter."""

    @abstractmethod
    def _recommend(self) -> Recommendation:
        """The choice with the largest lower confidence bound, from what has been told only."""

    @abstractmethod
    def _replace(self, points: Points, prior: Floats) -> None:
        """Turn to another list; the observations still mean the old one."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        """Arrays and JSON values that :meth:`_restore` takes."""

    @abstractmethod
    def _restore(self, arrays: dict[str, np.ndarray[Any, Any]], values: dict[str, Any]) -> None:
        """Take over what :meth:`_state` gave."""

    def _where(self, points: Batch | Any) -> Ints | Floats:
        """Ids, or points of a box, checked."""
        if isinstance(self.domain, Box):
            return self.domain.check(points.points if isinstance(points, Batch) else points)
        return _checks.ids(points.ids if isinstance(points, Batch) else points, len(self.domain))

    def _rows(self, where: Ints | Floats) -> Ints:
        """Rows of the observations for checked ids or points, new ones where needed."""
        if isinstance(self.domain, Box):
            return self._observations.point_rows(np.asarray(where, dtype=np.float64))
        return self._observations.rows(np.asarray(where, dtype=np.int64))

    def _is_old(self, points: Any) -> bool:
        """Whether this is a batch of a list that has been replaced since."""
        return isinstance(points, Batch) and points._generation != self._observations.generation

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
