"""The one-line way: ``noregret.maximize(f, domain, budget)``."""

import os
from collections.abc import Callable
from typing import Any, Literal

from noregret.optimizer import Optimizer
from noregret.study.call import Call
from noregret.study.ledger import Progress
from noregret.study.oneline import run_call
from noregret.study.result import Result


def maximize(
    f: Callable[[Any], Any],
    domain: Any,
    budget: int,
    *,
    algorithm: str | Optimizer = "auto",
    seed: int | None = None,
    workers: int | Any = 1,
    batch_size: int | None = None,
    vectorized: bool = False,
    timeout: float | None = None,
    tol: float | None = None,
    patience: int | None = None,
    stop: Literal["converged"] | None = None,
    callback: Callable[[Progress], Any] | None = None,
    failures: Literal["continue", "raise"] = "continue",
    storage: str | os.PathLike[str] | None = None,
    progress: bool = True,
    optimum: float | None = None,
    **options: Any,
) -> Result:
    """Maximise a noisy function over a list, a box or a space of typed parameters.

    Ctrl-C ends the run early and returns what is known so far.

    Parameters
    ----------
    f
        Takes one point (a vector of d floats; a dict on a :class:`~noregret.Space` and on a named
        :class:`~noregret.Box`; the object itself on a list of objects) and returns a number. An
        exception, a NaN, an infinity or a number beyond ±1e100 is a failed evaluation: see
        ``failures``.
    domain
        :class:`~noregret.Candidates` (or an array or frame), a :class:`~noregret.Box`, a
        :class:`~noregret.Space`, or a dict from which a box or space is made: ``{"a": (0, 1), "b":
        (-1, 1)}``, ``{"a": nr.Int(1, 8)}``.
    budget
        The number of evaluations; failed ones count too. With ``storage``, those of earlier calls
        also count.
    algorithm
        The name of an algorithm, an optimiser of this domain to go on with, or ``"auto"``: BBKB on
        a list, TrustRegionUCB on a box or space. With ``tol``, GPUCB takes the place of
        TrustRegionUCB. With ``stop="converged"`` it is ThompsonSampling.
    seed
        Makes the run repeatable (with workers, up to the order in which they finish).
    workers
        How many evaluations run at the same time. A number above 1 means that many processes if f
        can be sent to one: f is a function of a module, or of a script that has ``if __name__ ==
        "__main__":``. Lambdas, functions of notebooks and of other scripts run in threads, which
        help if f waits or computes outside of Python. The line of progress says which. An executor
        of your own works too: ``concurrent.futures``, a Dask ``Client``, …
    batch_size
        Points asked for at once: at most this many for algorithms that choose their batches,
        exactly this many for the others. By default the algorithm decides, or there are as many as
        workers are free.
    vectorized
        f takes a whole batch (n × d, n dicts on a :class:`~noregret.Space`, or a vector of n
        objects) and returns n numbers.
    timeout
        Seconds from the call on, with the start of worker processes. Evaluations under way are not
        waited for, except with ``workers=1``, where the last one ends first. Processes are ended. A
        thread cannot be ended, so a script ends only after the last evaluation in a thread.
    tol
        Stop once no choice can be better than the recommended one by more than this (its ``gap``).
        If kernel, noise or norm are learnt, the gap proves nothing. Then it is first tested by
        uniform draws that the fit has not seen, and ``stopped`` says ``"tol (learnt settings)"``.
    patience
        Stop after this many evaluations without a better recommendation. Better means: by what is
        known now, the posterior mean is higher by more than a tenth of the noise.
    stop
        ``"converged"``, for Thompson sampling only: stop once the maximisers of drawn functions
        have a spread below 0.02, in units of the space
        (:meth:`~noregret.ThompsonSampling.converged`). It proves nothing.
    callback
        Called after every evaluation with a :class:`~noregret.study.ledger.Progress` (``.trial``,
        ``.point``, ``.value``, ``.best``, ``.done``, ``.failed``, …). The run stops when it returns
        ``True``.
    failures
        ``"continue"``: failed evaluations are counted, the optimiser looks elsewhere (see
        :meth:`noregret.Optimizer.fail`), and 20 in a row end the run. ``"raise"``: the first one
        raises :class:`~noregret.study.RunError`. Whatever is raised has the result so far as
        ``error.result``.
    storage
        The path of a study (:class:`~noregret.Study`), which is made if there is none. Every
        evaluation is on disk at once, and the same call goes on after a crash. A study with another
        domain or other settings is refused.
    progress
        Whether to show a line of progress on standard error.
    optimum
        The largest value of f, if it is known. Then ``result.regret`` is computed.
    **options
        Settings of the algorithm. Kernel, noise and norm are ``"auto"`` if they are not given.
        ``width`` is 2 (deviations) if any of these three is learnt, else the algorithm's own.
    """
    return run_call(Call(direction="maximize", **locals()))


def minimize(
    f: Callable[[Any], Any],
    domain: Any,
    budget: int,
    *,
    algorithm: str | Optimizer = "auto",
    seed: int | None = None,
    workers: int | Any = 1,
    batch_size: int | None = None,
    vectorized: bool = False,
    timeout: float | None = None,
    tol: float | None = None,
    patience: int | None = None,
    stop: Literal["converged"] | None = None,
    callback: Callable[[Progress], Any] | None = None,
    failures: Literal["continue", "raise"] = "continue",
    storage: str | os.PathLike[str] | None = None,
    progress: bool = True,
    optimum: float | None = None,
    **options: Any,
) -> Result:
    """Minimise a noisy function: as :func:`maximize`, with ``optimum`` the smallest value.

    The result is in f's own sign; ``result.algorithm`` maximises −f.
    """
    return run_call(Call(direction="minimize", **locals()))
