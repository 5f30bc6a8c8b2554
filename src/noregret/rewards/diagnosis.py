"""How heavy are the tails? A test, a tail index and advice, before choosing an algorithm."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from noregret._types import Floats, Ints

#: fewer rewards than this say nothing about tails
_FEWEST = 20
#: the Gaussian, and tails no heavier than exponential ones, are rejected below this p-value
_LEVEL = 0.01
#: residuals of repeated evaluations that show heavy tails, and the p-value below which they do
_FEWEST_REPEATS, _HEAVY = 40, 0.002
#: rewards of an arm from which it has residuals
_REPEATS = 3
#: below this p-value heavy tails are possible
_DOUBT = 0.1
#: rewards with no more distinct values than this are called discrete
_VALUES = 10
#: a tail index that the test's power is computed for
_INDEX = 3.0
#: sizes beyond this many medians are outliers: an exponential variable's distance from its median
#: has the median arsinh ½, and exceeds s with probability e^(−s)/2 beyond log 2
_FAR = 18.0
#: samples of a tail that a p-value is computed from
_SAMPLES = 1999

#: what rewards look like
Tails = Literal["gaussian", "light", "discrete", "unclear", "heavy", "no mean"]


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
    kind
        ``"gaussian"``; ``"light"``: not Gaussian, tails no heavier than exponential ones;
        ``"discrete"``: such tails, and at most ten distinct values; ``"unclear"``: heavy tails are
        possible, ``heavy_pvalue`` is 1 % to 10 %; ``"heavy"``: it is below 1 %; ``"no mean"``: so
        heavy that the mean need not exist.
    heavy_pvalue
        How often exponential tails would look as heavy as these do.
    power
        How often the test finds tails of index 3 (no third moment) with as many rewards.
    tail_index
        Hill's estimate: P(|y − median| > s) falls like s^(−index). Moments of smaller order exist.
    tail_index_interval
        Its 95 % interval.
    alpha
        The α to use: the interval's lower end less one, within [0.1, 1]; 1 if heavy tails are
        excluded.
    outliers
        Share of rewards more than six robust deviations from the median. The robust deviation is
        that of the rewards that differ from the median.
    advice
        One plain sentence.
    """

    n: int
    ks_statistic: float
    ks_pvalue: float
    gaussian: bool
    kind: Tails
    heavy_pvalue: float
    power: float
    tail_index: float
    tail_index_interval: tuple[float, float]
    alpha: float
    outliers: float
    advice: str

    def __str__(self) -> str:
        low, high = self.tail_index_interval
        return (
            f"{self.n} rewards: KS {self.ks_statistic:.3f} (p = {self.ks_pvalue:.2g}), heavier "
            f"than exponential p = {self.heavy_pvalue:.2g}, tail index {self.tail_index:.2f} "
            f"[{low:.2f}, {high:.2f}]. {self.advice}"
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
        raise ValueError(f"rewards must be finite, got {y[~np.isfinite(y)][0]}")
    centred = y - np.median(y)
    scale = float(np.abs(centred).max())
    if scale == 0.0:
        raise ValueError("rewards must not all be equal: there is no noise to diagnose")
    centred /= scale  # squares of huge rewards must not overflow
    statistic, pvalue = lilliefors(centred)
    sizes = np.abs(centred)
    index, interval = _tail_index(sizes)
    heavy, power = heavier_than_exponential(sizes)
    outliers = float(np.mean(sizes > 6.0 * 1.4826 * np.median(sizes[sizes > 0.0])))
    fits = pvalue >= _LEVEL and heavy >= _LEVEL
    if heavy < _LEVEL:
        kind: Tails = "no mean" if interval[1] <= 1.0 else "heavy"
    elif fits:
        kind = "gaussian"
    elif heavy < _DOUBT:
        kind = "unclear"
    else:
        kind = "discrete" if len(np.unique(y)) <= _VALUES else "light"
    # The index of a tail that is not heavy says nothing about moments.
    alpha = float(np.clip(interval[0] - 1.0, 0.1, 1.0)) if heavy < _DOUBT else 1.0
    report = TailReport(
        n=len(y),
        ks_statistic=statistic,
        ks_pvalue=pvalue,
        gaussian=fits,
        kind=kind,
        heavy_pvalue=heavy,
        power=power,
        tail_index=index,
        tail_index_interval=interval,
        alpha=round(alpha, 2),
        outliers=outliers,
        advice="",
    )
    return replace(report, advice=_advice(report, 0.5 * float(np.ptp(y))))


def heavier_than_exponential(sizes: Floats) -> tuple[float, float]:
    """How often exponential tails look as heavy as the largest of sizes (n), and the test's power.

    Take the excess of the largest eighth of the sizes over the next size. If the tail is
    exponential, so is the excess, with a coefficient of variation of 1. Bounded, discrete and
    Gaussian tails have a smaller one, power laws a larger one (del Castillo, Daoudi & Lockhart
    2014). This test misses outliers that all have the same size. So a second test counts the sizes
    that exceed 18 times their median, and the p-value is twice the smaller of both. The first
    p-value and the power come from samples with a fixed seed.
    """
    n = len(sizes)
    if not sizes.any():
        return 1.0, 0.0
    ordered = np.sort(sizes)
    k = int(np.clip(n // 8, 10, 1000))
    excess = ordered[-k:] - ordered[-k - 1]
    excess = excess[excess > 0.0]
    k = len(excess)
    far = int(np.sum(sizes > _FAR * np.median(sizes[sizes > 0.0])))
    by_count = at_least(far, n, exponential_tail(_FAR))
    if k < 3:
        return min(2.0 * by_count, 1.0), 0.0
    found = float(excess.std() / excess.mean())
    rng = np.random.default_rng(0)
    drawn = rng.standard_exponential((_SAMPLES, k))
    light = drawn.std(axis=1) / drawn.mean(axis=1)
    power_law = np.expm1(drawn / _INDEX)
    heavy = power_law.std(axis=1) / power_law.mean(axis=1)
    level = np.quantile(light, 1.0 - 0.5 * _LEVEL)
    pvalue = (1.0 + float(np.sum(light >= found))) / (_SAMPLES + 1.0)
    return min(2.0 * pvalue, 2.0 * by_count, 1.0), float(np.mean(heavy > level))


def heavy_repeats(arms: Ints, rewards: Floats) -> tuple[int, float] | None:
    """Whether repeated evaluations show heavy tails: how many residuals do, and the p-value.

    ``None`` where they do not, or are too few to say.

    Parameters
    ----------
    arms, rewards
        The arm of every reward, and the rewards (t each).
    """
    residuals = _repeated_residuals(arms, rewards)
    if len(residuals) < _FEWEST_REPEATS:
        return None
    pvalue, _ = heavier_than_exponential(np.abs(residuals))
    return (len(residuals), pvalue) if pvalue < _HEAVY else None


def _repeated_residuals(arms: Ints, rewards: Floats) -> Floats:
    """Rewards less the median of their arm, for arms with three or more.

    The residual that is zero by construction is left out of an odd number of them.
    """
    order = np.argsort(arms, kind="stable")
    pieces = np.split(rewards[order], np.flatnonzero(np.diff(arms[order])) + 1)
    found = []
    for piece in pieces:
        if len(piece) >= _REPEATS:
            off = np.sort(piece - np.median(piece))
            found.append(np.delete(off, len(off) // 2) if len(off) % 2 else off)
    return np.concatenate(found) if found else np.empty(0)


def exponential_tail(medians: float) -> float:
    """How often an exponential variable is so many medians of that distance from its median."""
    return 0.5 * math.exp(-medians * math.asinh(0.5))


def at_least(count: int, n: int, probability: float) -> float:
    """The probability of at least so many successes in n trials."""
    if not count:
        return 1.0
    from scipy.special import bdtrc  # not needed to import the package

    return float(bdtrc(count - 1, n, probability))


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


def _tail_index(magnitudes: Floats) -> tuple[float, tuple[float, float]]:
    """Hill's tail index with its 95 % interval, from the largest of magnitudes (n).

    A few outliers of one size, far from the others, look like a tail of a very small index. If the
    very largest magnitudes show a lighter tail, for certain, they count.
    """
    found, further_out = hill(magnitudes), hill(magnitudes, 0.5)
    return further_out if further_out[1][0] > found[1][1] else found


def hill(magnitudes: Floats, roots: float = 2.0) -> tuple[float, tuple[float, float]]:
    """Hill's tail index of magnitudes (n) with its 95 % interval, from the 2√n largest of them.

    The deviation of the estimate from k values is index/√k. ``roots`` takes the place of 2.
    """
    n = len(magnitudes)
    k = min(max(int(roots * math.sqrt(n)), 10), n // 2)
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


def _advice(found: TailReport, half_range: float) -> str:
    """Plain sentences; docs/results/heavy-tails.md has the measurements behind them."""
    missed = f" Tails of index 3 would be found in {found.power:.0%} of samples of this size."
    if found.kind == "gaussian":
        return "The tails look Gaussian: use GPUCB, or BBKB for batches." + missed
    if found.kind == "light":
        return "Not Gaussian, but no heavy tails found: use GPUCB, or BBKB for batches." + missed
    if found.kind == "discrete":
        return (
            "A few values and no heavy tails found: use GPUCB, or BBKB for batches. If no reward "
            f"can lie outside those seen, noise={half_range:.3g} is proved (half the range)."
        )
    robust = (
        f"HuberGPUCB; if intervals must be proved, ClippedGPUCB with "
        f"alpha={found.alpha:g} and a noise that is surely not too small, and many evaluations."
    )
    if found.kind == "unclear":
        return f"Perhaps heavy tails (p = {found.heavy_pvalue:.2g}); to be safe, use {robust}"
    if found.kind == "no mean":
        return (
            f"Tails so heavy (tail index {found.tail_index:.1f}) that the mean need not exist: no "
            "algorithm that estimates means can be trusted; optimise the rewards' logarithm or "
            "ranks instead."
        )
    return (
        f"Heavy tails (p = {found.heavy_pvalue:.2g}, tail index {found.tail_index:.1f}, "
        f"{100 * found.outliers:.2g} % outliers): use {robust}"
    )
