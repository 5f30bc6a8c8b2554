"""Files of data sets: from ``$NOREGRET_DATA`` where that folder is set, else downloaded.

Every file is checked against its SHA-256 either way. Downloads go to the user's cache, through
pooch (``pip install noregret[experiments]``).
"""

import gzip
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    path
        Where it lies in the data folder.
    sha256
        SHA-256 of its content, decompressed.
    url
        Where it can be downloaded; ``None``: nowhere in this form.
    origin
        Where its content comes from, for a file that cannot be downloaded.
    """

    path: str
    sha256: str
    url: str | None = None
    origin: str = ""


def content(file: DataFile) -> bytes:
    """What the file holds, decompressed and checked."""
    path = _local(file) or _download(file)
    raw = path.read_bytes()
    data = gzip.decompress(raw) if path.suffix == ".gz" else raw
    found = hashlib.sha256(data).hexdigest()
    if found != file.sha256:
        raise ValueError(f"{path} is not the expected file: its SHA-256 is {found}")
    return data


def _local(file: DataFile) -> Path | None:
    folder = os.environ.get("NOREGRET_DATA")
    if not folder:
        return None
    path = Path(folder) / file.path
    return path if path.exists() else None


def _download(file: DataFile) -> Path:
    if file.url is None:
        raise FileNotFoundError(
            f"{file.path} must lie in the folder that NOREGRET_DATA names: it was put together "
            f"from public tables and cannot be downloaded as it is. {file.origin}"
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
