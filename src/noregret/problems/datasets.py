"""The papers' tables and series of measurements, as bandit problems."""

import io
from dataclasses import dataclass

import numpy as np
from scipy.io import loadmat

from noregret._types import Floats
from noregret.problems.files import DataFile, content

_ABALONE = DataFile(
    path="abalone/abalone.data",
    url="https://archive.ics.uci.edu/ml/machine-learning-databases/abalone/abalone.data",
    sha256="de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
)
_CALIFORNIA = DataFile(
    path="cadata/cal_housing.csv.gz",
    url="https://raw.githubusercontent.com/we-b/datasets_for_ai/"
    "0dc3b0ecd0057ac117b8349079e53e4c94748ea2/cal_housing.data",
    sha256="534365b6c3c9b07c2b7d88e0ff9f1b41725d8b799748f5c0b80e1067f51c8ab3",
)
_HEAVY_TAILS = (
    "https://raw.githubusercontent.com/sayakrc/Bayesian-Optimization-under-Heavy-tailed-Payoffs/"
    "673ce5ce40cabd95f0319e0a1b338044f160143e/"
)
_LIGHT = DataFile(
    path="lightsensor/iw_data_all.mat",
    url=_HEAVY_TAILS + "iw_data_all.mat",
    sha256="3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
)
_STOCKS = DataFile(
    path="stocks/fin.csv",
    url=_HEAVY_TAILS + "fin.csv",
    sha256="e9f7d7c3a0ad4ada75e5b8fa3830c77ed0579232b45837438c671d83b1818199",
)


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

    X: Floats
    f: Floats


@dataclass(frozen=True)
class LightSensors:
    """Readings of 41 light sensors in one building, November 2005.

    Attributes
    ----------
    train, test
        601 × 41 and 192 × 41 raw readings.
    coordinates
        41 × 2 positions of the sensors; the unit is not stated.
    """

    train: Floats
    test: Floats
    coordinates: Floats


def abalone() -> Dataset:
    """UCI Abalone: 4,177 × 8, the number of rings (Sex as 0, 1, 2 for M, F, I)."""
    sex = {b"M": b"0", b"F": b"1", b"I": b"2"}
    rows = [line.split(b",") for line in content(_ABALONE).split()]
    table = np.array([[sex[row[0]], *row[1:]] for row in rows], dtype=np.float64)
    return _problem(table)


def california_housing() -> Dataset:
    """California housing of the 1990 census ("cadata"): 20,640 × 8, the median house value."""
    lines = content(_CALIFORNIA).decode().splitlines()[1:]
    return _problem(np.array([line.split(",") for line in lines], float))


def light_sensors() -> LightSensors:
    """Light sensors of the CMU Intelligent Workplace (A. Krause), used in TGP-UCB Section 6."""
    data = loadmat(io.BytesIO(content(_LIGHT)), squeeze_me=True, struct_as_record=False)["data"]
    train, test, coordinates = (
        np.asarray(part, dtype=np.float64)
        for part in (data.train.sensordata, data.test.sensordata, data.coords)
    )
    return LightSensors(train, test, coordinates)


def stocks() -> Floats:
    """Adjusted closing prices of 29 stocks of the Dow Jones index, used in TGP-UCB Section 6.

    A row for each of 823 days, 4 January 2016 to 10 April 2019.
    """
    rows = [line.split(",")[1:] for line in content(_STOCKS).decode().split()[1:]]
    return np.array(rows, dtype=np.float64)


def _problem(table: Floats) -> Dataset:
    X, target = table[:, :-1], table[:, -1]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Dataset(X, (target - target.min()) / (target.max() - target.min()))
