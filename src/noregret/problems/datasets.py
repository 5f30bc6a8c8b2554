"""The papers' data sets: from ``$NOREGRET_DATA`` where that folder is set, else downloaded.

Every file is checked against its SHA-256 either way. Downloads go to the user's cache, through
pooch (``pip install noregret[experiments]``). The NAS-Bench-101 tables were put together from
several sources and can only be read from the folder.
"""

import gzip
import hashlib
import io
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat

from noregret._types import Floats


@dataclass(frozen=True)
class Dataset:
    """A regression table turned into a bandit problem.

    Attributes
    ----------
    X
        n × d standardised features, the candidates.
    f
        n values scaled to [0, 1], the noiseless rewards.
    """

    name: str
    X: Floats
    f: Floats


@dataclass(frozen=True)
class NASBench:
    """The 12,416 cells of NAS-Bench-101 with four inner nodes of 3 × 3 convolution or max-pooling.

    The public tables at hand hold **one** test accuracy a cell and no training time. Repeats and
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
    failed
        A flags: the one known run is below 0.5.
    seconds
        A training times of one run, *modelled*.
    """

    X: Floats
    features: Floats
    f: Floats
    repeats: Floats
    failed: np.ndarray[Any, np.dtype[np.bool_]]
    seconds: Floats


@dataclass(frozen=True)
class LightSensors:
    """Readings of 41 light sensors in one building, November 2005.

    Attributes
    ----------
    train, test
        601 × 41 and 192 × 41 raw readings.
    coordinates
        41 × 2 places of the sensors, unit not stated.
    """

    train: Floats
    test: Floats
    coordinates: Floats


@dataclass(frozen=True)
class Stocks:
    """Adjusted closing prices, 4 January 2016 to 10 April 2019.

    Attributes
    ----------
    dates
        823 trading days.
    names
        29 tickers.
    prices
        823 × 29.
    """

    dates: np.ndarray[Any, np.dtype[np.datetime64]]
    names: tuple[str, ...]
    prices: Floats


@dataclass(frozen=True)
class _File:
    """Where a file lies in the data folder, where on the web, and what it must contain."""

    path: str
    url: str | None  # None: nowhere in this form
    sha256: str  # of the content, decompressed


_ABALONE = _File(
    path="abalone/abalone.data",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/abalone/abalone.data",
    sha256="de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
)
_CALIFORNIA = _File(
    path="cadata/cal_housing.csv.gz",
    url="https://raw.githubusercontent.com/we-b/datasets_for_ai/"
    "0dc3b0ecd0057ac117b8349079e53e4c94748ea2/cal_housing.data",
    sha256="534365b6c3c9b07c2b7d88e0ff9f1b41725d8b799748f5c0b80e1067f51c8ab3",
)
_HEAVY_TAILS = (
    "https://raw.githubusercontent.com/sayakrc/Bayesian-Optimization-under-Heavy-tailed-Payoffs/"
    "673ce5ce40cabd95f0319e0a1b338044f160143e/"
)
_LIGHT = _File(
    path="lightsensor/iw_data_all.mat",
    url=_HEAVY_TAILS + "iw_data_all.mat",
    sha256="3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
)
_STOCKS = _File(
    path="stocks/fin.csv",
    url=_HEAVY_TAILS + "fin.csv",
    sha256="e9f7d7c3a0ad4ada75e5b8fa3830c77ed0579232b45837438c671d83b1818199",
)
_CELLS = _File(
    path="nasbench101/nb101_4inner_conv3x3_maxpool3x3.csv.gz",
    url=None,
    sha256="663ba48a982eeb5e93526f40e0790b59fb9ca6891df8102731224631e7412276",
)
_TIMES = _File(
    path="nasbench101/nb101_first1000.csv",
    url=None,
    sha256="bcdb0c5304449933959c4b7fc7d6934376d2b2373c2f800051589c76a3a037e4",
)

# Deviation of a cell's three runs, in units of accuracy, over all of NAS-Bench-101: its median and
# 90th percentile (sample deviations of validation accuracy, github.com/Anode1/SMBPANN,
# validation/PROVENANCE_nas.md). A log-normal law has these two quantiles.
_MEDIAN_DEVIATION, _HIGH_DEVIATION = 0.00328, 0.00786
_NORMAL_90 = 1.2815515655446004
#: a run below this accuracy has failed: it guesses, or nearly so
_FAILED = 0.5


def abalone() -> Dataset:
    """UCI Abalone: 4,177 × 8, the number of rings (Sex as 0, 1, 2 for M, F, I)."""
    sex = {b"M": b"0", b"F": b"1", b"I": b"2"}
    rows = [line.split(b",") for line in _content(_ABALONE).split()]
    table = np.array([[sex[row[0]], *row[1:]] for row in rows], dtype=np.float64)
    return _problem("Abalone", table)


def california_housing() -> Dataset:
    """California housing of the 1990 census ("cadata"): 20,640 × 8, the median house value."""
    lines = _content(_CALIFORNIA).decode().splitlines()[1:]
    return _problem("California housing", np.array([line.split(",") for line in lines], float))


def light_sensors() -> LightSensors:
    """Light sensors of the CMU Intelligent Workplace (A. Krause), used in TGP-UCB Section 6."""
    data = loadmat(io.BytesIO(_content(_LIGHT)), squeeze_me=True, struct_as_record=False)["data"]
    train, test, coordinates = (
        np.asarray(part, dtype=np.float64)
        for part in (data.train.sensordata, data.test.sensordata, data.coords)
    )
    return LightSensors(train, test, coordinates)


def stocks() -> Stocks:
    """29 stocks of the Dow Jones index, used in TGP-UCB Section 6."""
    header, *rows = [line.split(",") for line in _content(_STOCKS).decode().split()]
    dates = np.array([row[0] for row in rows], dtype="datetime64[D]")
    return Stocks(dates, tuple(header[1:]), np.array([row[1:] for row in rows], dtype=np.float64))


def nasbench101() -> NASBench:
    """The NAS-Bench-101 subset of BBKB Section 5, prepared as its D.2 says.

    **Candidates.** 15 edges and 4 operations (convolution 1, max-pooling 0). The first and the last
    edge are 1 in every cell and are dropped, so that 13 + 4 = 17 columns remain; the paper's
    "d = 19" counts them. Each half is divided by its largest row norm, so that its rows have *at
    most* unit norm and cells keep their distances within a half. (Rows could also be normalised
    one by one; the text fits both.)

    **Repeats.** The paper draws one of three runs; the table holds one. Three runs are modelled
    around it: Gaussian, shifted to have the known accuracy as their mean and scaled to a sample
    deviation drawn for the cell, log-normal with the published median 0.328 and 90th percentile
    0.786 percentage points. The draws are the same in every call.

    **Failures.** In 157 cells (1.3 %) the known run is below 0.5, mostly at 0.10, that of guessing.
    About one cell in a hundred is published to train sometimes and collapse sometimes. So this run
    is taken for one of three; the other two are modelled around the mean accuracy of those listed
    cells that differ in one of the 19 features and did not fail. ``f`` is then about 0.64 there.

    **Training time.** A straight line in the multiply-adds, fitted to 1,000 measured times of other
    cells: 1081.5 + 676.06 · macs/10⁹ seconds (R² 0.835, mean relative error 17 %).
    """
    rows = [line.split(",") for line in _content(_CELLS).decode().split()[1:]]
    table = np.array([row[1:] for row in rows], dtype=np.float64)
    edges, operations = table[:, :15], 1.0 - table[:, 15:19]
    macs, accuracy = table[:, 20], table[:, 21]
    halves = [edges[:, 1:-1], operations]
    X = np.concatenate([half / np.linalg.norm(half, axis=1).max() for half in halves], axis=1)
    features = np.concatenate([edges, operations], axis=1)
    failed = accuracy < _FAILED
    repeats = _modelled_repeats(accuracy, failed, features)
    return NASBench(X, features, repeats.mean(axis=1), repeats, failed, _modelled_seconds(macs))


def _modelled_repeats(accuracy: Floats, failed: Any, features: Floats) -> Floats:
    """Three runs of every cell (A × 3), see :func:`nasbench101`."""
    rng = np.random.default_rng(101)
    spread = math.log(_HIGH_DEVIATION / _MEDIAN_DEVIATION) / _NORMAL_90
    deviation = _MEDIAN_DEVIATION * np.exp(spread * rng.standard_normal(len(accuracy)))
    noise = rng.standard_normal((len(accuracy), 3))
    noise -= noise.mean(axis=1, keepdims=True)
    noise *= (deviation / noise.std(axis=1, ddof=1))[:, None]
    centre = accuracy.copy()
    for cell in np.flatnonzero(failed):
        alike = (np.abs(features - features[cell]).sum(axis=1) == 1) & ~failed
        centre[cell] = accuracy[alike].mean()
    repeats = centre[:, None] + noise
    repeats[failed, 0] = accuracy[failed]
    return repeats


def _modelled_seconds(macs: Floats) -> Floats:
    """Training times (A) from the line through 1,000 measured ones."""
    header, *rows = [line.split(",") for line in _content(_TIMES).decode().split()]
    known, seconds = (
        np.array([row[header.index(name)] for row in rows], dtype=np.float64)
        for name in ("macs", "training_time_s")
    )
    slope, start = np.polyfit(known / 1e9, seconds, 1)
    return np.asarray(start + slope * macs / 1e9)


def _problem(name: str, table: Floats) -> Dataset:
    X, target = table[:, :-1], table[:, -1]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Dataset(name, X, (target - target.min()) / (target.max() - target.min()))


def _content(file: _File) -> bytes:
    path = _local(file) or _download(file)
    raw = path.read_bytes()
    content = gzip.decompress(raw) if path.suffix == ".gz" else raw
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise ValueError(f"{path} is not the expected file: its SHA-256 is {found}")
    return content


def _local(file: _File) -> Path | None:
    folder = os.environ.get("NOREGRET_DATA")
    if not folder:
        return None
    path = Path(folder) / file.path
    return path if path.exists() else None


def _download(file: _File) -> Path:
    if file.url is None:
        raise FileNotFoundError(
            f"{file.path} must lie in the folder that NOREGRET_DATA names: it was put together "
            "from public tables and cannot be downloaded as it is. Accuracies and multiply-adds: "
            "data/test.npy and data/flops.npy of github.com/Tongzhou0101/ObfuNAS (cells in the "
            "order of NAS-Bench-101's hashes); times: static/data/data-1k.json of "
            "github.com/tiga1231/nasbench-vis."
        )
    try:
        import pooch
    except ImportError as error:
        raise ValueError(
            "downloading data sets needs pooch: pip install noregret[experiments]; "
            "or set NOREGRET_DATA to a folder that holds them"
        ) from error
    cache, known = pooch.os_cache("noregret"), f"sha256:{file.sha256}"
    try:
        return Path(pooch.retrieve(file.url, known_hash=known, path=cache))
    except OSError as error:  # no network, an address that has moved, a full disk
        raise OSError(
            f"{file.path} could not be fetched from {file.url} ({type(error).__name__}); "
            "NOREGRET_DATA may name a folder that holds it"
        ) from error
