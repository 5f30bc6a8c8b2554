"""Several algorithms on one problem over many seeds, in parallel."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from noregret import _checks
from noregret._types import Ints
from noregret.algorithms import check_name, make
from noregret.experiments.play import play
from noregret.linalg.threads import one_blas_thread
from noregret.optimizer import Optimizer
from noregret.problems.problem import Problem
from noregret.study.evaluating.workers import start_workers

#: the name of an algorithm, or a callable that makes one from a domain and ``seed=``
Maker = str | Callable[..., Optimizer]


def compare(
    algorithms: Mapping[str, Maker],
    problem: Problem | Callable[[int], Problem],
    evaluations: int,
    *,
    seeds: int | Sequence[int] = 20,
    workers: int = 1,
    batch_size: int | None = None,
    marks: Sequence[int] | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Run several algorithms over several seeds and measure their regret.

    All algorithms of one seed see the same problem and the same noise, evaluation by evaluation.

    Parameters
    ----------
    algorithms
        A dict from the name to show to a callable that makes the optimiser from a domain and
        ``seed=...``, such as ``functools.partial(nr.BBKB, kernel=nr.RBF(0.2), noise=0.1)``. The
        name of an algorithm, such as ``"bbkb"``, also works: it learns its settings and has bounds
        of 2 deviations.
    problem
        The problem to maximise (:class:`~noregret.problems.problem.Problem`), or a function that
        makes one from the seed.
    evaluations
        Number of evaluations of each run.
    seeds
        How many seeds (0, 1, …), or a list of them.
    workers
        How many runs to compute at the same time. They run in processes where everything can be
        sent to one (no lambdas; in a script the call stands under ``if __name__ == "__main__":``),
        else in threads, which are hardly faster.
    batch_size
        Points asked for at once; by default the algorithm decides.
    marks
        The numbers of evaluations at which regret is recorded; by default at most 200, evenly
        spread.
    progress
        Whether to show a bar on standard error.

    Returns
    -------
    polars.DataFrame
        A row per algorithm, seed and mark, for :func:`noregret.plot.regret`: ``algorithm``,
        ``seed``, ``t``, ``regret`` (cumulative), ``simple`` (gap of the best choice evaluated so
        far), ``seconds`` (processor time of ask and tell), ``batch`` and ``batches``. Ctrl-C
        returns the runs that are done.
    """
    evaluations = _checks.count("evaluations", evaluations)
    batch_size = None if batch_size is None else _checks.count("batch_size", batch_size)
    if not isinstance(algorithms, Mapping) or not algorithms:
        raise TypeError(
            "algorithms must be a dict from names to algorithms, such as {'GP-UCB': 'gpucb'}, got "
            f"{algorithms!r}"
        )
    for name, maker in algorithms.items():
        if not callable(maker):
            check_name(maker, f"algorithms: {name!r}", "what makes an optimiser, or ")
    if not isinstance(problem, Problem) and not callable(problem):
        given = _checks.shown(problem)
        raise TypeError(f"problem must be a Problem or make one of a seed, got {given}")
    which = range(_checks.count("seeds", seeds)) if isinstance(seeds, int) else list(seeds)
    one = partial(
        _one_run, dict(algorithms), problem, evaluations, _marks(marks, evaluations), batch_size
    )
    jobs = [(name, int(seed)) for seed in which for name in algorithms]
    done: dict[tuple[str, int], pl.DataFrame] = {}
    try:
        for job, frame in _with_bar(_results(one, jobs, workers), len(jobs), progress):
            done[job] = frame
    except KeyboardInterrupt:
        if not done:
            raise
        warnings.warn(
            f"interrupted: {len(done)} of {len(jobs)} runs are done", RuntimeWarning, stacklevel=2
        )
    order = sorted(done, key=lambda job: (list(algorithms).index(job[0]), job[1]))
    return pl.concat([done[job] for job in order])


def _one_run(
    algorithms: dict[str, Maker],
    problem: Problem | Callable[[int], Problem],
    evaluations: int,
    marks: Ints,
    batch_size: int | None,
    job: tuple[str, int],
) -> pl.DataFrame:
    name, seed = job
    task = problem if isinstance(problem, Problem) else problem(seed)
    if not isinstance(task, Problem):
        raise TypeError(f"problem must be a Problem or make one of a seed; it made {task!r:.50}")
    maker = algorithms[name]
    if isinstance(maker, str):
        auto: dict[str, Any] = {"noise": "auto", "norm": "auto", "width": 2.0}
        maker = partial(make, maker, kernel="auto", **auto)
    noise = task.noise.paired(evaluations, np.random.default_rng([seed, 1]))
    with one_blas_thread():
        frame = play(
            _made(name, maker, task, seed),
            evaluations,
            lambda batch: task.function(batch.points),
            noise,
            task.optimum,
            marks=marks,
            at_most=batch_size,
        )
    return frame.select(
        pl.lit(name).alias("algorithm"), pl.lit(seed, dtype=pl.Int64).alias("seed"), pl.all()
    )


def _made(name: str, maker: Callable[..., Optimizer], task: Problem, seed: int) -> Optimizer:
    try:
        made = maker(task.domain, seed=seed)
    except TypeError as error:
        raise TypeError(
            f"algorithms: {name!r} cannot be made of a domain and a seed; give its settings "
            f"by functools.partial: {error}"
        ) from error
    if not isinstance(made, Optimizer):
        raise TypeError(
            f"algorithms: {name!r} must make an optimiser, it made {_checks.shown(made)}"
        )
    return made


def _results(
    one: Callable[[tuple[str, int]], pl.DataFrame], jobs: list[tuple[str, int]], workers: int
) -> Iterator[tuple[tuple[str, int], pl.DataFrame]]:
    """Yields every job with its table, in the order in which they are done."""
    with start_workers(one, None, workers) as hired:
        if hired.executor is None:
            for job in jobs:
                yield job, one(job)
            return
        running: dict[Future[pl.DataFrame], tuple[str, int]] = {
            hired.submit(one, job): job for job in jobs
        }
        for future in as_completed(running):
            yield running[future], future.result()


def _with_bar(results: Iterator[Any], total: int, wanted: bool) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import track

    yield from track(results, "runs", total=total, console=Console(stderr=True), disable=not wanted)


def _marks(marks: Sequence[int] | None, evaluations: int) -> Ints:
    if marks is None:
        spread = np.linspace(1, evaluations, min(evaluations, 200))
        return np.unique(np.rint(spread).astype(np.int64))
    found = np.unique(np.asarray(marks, dtype=np.int64))
    if not len(found) or found[0] < 1 or found[-1] > evaluations:
        raise ValueError(f"marks must lie between 1 and {evaluations}, got {marks!r}")
    return found
