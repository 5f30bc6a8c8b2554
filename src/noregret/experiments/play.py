"""One algorithm on one problem: the loop of all regret experiments."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from noregret._types import Floats, Ints
from noregret.algorithms import Optimizer
from noregret.results import Batch

#: settings of an algorithm with the width that its paper prints, and the paper's rule for bounds
AS_PRINTED: dict[str, Any] = {"width": "paper", "bounds": "current"}


def play(
    optimizer: Optimizer,
    horizon: int,
    values: Callable[[Batch], Floats],
    noise: Callable[[Floats, int], Floats],
    best: float,
    *,
    marks: Ints,
    at_most: int | None = None,
) -> pl.DataFrame:
    """Let an optimiser evaluate until it has been told ``horizon`` rewards in this call.

    Parameters
    ----------
    optimizer
        A new optimiser, or one with a history, which is not counted.
    values
        The noiseless values of a batch (n).
    noise
        A function that makes rewards (n) from noiseless values and the number of the first
        evaluation, counted from 0. Let the noise depend on that number alone, as ``Noise.paired``
        does, and all algorithms see the same noise.
    best
        The largest value.
    marks
        Evaluation numbers (from 1) to report.
    at_most
        Points asked for at once; by default the algorithm decides.

    Returns
    -------
    A row per mark: ``t``, ``regret`` (cumulative), ``simple`` (gap of the best value so far),
    ``seconds`` (processor time of ask and tell until the end of the evaluation's batch), ``batch``
    (the size of that batch) and ``batches`` (how many there were until then).
    """
    got, clock, sizes = np.empty(horizon), np.empty(horizon), np.empty(horizon, dtype=np.int64)
    order = np.empty(horizon, dtype=np.int64)
    done, seconds, batches = 0, 0.0, 0
    while done < horizon:
        started = time.process_time()
        batch = _ask(optimizer, None if at_most is None else min(at_most, horizon - done))
        seconds += time.process_time() - started
        if not len(batch):
            raise ValueError(
                f"{type(optimizer).__name__} has nothing left to ask for after {done} of {horizon} "
                f"evaluations, with repeats={optimizer.repeats}: ask for fewer evaluations, or for "
                "more repeats"
            )
        if len(batch) > horizon - done:
            optimizer.cancel(batch[horizon - done :])
            batch = batch[: horizon - done]
        value = values(batch)
        rewards = noise(value, done)
        started = time.process_time()
        optimizer.tell(batch, rewards)
        seconds += time.process_time() - started
        batches += 1
        now = slice(done, done + len(batch))
        got[now], clock[now], sizes[now], order[now] = value, seconds, len(batch), batches
        done += len(batch)
    at = marks - 1
    return pl.DataFrame(
        {
            "t": at + 1,
            "regret": np.cumsum(best - got)[at],
            "simple": best - np.maximum.accumulate(got)[at],
            "seconds": clock[at],
            "batch": sizes[at],
            "batches": order[at],
        }
    )


def _ask(optimizer: Optimizer, n: int | None) -> Batch:
    """Ask for a batch; hide the warning that the rewards refute the norm that the paper uses."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the rewards contradict", RuntimeWarning)
        return optimizer.ask(n)
