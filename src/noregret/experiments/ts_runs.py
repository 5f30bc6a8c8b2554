"""Runs of ξ-greedy Thompson sampling as in the simulations of Basu & Ghosh (2017), Section 5."""

from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.algorithms.thompson import ThompsonSampling
from noregret.kernels import RBF, Kernel
from noregret.learning.fit import fit_kernel
from noregret.problems.functions import Problem, bimodal, unimodal
from noregret.spaces import Box

#: n₀, ξ and the draws of an iteration (Section 5.1)
_FIRST, _XI, _BATCH = 30, 0.15, 30
#: draws of the maximiser's distribution F_t that a run keeps, at up to this many iterations
DRAWS, _LOOKS = 100, 6
#: x_t has converged when it stays within 10 % of x*: log₁₀ of the squared relative error
CONVERGED = -2.0


class Watched(ThompsonSampling):
    """Thompson sampling that says whether its last batch was drawn uniformly."""

    uniform = False

    def _choose(self, n: int | None) -> Any:
        self.uniform = False
        return super()._choose(n)

    def _draw(self, n: int) -> Ints | Floats:
        self.uniform = True
        return super()._draw(n)


def algorithm(problem: Problem, kernel: str, seed: int) -> Watched:
    """With an RBF kernel of one lengthscale: ``"learnt"`` with the noise, or ``"given"``, η*."""
    assert isinstance(problem.domain, Box)
    box = problem.domain
    shared: dict[str, Any] = {"xi": _XI, "n_init": _FIRST, "batch_size": _BATCH, "seed": seed}
    if kernel == "given":
        return Watched(box, best_kernel(problem), noise=problem.noise.xi, **shared)
    opt = Watched(box, "auto", noise="auto", **shared)
    # What is learnt is of the family that the search starts from: "auto" starts from a Matérn.
    opt.kernel = RBF(0.2 * float(np.linalg.norm(box.upper - box.lower)))
    return opt


def best_kernel(problem: Problem) -> Kernel:
    """η*: the RBF kernel under which the noiseless function on a grid is most likely."""
    assert isinstance(problem.domain, Box)
    X = problem.domain.grid(50 if problem.domain.dimension == 1 else 12).points
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
        assert isinstance(opt.kernel, RBF)
        length = float(np.max(opt.kernel.lengthscale))
        stages.append((i, opt.uniform, relative_error(batch.points, best), length))
        opt.tell(batch, rewards(problem.function(batch.points), _BATCH * (i - 1)))
        if i in watched:
            found = dict(zip("ab", opt.maximizer_samples(DRAWS).T, strict=False))
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
    return [int(i) for i in np.unique(np.geomspace(1, iterations, _LOOKS).round())]


def explained(function: str, sigma: float) -> float:
    """The share of the variance of a reward at a uniform point that is f's, not the noise's."""
    problem = problem_of(function, sigma)
    assert isinstance(problem.domain, Box)
    spread = float(problem.function(problem.domain.grid(201).points).var())
    return spread / (spread + sigma**2)


def settled(iterations: Any, errors: Any) -> float:
    """The first iteration from which on all errors are below −2; infinite if the last is not."""
    above = np.flatnonzero(np.asarray(errors) > CONVERGED)
    if not len(above):
        return float(iterations[0])
    return float(iterations[above[-1] + 1]) if above[-1] + 1 < len(iterations) else np.inf
