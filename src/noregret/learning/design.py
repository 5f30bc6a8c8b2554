"""Settings nobody has to guess: ``kernel="auto"``, ``noise="auto"``, ``norm="auto"``.

Kernel and noise are fitted to uniform draws only, never to points that the algorithm chose, whose
rewards are no fair sample (D_random of ξ-greedy TS, Section 2.3): a design of uniform draws comes
first, and a fifth of what follows is uniform too. They are fitted again when the data has doubled.
An algorithm that certifies nothing may fit to all evaluations instead, without later uniform draws.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel, Matern
from noregret.spaces import Box, Domain

#: the share of uniform draws after the design, where fits use those alone
SHARE = 0.2
#: fit again when the data has grown by this factor, by what is fitted
GROWTH = {"random": 2.0, "all": 1.25}


@dataclass
class Auto:
    """Which settings are learnt, and which evaluations were uniform draws.

    Attributes
    ----------
    kernel, noise, norm
        Whether each is learnt.
    lam
        Whether λ follows the noise.
    n_init
        Uniform draws before the first fit.
    random
        Positions in the history of the uniform draws told: D_random.
    fitted
        Evaluations told at the last fit, 0 before the first.
    fit_on
        ``"random"``: fits use D_random. ``"all"``: every evaluation, with no later uniform draws.
    """

    kernel: bool
    noise: bool
    norm: bool
    lam: bool
    n_init: int
    fitted: int = 0
    fit_on: str = "random"
    random: list[int] = field(default_factory=list)
    waiting: dict[int, int] = field(default_factory=dict)  # uniform draws not told yet, by row

    @property
    def refits(self) -> bool:
        """Whether there is anything to fit again after the design."""
        return self.kernel or self.noise

    def fitting(self, t: int) -> list[int]:
        """Positions in a history of t evaluations that a fit uses."""
        return self.random if self.fit_on == "random" else list(range(t))

    def due(self, t: int) -> bool:
        """Whether it is time for a fit."""
        if not self.fitted:
            return len(self.random) >= self.n_init
        return self.refits and t >= GROWTH[self.fit_on] * self.fitted

    def wanted(self, asked: int) -> int:
        """Uniform draws to ask for now, of ``asked`` evaluations told or pending so far."""
        drawn = len(self.random) + sum(self.waiting.values())
        if not self.fitted:
            return max(self.n_init - drawn, 1)
        if not self.refits or self.fit_on != "random":
            return 0
        missing = self.n_init + SHARE * (asked - self.n_init) - drawn
        # All at once: after a long batch, one by one would be as many batches of one. Draws are
        # asked for too, so that more of them are due.
        return max(math.ceil(missing / (1.0 - SHARE)), 0)

    def asked(self, rows: Ints) -> None:
        """These rows have been drawn uniformly."""
        for row in rows.tolist():
            self.waiting[row] = self.waiting.get(row, 0) + 1

    def told(self, first: int, rows: Ints) -> None:
        """Evaluations of these rows have arrived, at positions ``first`` … of the history."""
        for position, row in enumerate(rows.tolist(), first):
            if row in self.waiting:
                self.random.append(position)
                self.waiting[row] -= 1
                if not self.waiting[row]:
                    del self.waiting[row]

    def cancelled(self, pending: Ints) -> None:
        """Rows are pending only this often (u)."""
        kept = {row: min(count, int(pending[row])) for row, count in self.waiting.items()}
        self.waiting = {row: count for row, count in kept.items() if count}

    def state(self) -> dict[str, Any]:
        """JSON that :meth:`restore` takes."""
        values = {name: getattr(self, name) for name in _SAVED}
        return {**values, "waiting": sorted(self.waiting.items())}

    @classmethod
    def restore(cls, values: dict[str, Any]) -> "Auto":
        """What :meth:`state` gave."""
        waiting = {int(row): int(count) for row, count in values["waiting"]}
        return cls(**{name: values[name] for name in _SAVED}, waiting=waiting)


_SAVED = ("kernel", "noise", "norm", "lam", "n_init", "fitted", "fit_on", "random")


def is_auto(value: Any) -> bool:
    """Whether a setting is to be learnt."""
    return isinstance(value, str) and value == "auto"


def starting_kernel(domain: Domain) -> Kernel:
    """Matérn 5/2 with one lengthscale per dimension, a fifth of √d times the domain's span."""
    points: Points = domain.bounds.T if isinstance(domain, Box) else domain.points
    if points.dtype == object:
        raise ValueError("kernel 'auto' needs candidates that are rows of numbers, not objects")
    span = np.ptp(points, axis=0)
    scales = 0.2 * np.sqrt(points.shape[1]) * np.where(span > 0, span, 1.0)
    return Matern(scales, nu=2.5)


def design_size(domain: Domain) -> int:
    """Uniform draws before the first fit: 10, or 4 per dimension."""
    return max(10, 4 * (domain.dimension or 1))


def surprises(off: Floats, counts: Floats, t: int, noise: float, delta: float) -> Floats:
    """How much of these differences (n) noise does not explain.

    ``off`` are means of new rewards, ``counts`` (n) many each, less what was expected. What noise
    explains of them, with probability 1 − δ over all t, is taken off.
    """
    chance = math.log(math.pi**2 * max(t, 1) ** 2 * max(len(off), 1) / (3.0 * delta))
    return np.asarray(np.abs(off) - noise * np.sqrt(2.0 * chance / counts))
