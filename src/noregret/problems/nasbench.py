"""The NAS-Bench-101 subset of BBKB Section 5; its tables are read from ``$NOREGRET_DATA``."""

import math
from dataclasses import dataclass

import numpy as np

from noregret._types import Bools, Floats
from noregret.problems.files import DataFile, content

_ORIGIN = (
    "Accuracies and multiply-adds: data/test.npy and data/flops.npy of "
    "github.com/Tongzhou0101/ObfuNAS (networks in the order of NAS-Bench-101's hashes); times: "
    "static/data/data-1k.json of github.com/tiga1231/nasbench-vis."
)
_NETWORKS = DataFile(
    path="nasbench101/nb101_4inner_conv3x3_maxpool3x3.csv.gz",
    origin=_ORIGIN,
    sha256="663ba48a982eeb5e93526f40e0790b59fb9ca6891df8102731224631e7412276",
)
_TIMES = DataFile(
    path="nasbench101/nb101_first1000.csv",
    origin=_ORIGIN,
    sha256="bcdb0c5304449933959c4b7fc7d6934376d2b2373c2f800051589c76a3a037e4",
)

# Deviation of a network's three runs, in units of accuracy, over all of NAS-Bench-101: its median
# and 90th percentile (sample deviations of validation accuracy, github.com/Anode1/SMBPANN,
# validation/PROVENANCE_nas.md). A log-normal law has these two quantiles.
_MEDIAN_DEVIATION, _HIGH_DEVIATION = 0.00328, 0.00786
_NORMAL_90 = 1.2815515655446004
#: a run below this accuracy has failed: it guesses, or nearly so
_FAILED = 0.5


@dataclass(frozen=True)
class NASBench:
    """The 12,416 networks of NAS-Bench-101 with four inner nodes of convolution or max-pooling.

    The public tables hold **one** test accuracy for each network and no training time. Repeats and
    times are therefore models, not data; see :func:`nasbench101`.

    Attributes
    ----------
    X
        A × 17 candidates, as BBKB D.2 prepares them.
    features
        A × 19 zeros and ones, what a mutation changes: 15 edges (upper triangle of the adjacency
        matrix, row by row), then 4 operations (1 convolution, 0 max-pooling).
    f
        A mean accuracies, the noiseless rewards: the means of ``repeats``.
    repeats
        A × 3 accuracies, *modelled* around the one that is known.
    seconds
        A training times of one run, *modelled*.
    """

    X: Floats
    features: Floats
    f: Floats
    repeats: Floats
    seconds: Floats


def nasbench101() -> NASBench:
    """The NAS-Bench-101 subset of BBKB Section 5, prepared as its D.2 says.

    **Candidates.** 15 edges and 4 operations (convolution 1, max-pooling 0). The first and the last
    edge are 1 in every network and are dropped, so that 13 + 4 = 17 columns remain; the paper's
    "d = 19" counts them. Edges and operations are each divided by their largest row norm, so that
    rows have *at most* unit norm. (Rows could also be normalised one by one; the text fits both.)

    **Repeats.** The paper draws one of three runs; the table holds one. Three runs are modelled
    around it: Gaussian, shifted to have the known accuracy as their mean and scaled to a sample
    deviation drawn for the network, log-normal with the published median 0.328 and 90th
    percentile 0.786 percentage points. The draws are the same in every call.

    **Failures.** For 157 networks (1.3 %) the known run is below 0.5, mostly at 0.10, that of
    guessing. About one network in a hundred is published to train sometimes and collapse
    sometimes. So this run is taken for one of three; the other two are modelled around the mean
    accuracy of the listed networks that differ in one of the 19 features and did not fail. ``f``
    is then about 0.64 there.

    **Training time.** A straight line in the multiply-adds, fitted to 1,000 measured times of other
    networks: 1081.5 + 676.06 · macs/10⁹ seconds (R² 0.835, mean relative error 17 %).
    """
    rows = [line.split(",") for line in content(_NETWORKS).decode().split()[1:]]
    table = np.array([row[1:] for row in rows], dtype=np.float64)
    edges, operations = table[:, :15], 1.0 - table[:, 15:19]
    macs, accuracy = table[:, 20], table[:, 21]
    halves = [edges[:, 1:-1], operations]
    X = np.concatenate([half / np.linalg.norm(half, axis=1).max() for half in halves], axis=1)
    features = np.concatenate([edges, operations], axis=1)
    failed = accuracy < _FAILED
    repeats = _modelled_repeats(accuracy, failed, features)
    return NASBench(X, features, repeats.mean(axis=1), repeats, _modelled_seconds(macs))


def _modelled_repeats(accuracy: Floats, failed: Bools, features: Floats) -> Floats:
    """Three runs of every network (A × 3), see :func:`nasbench101`."""
    rng = np.random.default_rng(101)
    spread = math.log(_HIGH_DEVIATION / _MEDIAN_DEVIATION) / _NORMAL_90
    deviation = _MEDIAN_DEVIATION * np.exp(spread * rng.standard_normal(len(accuracy)))
    noise = rng.standard_normal((len(accuracy), 3))
    noise -= noise.mean(axis=1, keepdims=True)
    noise *= (deviation / noise.std(axis=1, ddof=1))[:, None]
    centre = accuracy.copy()
    for network in np.flatnonzero(failed):
        alike = (np.abs(features - features[network]).sum(axis=1) == 1) & ~failed
        centre[network] = accuracy[alike].mean()
    repeats = centre[:, None] + noise
    repeats[failed, 0] = accuracy[failed]
    return repeats


def _modelled_seconds(macs: Floats) -> Floats:
    """Training times (A) from the line through 1,000 measured ones."""
    header, *rows = [line.split(",") for line in content(_TIMES).decode().split()]
    known, seconds = (
        np.array([row[header.index(name)] for row in rows], dtype=np.float64)
        for name in ("macs", "training_time_s")
    )
    slope, start = np.polyfit(known / 1e9, seconds, 1)
    return np.asarray(start + slope * macs / 1e9)
