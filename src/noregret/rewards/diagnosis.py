"""How heavy are the tails? A test, a tail index and advice, before choosing an algorithm."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret._types import Floats

#: fewer rewards than this say nothing about tails
_FEWEST = 20
#: the Gaussian is rejected below this p-value
_LEVEL = 0.01


@dataclass(frozen=True)
class TailReport:
    """What :func:`diagnose_tails` found.

    Attributes
    ----------
    n
        Rewards.
    ks_statistic, ks_pvalue
        Kolmogorov–Smirnov distance to the Gaussian with the rewards' mean and deviation, and its
        p-value (Lilliefors: both parameters are fitted).
    gaussian
        Whether that Gaussian is not rejected at 1 %.
    tail_index
        Hill's estimate: P(|y − median| > s) falls like s^(−index). Moments of smaller order exist.
    tail_index_interval
        Its 95 % interval.
    alpha
        The α to use: the interval's lower end less one, within [0.1, 1].
    outliers
        Share of rewards more than six robust deviations from the median.
    advice
        One plain sentence.
    """

    n: int
    ks_statistic: float
    ks_pvalue: float
    gaussian: bool
    tail_index: float
    tail_index_interval: tuple[float, float]
    alpha: float
    outliers: float
    advice: str

    def __str__(self) -> str:
        low, high = self.tail_index_interval
        return (
            f"{self.n} rewards: KS {self.ks_statistic:.3f} (p = {self.ks_pvalue:.2g}), "
            f"tail index {self.tail_index:.2f} [{low:.2f}, {high:.2f}]. {self.advice}"
        )


def diagnose_tails(rewards: Any) -> TailReport:
    """Whether rewards are heavy-tailed, and which algorithm and α that calls for.

    Give repeated rewards of one choice, or residuals ``y - mean`` of many: rewards of different
    choices differ for other reasons than noise.

    Parameters
    ----------
    rewards
        At least 20 finite numbers.
    """
    try:
        y = np.asarray(rewards, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise TypeError(f"rewards must be numbers, got {rewards!r}") from error
    if len(y) < _FEWEST:
        raise ValueError(f"rewards must be at least {_FEWEST} numbers, got {len(y)}")
    if not np.all(np.isfinite(y)):
        raise ValueError("rewards must be finite")
    centred = y - np.median(y)
    scale = float(np.abs(centred).max())
    if scale == 0.0:
        raise ValueError("rewards must not all be equal: there is no noise to diagnose")
    centred /= scale  # squares of huge rewards must not overflow
    statistic, pvalue = lilliefors(centred)
    index, interval = hill(np.abs(centred))
    robust = 1.4826 * float(np.median(np.abs(centred)))
    outliers = float(np.mean(np.abs(centred) > 6.0 * robust))
    alpha = float(np.clip(interval[0] - 1.0, 0.1, 1.0))
    fits = pvalue >= _LEVEL and outliers == 0.0
    return TailReport(
        n=len(y),
        ks_statistic=statistic,
        ks_pvalue=pvalue,
        gaussian=fits,
        tail_index=index,
        tail_index_interval=interval,
        alpha=round(alpha, 2),
        outliers=outliers,
        advice=_advice(fits, index, interval, round(alpha, 2), outliers),
    )


def lilliefors(y: Floats) -> tuple[float, float]:
    """The Kolmogorov–Smirnov distance of y (n) to its fitted Gaussian, and its p-value.

    Fitting the parameters makes the plain test's p-values far too large; these are the
    approximations of Dallal & Wilkinson (1986) below 0.1 and of Stephens (1974) above.
    """
    from scipy.special import ndtr  # not needed to import the package

    n = len(y)
    deviation = float(y.std(ddof=1))
    values = ndtr((np.sort(y) - y.mean()) / deviation)
    steps = np.arange(n + 1) / n
    distance = float(max((steps[1:] - values).max(), (values - steps[:-1]).max()))
    size = float(min(n, 100))
    scaled = distance if n <= 100 else distance * (n / 100.0) ** 0.49
    pvalue = math.exp(
        min(
            -7.01256 * scaled**2 * (size + 2.78019)
            + 2.99587 * scaled * math.sqrt(size + 2.78019)
            - 0.122119
            + 0.974598 / math.sqrt(size)
            + 1.67997 / size,
            0.0,
        )
    )
    if pvalue <= 0.1:
        return distance, pvalue
    k = (math.sqrt(n) - 0.01 + 0.85 / math.sqrt(n)) * distance
    if k <= 0.302:
        return distance, 1.0
    if k <= 0.5:
        curve = (2.76773, -19.828315, 80.709644, -138.55152, 81.218052)
    elif k <= 0.9:
        curve = (-4.901232, 40.662806, -97.490286, 94.029866, -32.355711)
    else:
        curve = (6.198765, -19.558097, 23.186922, -12.234627, 2.423045)
    value = sum(c * k**power for power, c in enumerate(curve))
    return distance, float(np.clip(value, 0.0, 1.0))


def hill(magnitudes: Floats) -> tuple[float, tuple[float, float]]:
    """Hill's tail index of magnitudes (n) with its 95 % interval, from the 2√n largest of them.

    The deviation of the estimate from k values is index/√k.
    """
    n = len(magnitudes)
    k = min(max(int(2.0 * math.sqrt(n)), 10), n // 2)
    top = np.sort(magnitudes)[-(k + 1) :]
    if top[0] <= 0.0:  # half the rewards are equal: only the others have tails
        top = top[top > 0.0]
        k = len(top) - 1
    mean_log = float(np.log(top[1:] / top[0]).mean()) if k > 0 else 0.0
    if mean_log <= 0.0:
        return math.inf, (math.inf, math.inf)
    index = 1.0 / mean_log
    margin = 1.96 * index / math.sqrt(k)
    return index, (max(index - margin, 0.0), index + margin)


def _advice(
    fits: bool, index: float, interval: tuple[float, float], alpha: float, outliers: float
) -> str:
    """A plain sentence; the Heavy tails page has the measurements behind it."""
    if fits:
        return "The tails look Gaussian: use GPUCB, or BBKB for batches."
    if outliers == 0.0 and interval[0] > 2.0:
        return "Not Gaussian, but no heavy tails: use GPUCB, or BBKB for batches."
    if interval[1] <= 1.0:
        return (
            f"Tails so heavy (tail index {index:.1f}) that the mean need not exist: no algorithm "
            "that estimates means can be trusted; optimise the rewards' logarithm or ranks instead."
        )
    return (
        f"Heavy tails (tail index {index:.1f}, {100 * outliers:.2g} % outliers): use HuberGPUCB; "
        f"where intervals must be theorems, TGPUCB or ATAGPUCB with alpha={alpha:g} and a v you "
        "can vouch for, and many evaluations."
    )
