"""The maximisers of functions over a list.

A function drawn from the posterior has at each candidate a Gaussian value with the posterior's mean
and deviation. So it exceeds mean + q·deviation somewhere on a list of A candidates with probability
at most A·P(N(0, 1) > q). So mean + q·deviation serves as the upper bound of a candidate: only
candidates whose stale bound is above the best value found so far are looked at
(:class:`~noregret.picking.lists.current.Current`).

Two things are exact. q makes this probability at most 10⁻⁶ for all functions drawn at a time
together. How far means have moved since a candidate was last looked at is bounded. Two are assumed:

- Deviations have not grown since then. For a sparse posterior no theorem says so.
- Drawn values have the posterior's deviation. With random Fourier features this holds only on
  average over their frequencies. Other draws on lists have it.

q leaves room for both: with deviations 1.15 times as large the probability is still below 10⁻³ on a
million candidates.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.picking.bounds import Bounds
from noregret.picking.lists.columns import PointsOf
from noregret.picking.lists.current import Current
from noregret.picking.lists.room import Room
from noregret.spaces import Candidates

#: how many candidates a pass over the list looks at at a time
_PIECE = 4096
#: how many candidates are looked at first, and at most at a time, if the others sleep
_FIRST, _MOST = 256, 8192
#: the probability that a larger value of some function is missed
_MISSED = 1e-6


def tops_of_draws(
    sleepers: Current,
    bounds: Bounds,
    points: PointsOf,
    n: int,
    values: Callable[[Points], Floats],
    room: Room,
    *,
    keep: bool,
) -> Ints:
    """The best open candidates of n functions drawn from the posterior (k × n ids, −1 for none).

    As :func:`tops_of_list`, except that one is missed with probability 10⁻⁶.

    Parameters
    ----------
    sleepers
        What is known of the candidates.
    bounds
        The posterior that the functions are drawn from.
    points
        Gives the points of ids.
    values
        Gives the functions at points (m × d): m × n. It is called once for each candidate at most.
    room
        How often each candidate may be picked.
    keep
        Whether what was computed is remembered; false for a look.
    """
    quantile = -NormalDist().inv_cdf(_MISSED / (n * len(sleepers.column)))
    width = quantile * np.sqrt(bounds.posterior.lam)
    bounds = replace(bounds, widths=np.array([width]), inflation=1.0)
    queue = sleepers.start(bounds, points, room.closed)
    count = n if room.limited else 1
    best, ids = np.empty((0, n)), np.empty((0, n), dtype=np.int64)
    size = _FIRST
    while queue.floor > (best[-1].min() if len(best) == count else -np.inf):
        taken = queue.take(size)
        order = np.argsort(taken.ids)
        own, where = taken.ids[order], taken.points[order]
        numbers = np.concatenate([ids, np.broadcast_to(own[:, None], (len(own), n))])
        best, ids = largest(np.concatenate([best, values(where)]), numbers, count)
        if keep:
            sleepers.note(bounds, own, where)
        size = min(2 * size, _MOST)
    return ids


def tops_of_list(space: Candidates, n: int, values: Callable[[Points], Floats], room: Room) -> Ints:
    """The best open candidates of n functions over a list, best first (k × n ids, −1 for none).

    One for each function if every candidate may be picked any number of times; else as many as
    there are functions, so that each function can have another candidate.

    Parameters
    ----------
    space
        The list.
    values
        Gives the functions at points (m × d): m × n.
    room
        How often each candidate may be picked.
    """
    best, ids = np.empty((0, n)), np.empty((0, n), dtype=np.int64)
    for start in range(0, len(space), _PIECE):
        own = np.arange(start, min(start + _PIECE, len(space)))
        piece = values(space.at(own))
        piece[np.isin(own, room.closed)] = -np.inf
        numbers = np.concatenate([ids, np.broadcast_to(own[:, None], piece.shape)])
        best, ids = largest(np.concatenate([best, piece]), numbers, n if room.limited else 1)
    return np.where(best > -np.inf, ids, -1)


def tops_of(values: Floats, room: Room) -> Ints:
    """As :func:`tops_of_list`, for functions whose values at all candidates are known (A × n)."""
    values[room.closed] = -np.inf
    ids = np.broadcast_to(np.arange(len(values))[:, None], values.shape)
    best, ids = largest(values, ids, values.shape[1] if room.limited else 1)
    return np.where(best > -np.inf, ids, -1)


def largest(values: Floats, ids: Ints, count: int) -> tuple[Floats, Ints]:
    """The largest values of each column and their ids, best first (k × n each)."""
    columns = np.arange(values.shape[1])
    if count == 1:  # of equal values the first
        top = values.argmax(axis=0)[None]
    else:
        if count < len(values):
            top = np.sort(np.argpartition(-values, count - 1, axis=0)[:count], axis=0)
            values, ids = values[top, columns], ids[top, columns]
        top = np.argsort(-values, axis=0, kind="stable")
    return values[top, columns], ids[top, columns]


def best_in_room(tops: Ints, room: Room) -> Iterator[int]:
    """Take for each function in turn its best candidate that may still be picked.

    Parameters
    ----------
    tops
        What :func:`tops_of_list` and others give.
    room
        How often each candidate may be picked.
    """
    for column in tops.T.tolist():
        for id_ in column:
            if id_ >= 0 and room.left(id_):
                room.take(id_)
                yield id_
                break
