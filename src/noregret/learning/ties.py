"""Rewards that are exactly equal: clicks, counts, latencies of zero, values of a coarse clock.

A Gaussian never gives the same number twice. So a fit that sees two equal rewards of one choice
finds no noise, and trusts every single reward from then on. But where every repeated evaluation
gives its choice's own number again, there is no noise.
"""

import numpy as np

from noregret._types import Bools, Floats, Ints
from noregret.observations import Observations

#: rewards have atoms if this share of the arms has a reward that another arm had too
_SHARE = 0.1
#: so many repeated evaluations that agree are no accident: five equal small counts are rare enough
_AGREE = 4
#: means of equal rewards may differ by this share of their size for each reward, by rounding
_ROUND_OFF = 1e-15


def informative(rows: Ints, y: Floats) -> Ints:
    """Positions of those rewards (n, by row) that say something about the noise.

    If all rewards of an arm are equal, and another arm had this value too, only the first is kept:
    the value is one that is often measured, whatever the choice.
    """
    values, pairs, first = _pairs(rows, y)
    constant = np.bincount(pairs[:, 0]) == 1
    kept = ~(constant[rows] & _common(pairs)[values])
    kept[first] = True
    return np.flatnonzero(kept)


def has_atoms(rows: Ints, y: Floats) -> bool:
    """Whether many arms have had a reward (n, by row) that is exactly one of another arm."""
    _, pairs, _ = _pairs(rows, y)
    shared = np.unique(pairs[_common(pairs)[pairs[:, 1]], 0])
    return len(shared) > _SHARE * len(np.unique(rows))


def always_agree(observations: Observations) -> bool:
    """Whether repeated evaluations give nothing new: each arm gave the same reward every time.

    Only rewards that few other arms have had count as evidence. A value of many arms may be one
    that is often measured, whatever the choice.
    """
    told = observations.told.copy()
    # What was told in place of a failure is no reward of the arm.
    told[observations.history_rows[list(observations.stand_ins)]] = 0
    again = np.flatnonzero(told > 1)
    if told[again].sum() - len(again) < _AGREE:
        return False
    means = observations.sums / np.maximum(told, 1)
    errors = _ROUND_OFF * told * np.abs(means)
    if np.any(observations.scatters[again] > told[again] * np.square(errors[again])):
        return False
    values = np.sort(means[told > 0])
    low, high = (means[again] + sign * errors[again] for sign in (-1.0, 1.0))
    same = np.searchsorted(values, high, side="right") - np.searchsorted(values, low)
    rare = same - 1 <= _SHARE * len(values)
    return int(np.sum((told[again] - 1)[rare])) >= _AGREE


def _pairs(rows: Ints, y: Floats) -> tuple[Ints, Ints, Ints]:
    """The value of each reward as a number (n), pairs of arm and value, where each comes first."""
    _, values = np.unique(y, return_inverse=True)
    pairs, first = np.unique(np.column_stack([rows, values]), axis=0, return_index=True)
    return values, pairs, first


def _common(pairs: Ints) -> Bools:
    """Whether each value belongs to several arms."""
    return np.asarray(np.bincount(pairs[:, 1]) > 1)
