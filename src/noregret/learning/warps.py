"""Which warp of the rewards? The one under which they are most like a GP's."""

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels import Kernel
from noregret.models.warp import IDENTITY, Warp
from noregret.rewards.moments import robust_deviation, winsorised

#: strengths that are tried
_STRENGTHS = (0.5, 2.0, 8.0)
#: centres that are tried: these quantiles of the rewards
_CENTRES = (0.5, 0.9)
#: by how much the log likelihood must rise for rewards not to stay as they are
_GAIN = 2.0
#: outliers further than this many robust deviations from the median do not decide
_REACH = 10.0
#: with fewer evaluations rewards stay as they are; of more than the second, some are drawn
_FEWEST, _MOST = 6, 200
#: noise variances over the kernel's that are tried, and the largest one that a warp may have
_RATIOS, _QUIET = np.logspace(-4.0, 2.0, 13), 0.1


def best_warp(kernel: Kernel, X: Points, y: Floats, seed: int) -> Warp:
    """The warp with the largest marginal likelihood of rewards y (n) at points X (n × d).

    Warped rewards are those of a GP with this kernel, and with the variance, noise and constant
    mean that fit best. The slope of the warp counts (the Jacobian of the change of variables), so
    that likelihoods can be compared. One eigendecomposition serves all warps: O(n³).

    A warp is for the function, not for the noise. So rewards are only warped if the noise is then
    at most a tenth of the variance, and if that makes them more likely by a factor of e² than both
    the rewards as they are and the best warp of the other side, which compresses good rewards:
    noise with heavy tails gains from either, a function with a long bad side from one only.
    """
    if len(y) < _FEWEST or not (scale := robust_deviation(y)):
        return IDENTITY
    if len(y) > _MOST:
        kept = np.random.default_rng(seed).choice(len(y), _MOST, replace=False)
        X, y = X[kept], y[kept]
    rewards = winsorised(y, _REACH)
    values, vectors = np.linalg.eigh(kernel(X, X) / kernel.diag(X[:1]))
    totals = np.maximum(values, 0.0) + _RATIOS[:, None]

    def levels(rewards: Floats, warp: Warp) -> Floats:
        return _log_likelihoods(totals, vectors, rewards, warp)

    def best(rewards: Floats) -> tuple[float, float, Warp]:
        """The largest log likelihood, its ratio and its warp."""
        centres = np.quantile(rewards, _CENTRES)
        tried = [Warp(float(c), scale, a) for c in centres for a in _STRENGTHS]
        found = np.array([levels(rewards, warp) for warp in tried])
        at, ratio = np.unravel_index(np.argmax(found), found.shape)
        return float(found.max()), float(_RATIOS[ratio]), tried[at]

    gain, ratio, warp = best(rewards)
    others = float(levels(rewards, IDENTITY).max()), best(-rewards)[0]
    return warp if gain > max(others) + _GAIN and ratio <= _QUIET else IDENTITY


def _log_likelihoods(totals: Floats, vectors: Floats, rewards: Floats, warp: Warp) -> Floats:
    """The log likelihoods of warped rewards (n) at their best mean and variance (k).

    Up to a constant. ``totals`` (k × n) are eigenvalues of k covariances, which differ in the noise
    over the variance, ``vectors`` (n × n) their eigenvectors.
    """
    turned, ones = warp.apply(rewards) @ vectors, vectors.sum(axis=0)
    means = (turned * ones / totals).sum(axis=1) / (ones * ones / totals).sum(axis=1)
    squares = np.square(turned - means[:, None] * ones) / totals
    variances = np.maximum(squares.mean(axis=1), 1e-300)
    levels = -0.5 * len(rewards) * np.log(variances) - 0.5 * np.log(totals).sum(axis=1)
    return np.asarray(levels + warp.log_slopes(rewards).sum())
