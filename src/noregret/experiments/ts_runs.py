"""Runs of ξ-greedy Thompson sampling as in the simulations of Basu & Ghosh (2017), Section 5."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats
from noregret.algorithms.drawn_maximizers import maximizer_samples, thompson_parts
from noregret.kernels import RBF, Kernel
from noregret.learning.fit import fit_kernel
from noregret.optimizer import Optimizer
from noregret.parts import Parts, Width
from noregret.problems.peaks import bimodal, unimodal
from noregret.problems.problem import Problem
from noregret.spaces import as_box

#: the draws of an iteration (Section 5.1)
_BATCH = 30
#: draws of the maximiser's distribution F_t that a run keeps, at up to this many iterations
DRAWS, _KEPT = 100, 6
#: x_t has converged when it stays within 10 % of x*: log₁₀ of the squared relative error
CONVERGED = -2.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RBFThompson(Optimizer):
    """ξ-greedy Thompson sampling; a kernel that is ``"auto"`` is an RBF with one lengthscale.

    Parameters
    ----------
    domain, kernel, noise, seed, xi, n_init, batch_size, ...
        As for :class:`~noregret.ThompsonSampling`; the defaults are those of Section 5.1.
    """

    width: Width = "practical"
    xi: float = 0.15
    n_init: int = 30
    batch_size: int = _BATCH

    def parts(self) -> Parts:
        """The parts of Thompson sampling; what is learnt starts from an RBF kernel."""
        span = np.ptp(self.domain.corners, axis=0)
        start = RBF(0.2 * float(np.linalg.norm(span)))
        return replace(thompson_parts(self, self.xi, self.n_init, None), kernel=start)


def algorithm(problem: Problem, kernel: str, seed: int) -> RBFThompson:
    """Thompson sampling with an RBF kernel: ``"learnt"``, with the noise, or ``"given"``, η*."""
    if kernel == "given":
        return RBFThompson(problem.domain, best_kernel(problem), noise=problem.noise.xi, seed=seed)
    return RBFThompson(problem.domain, "auto", noise="auto", seed=seed)


def best_kernel(problem: Problem) -> Kernel:
    """η*: the RBF kernel under which the noiseless function on a grid is most likely."""
    box = as_box(problem.domain)
    X = box.grid(50 if box.dimension == 1 else 12).points
    return fit_kernel(RBF(1.0), X, problem.function(X), noise=0.01, priors=None).kernel


def problem_of(function: str, level: float) -> Problem:
    """f¹ or f² with noise of deviation ``level``, or f_β with that β."""
    if function == "f_beta":
        return unimodal(level)
    return bimodal({"f1": 1, "f2": 2}[function], level)


def decay(
    seed: int, function: str, level: float, kernel: str, iterations: int, keep: bool
) -> pl.DataFrame:
    """A run: a row per iteration and, with ``keep``, rows of draws from F_t.

    Rows of iterations have ``error``, log₁₀(‖x_t − x*‖²/‖x*‖²) averaged over the points x_t of the
    iteration, ``uniform``, whether these were uniform draws, and the kernel's ``lengthscale``. Rows
    of draws have coordinates ``a`` (and ``b``); F_t is that after the iteration.
    """
    problem = problem_of(function, level)
    rng = np.random.default_rng([2017, 2, seed])
    rewards = problem.noise.paired(_BATCH * iterations, rng)
    opt = algorithm(problem, kernel, seed)
    best = problem.maximizers[0]
    watched = watched_iterations(iterations) if keep else []
    stages, draws = [], []
    for i in range(1, iterations + 1):
        batch = opt.ask()
        kernel_now = opt.assumed.kernel
        assert isinstance(kernel_now, RBF)
        length = float(np.max(kernel_now.lengthscale))
        stages.append((i, batch.uniform, relative_error(batch.points, best), length))
        opt.tell(batch, rewards(problem.function(batch.points), _BATCH * (i - 1)))
        if i in watched:
            found = dict(zip("ab", maximizer_samples(opt, DRAWS).T, strict=False))
            draws.append(pl.DataFrame({"iteration": np.full(DRAWS, i), **found}))
    frame = pl.DataFrame(
        stages, schema=["iteration", "uniform", "error", "lengthscale"], orient="row"
    )
    return pl.concat([frame, *draws], how="diagonal")


def relative_error(points: Floats, best: Floats) -> float:
    """Mean of 2 log₁₀(‖x − x*‖/‖x*‖) over points (n × d), as Figures 2 and 4 plot it."""
    relative = np.linalg.norm(points - best, axis=1) / np.linalg.norm(best)
    return float(2.0 * np.log10(np.maximum(relative, 1e-8)).mean())


def watched_iterations(iterations: int) -> list[int]:
    """The iterations after which draws from F_t are kept, about evenly spaced in log t."""
    return [int(i) for i in np.unique(np.geomspace(1, iterations, _KEPT).round())]


def explained(function: str, sigma: float) -> float:
    """The share of a reward's variance at a uniform point that comes from f, not from noise."""
    problem = problem_of(function, sigma)
    spread = float(problem.function(as_box(problem.domain).grid(201).points).var())
    return spread / (spread + sigma**2)


def settled(iterations: Any, errors: Any) -> float:
    """The first iteration after which all errors stay below −2; infinite if there is none."""
    above = np.flatnonzero(np.asarray(errors) > CONVERGED)
    if not len(above):
        return float(iterations[0])
    return float(iterations[above[-1] + 1]) if above[-1] + 1 < len(iterations) else np.inf
