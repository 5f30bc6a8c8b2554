"""Which columns of numbers span decades, such as concentrations, doses and counts?"""

import numpy as np

from noregret._types import Floats

#: the largest value of such a column over the smallest one above 0, at least
_SPREAD = 10.0
#: how much better a normal distribution fits the logarithms than the values: the geometric mean
#: of the densities' ratio, at least
_GAIN = 1.5


def log_floor(values: Floats) -> float | None:
    """Where the logarithms of a column begin (n values); ``None`` if it spans no decades.

    A column spans decades if no value is below 0 and a normal distribution fits the logarithms
    much better than the values. Values below half of the smallest one above 0, such as a dose of
    0, have no logarithm, or one that is far from all others: they are counted as this half.
    """
    largest = float(values.max())
    if not largest > 0.0 or values.min() < 0.0:
        return None
    shares = values / largest
    smallest = float(shares[shares > 0.0].min())
    if smallest * _SPREAD > 1.0:
        return None
    logs = np.log(np.maximum(shares, 0.5 * smallest))
    # Of a normal distribution that fits best, the mean log density is −log(deviation) plus a
    # constant; that of the logarithms is for values after division by these: −mean(logs).
    gain = np.log(shares.std()) - np.log(logs.std()) - logs.mean()
    return 0.5 * smallest * largest if gain > np.log(_GAIN) else None
