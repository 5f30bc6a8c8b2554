"""The one-line way: ``noregret.maximize(f, domain, budget)``."""

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.algorithms import algorithms, make
from noregret.optimizer import Optimizer
from noregret.results import History, Recommendation
from noregret.spaces import Domain, as_domain

#: on a box, more evaluations than this are left to the sparse model
_EXACT_BUDGET = 1000
#: uniform draws that test learnt settings before a run stops by its gap
_DRAWS = 30
#: deviations above the mean, where nothing has to be certified
_WIDTH = 2.0


@dataclass(frozen=True, eq=False)
class Result:
    """What :func:`maximize` returns.

    Attributes
    ----------
    best
        The recommendation: ``.point``, ``.id``, ``.mean``, ``.lower``, ``.upper``, ``.gap``.
    history
        Every evaluation: ``.points``, ``.ids``, ``.rewards``.
    regret
        Where ``optimum`` was given: how far each evaluation's value was from it (t), by its reward.
    algorithm
        The optimiser, to go on with.
    stopped
        ``"budget"``, ``"tol"``, ``"tol (learnt settings)"`` or ``"interrupted"``.
    certified
        Whether ``best.gap`` is proved: kernel, noise and norm were given and no reward refutes
        them, the width has a theorem, and the domain is a list.
    """

    best: Recommendation
    history: History
    regret: Floats | None
    algorithm: Optimizer
    stopped: str
    certified: bool


def maximize(
    f: Callable[[Any], Any],
    domain: Any,
    budget: int,
    *,
    algorithm: str | Optimizer = "auto",
    seed: int | None = None,
    progress: bool = True,
    tol: float | None = None,
    optimum: float | None = None,
    vectorized: bool = False,
    batch_size: int | None = None,
    **options: Any,
) -> Result:
    """Maximise a noisy function over a list or a box.

    Ctrl-C ends the run early: what is known so far is returned.

    Parameters
    ----------
    f
        Takes one point (a vector of d floats; a dict on a :class:`~noregret.Space` and on a named
        :class:`~noregret.Box`; the object itself on a list of objects) and returns a number.
    domain
        :class:`~noregret.Candidates` or what makes them, a :class:`~noregret.Box` or a
        :class:`~noregret.Space`.
    budget
        Evaluations.
    algorithm
        The name of one, an optimiser of this domain to go on with, or ``"auto"``: BBKB on a list
        and for more than 1,000 evaluations on a box, TrustRegionUCB otherwise, with bounds of 2
        deviations; with ``tol``, GPUCB in place of TrustRegionUCB, and the width of the theorem.
    seed
        Makes the run repeatable.
    progress
        Whether to show a line of progress on standard error.
    tol
        Stop once no choice can be better than the recommended one by more than this (its ``gap``).
        Where kernel, noise or norm are learnt the gap proves nothing: then uniform draws that the
        fit has not seen test it first, and ``stopped`` says ``"tol (learnt settings)"``.
    optimum
        The largest value of f where it is known: ``result.regret`` is then computed.
    vectorized
        f takes a whole batch (n × d, or a vector of n objects) and returns n numbers.
    batch_size
        At most this many points at once for algorithms that choose batches.
    **options
        Of the algorithm; kernel, noise and norm are ``"auto"`` where not given.
    """
    return _run(
        f, domain, budget, 1.0, algorithm, seed, progress, tol, optimum, vectorized, batch_size,
        options,
    )  # fmt: skip


def minimize(
    f: Callable[[Any], Any],
    domain: Any,
    budget: int,
    *,
    algorithm: str | Optimizer = "auto",
    seed: int | None = None,
    progress: bool = True,
    tol: float | None = None,
    optimum: float | None = None,
    vectorized: bool = False,
    batch_size: int | None = None,
    **options: Any,
) -> Result:
    """Minimise a noisy function: as :func:`maximize`, with ``optimum`` the smallest value.

    The result is in f's own sign; ``result.algorithm`` maximises −f.
    """
    result = _run(
        f, domain, budget, -1.0, algorithm, seed, progress, tol,
        None if optimum is None else -optimum, vectorized, batch_size, options,
    )  # fmt: skip
    best, history = result.best, result.history
    best = replace(best, mean=-best.mean, lower=-best.upper, upper=-best.lower)
    return replace(result, best=best, history=replace(history, rewards=-history.rewards))


def _run(
    f: Callable[[Any], Any],
    domain: Any,
    budget: int,
    sign: float,
    algorithm: str | Optimizer,
    seed: int | None,
    progress: bool,
    tol: float | None,
    optimum: float | None,
    vectorized: bool,
    batch_size: int | None,
    options: dict[str, Any],
) -> Result:
    budget = _checks.count("budget", budget)
    tol = None if tol is None else _checks.positive("tol", tol)
    optimum = None if optimum is None else _checks.finite("optimum", optimum)
    most = budget if batch_size is None else _checks.count("batch_size", batch_size)
    if not callable(f):
        raise TypeError(f"f must be a function of one point, got {f!r}")
    if isinstance(algorithm, Optimizer):
        if options or seed is not None:
            raise ValueError("options and seed belong to a new algorithm; an optimiser was given")
        optimizer = algorithm
    else:
        optimizer = _algorithm(algorithm, as_domain(domain), budget, tol, seed, options)
    first, line = optimizer.t, _Progress(progress, budget)
    best = float(optimizer.history.rewards.max()) if first else -math.inf
    stopped = "budget"
    try:
        while optimizer.t - first < budget:
            left = budget - (optimizer.t - first)
            batch = optimizer.ask(min(left, most if optimizer.adaptive else optimizer.batch_size))
            try:
                given = batch.points if vectorized else batch.values
                values = sign * _evaluate(f, given, vectorized)
                optimizer.tell(batch, values)
            except BaseException:
                optimizer.cancel(batch)
                raise
            best = max(best, float(values.max()))
            line.show(optimizer.t - first, sign * best)
            if tol is not None and optimizer.recommend().gap <= tol:
                if not optimizer.learnt:
                    stopped = "tol"
                    break
                left = budget - (optimizer.t - first)
                if left and _holds(
                    optimizer, lambda X: sign * _evaluate(f, X, vectorized), left, vectorized
                ):
                    stopped = "tol (learnt settings)"
                    break
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        line.close()
    history = optimizer.history
    regret = None if optimum is None else optimum - history.rewards
    return Result(optimizer.recommend(), history, regret, optimizer, stopped, optimizer.proved)


def _holds(optimizer: Optimizer, f: Callable[[Any], Floats], most: int, vectorized: bool) -> bool:
    """Whether uniform draws that the fit has not seen lie where the model says.

    The draws are evaluated and told, at most so many. None may lie further from the model's mean
    than three deviations of reward and noise together.
    """
    domain = optimizer.domain
    count = min(max(_DRAWS, 10 * (domain.dimension or 1)), most)
    ids, points = domain.sample(count, np.random.default_rng([optimizer.t, count]))
    where = ids if domain.listed else points
    mean, deviation = optimizer.predict(where, pending=False)
    values = f(points if vectorized else domain.labels(ids, points))
    optimizer.tell(where, values)
    noise = optimizer.assumed.noise * optimizer.assumed.unit
    return bool(np.all(np.abs(values - mean) <= 3.0 * np.hypot(deviation, noise)))


def _algorithm(
    name: str,
    domain: Domain,
    budget: int,
    tol: float | None,
    seed: int | None,
    options: dict[str, Any],
) -> Optimizer:
    if name == "auto":
        exact = "gpucb" if tol is not None else "trustregionucb"
        name = "bbkb" if domain.listed or budget > _EXACT_BUDGET else exact
        # Only the theorem's width certifies a gap; without one to reach, fewer deviations pay, and
        # so do steps close to the best point and fits to all evaluations.
        options = {"width": _WIDTH if tol is None else "theory", **options}
    elif not isinstance(name, str) or name.lower() not in algorithms:
        known = ", ".join(sorted(algorithms))
        raise ValueError(f"algorithm must be 'auto', an optimiser or one of {known}; got {name!r}")
    options = {"kernel": "auto", "noise": "auto", "norm": "auto", "seed": seed, **options}
    return make(name, domain, **options)


def _evaluate(f: Callable[[Any], Any], points: Any, vectorized: bool) -> Floats:
    if vectorized:
        return _checks.rewards(f(points), len(points))
    values = []
    for point in points:
        value = np.asarray(f(point), dtype=np.float64)
        if value.size != 1:
            raise ValueError(f"f must return one number for one point, got shape {value.shape}")
        values.append(float(value.reshape(())[()]))
    return _checks.rewards(values, len(points))


class _Progress:
    """One line on standard error, at most ten times a second."""

    def __init__(self, wanted: bool, budget: int) -> None:
        self._wanted = wanted
        self._budget = budget
        self._last = -math.inf

    def show(self, done: int, best: float) -> None:
        now = time.monotonic()
        if self._wanted and (now - self._last > 0.1 or done == self._budget):
            sys.stderr.write(f"\r{done}/{self._budget} evaluations, best reward {best:.6g} ")
            sys.stderr.flush()
            self._last = now

    def close(self) -> None:
        if self._wanted and self._last > -math.inf:
            sys.stderr.write("\n")
