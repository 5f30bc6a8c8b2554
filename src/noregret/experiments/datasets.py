"""The papers' data sets: from ``$NOREGRET_DATA`` where that folder is set, else downloaded.

Every file is checked against its SHA-256 either way. Downloads go to the user's cache, through
pooch (``pip install noregret[experiments]``).
"""

import gzip
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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
class _File:
    """Where a file lies in the data folder, where on the web, and what it must contain."""

    path: str
    url: str
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
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            "downloading data sets needs pooch: pip install noregret[experiments]; "
            "or set NOREGRET_DATA to a folder that holds them"
        ) from error
    return Path(
        pooch.retrieve(
            file.url, known_hash=f"sha256:{file.sha256}", path=pooch.os_cache("noregret")
        )
    )
