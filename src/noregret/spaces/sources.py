"""Where the points of a list come from: arrays, files mapped or copied to disk, lazy sequences."""

import mmap
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points

if TYPE_CHECKING:
    from noregret.spaces.encoding import Encoder
    from noregret.spaces.tables import Table

#: rows read at a time
PIECE = 1 << 16


@runtime_checkable
class RowSource(Protocol):
    """A length, and slices of rows."""

    def __len__(self) -> int:
        """The number of rows."""

    def __getitem__(self, rows: Any) -> Any:
        """The rows of a slice."""


@dataclass(frozen=True)
class Opened:
    """Points that have been made ready.

    Attributes
    ----------
    points
        n × d numbers or n objects: an array, or what is indexed like one (:class:`LazyRows`).
    names
        The columns' names, where there are any.
    origin
        What :func:`reopen` needs to find them again, where they are in a file.
    finite
        Whether every number is known to be finite.
    close
        Removes what was made on the way, such as a temporary copy.
    frame
        The polars frame that was given, if one was.
    encoder
        How the columns of a frame or a table became coordinates.
    doubts
        What may have been meant otherwise in these columns.
    """

    points: Points
    names: tuple[str, ...] | None = None
    origin: dict[str, Any] | None = None
    finite: bool = True
    close: Callable[[], None] | None = None
    frame: Any = None
    encoder: "Encoder | None" = None
    doubts: Sequence[str] = ()

    def warned(self, stacklevel: int) -> "Opened":
        """The same; warns of what is doubtful."""
        for doubt in self.doubts:
            warnings.warn(f"candidates: {doubt}", UserWarning, stacklevel + 1)
        return self


class LazyRows:
    """Rows that are read when they are indexed: by an id, a slice or an array of ids.

    Parameters
    ----------
    source
        An object with a length that gives rows for slices; if it also takes arrays of ids, these
        are used.

    Attributes
    ----------
    shape, dtype
        As of an array (n × d); float32 where the source has float32, else float64.
    """

    def __init__(self, source: RowSource) -> None:
        self._source = source
        if len(source) == 0:
            raise ValueError("candidates must not be empty")
        try:
            first = np.asarray(source[0:1])
            self.dtype = np.dtype(np.float32 if first.dtype == np.float32 else np.float64)
            first = first.astype(self.dtype)
        except (TypeError, ValueError, LookupError) as error:
            raise TypeError(
                "candidates must give rows of numbers for a slice, such as candidates[0:10]: "
                f"{error}"
            ) from error
        if first.ndim not in (1, 2) or len(first) != 1 or first.size == 0:
            raise ValueError(f"candidates[0:1] must be 1 × d numbers, got shape {first.shape}")
        self.shape = (len(source), first.size)
        self._takes_ids = _takes_ids(source, first.size)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Points:
        """The row of an id (d), or the rows of a slice or of ids (n × d)."""
        return read_rows(rows, len(self), self._span, self._of_ids)

    def _span(self, start: int, stop: int) -> Points:
        return self._shaped(self._source[start:stop], stop - start)

    def _of_ids(self, ids: Ints) -> Points:
        # Sources on disk want ids in rising order, each once.
        wanted, back = np.unique(ids, return_inverse=True)
        if self._takes_ids:
            return self._shaped(self._source[wanted], len(wanted))[back]
        runs = np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1)
        found = [self._span(int(run[0]), int(run[-1]) + 1) for run in runs if len(run)]
        return np.concatenate([np.empty((0, self.shape[1]), self.dtype), *found])[back]

    def _shaped(self, rows: Any, count: int) -> Points:
        array = np.asarray(rows, dtype=self.dtype)
        if array.size != count * self.shape[1]:
            raise ValueError(
                f"candidates must give {count} × {self.shape[1]} numbers, got shape {array.shape}"
            )
        return array.reshape(count, self.shape[1])


def read_rows(
    rows: Any,
    length: int,
    span: Callable[[int, int], Points],
    of_ids: Callable[[Ints], Points],
) -> Points:
    """What is indexed by an id, a slice or ids: by ``span(start, stop)`` and ``of_ids(ids)``."""
    if isinstance(rows, slice):
        start, stop, step = rows.indices(length)
        return span(start, max(start, stop)) if step == 1 else of_ids(np.arange(start, stop, step))
    ids = np.asarray(rows)
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(
            f"points that are not in memory are read by an id, a slice or ids, not by {rows!r}"
        )
    if np.any((ids < -length) | (ids >= length)):
        raise IndexError(f"ids must lie in 0..{length - 1}, got {rows!r}")
    ids = np.where(ids < 0, ids + length, ids).astype(np.int64)
    return of_ids(ids) if ids.ndim else span(int(ids), int(ids) + 1)[0]


def is_lazy(points: Any) -> bool:
    """Whether an object has a length and slices, and is not a list, mapping or array."""
    known = isinstance(points, (Sequence, Mapping)) or hasattr(points, "__array__")
    return isinstance(points, RowSource) and not known


def _takes_ids(source: RowSource, dimension: int) -> bool:
    last = len(source) - 1
    try:
        return np.asarray(source[np.array([0, last])]).size == 2 * dimension
    except (TypeError, ValueError, LookupError):
        return False


def may_be_mapped(kind: np.dtype[Any]) -> bool:
    """Whether arrays of this type are kept as they are: floating-point numbers, packed bits."""
    return kind.kind == "f" or kind == np.uint8


def mapped(array: np.memmap[Any, Any]) -> Opened:
    """An array that is mapped from a file; its rows are checked when they are read, not now."""
    return Opened(array, origin=_whole_file(array), finite=False)


def _whole_file(array: np.memmap[Any, Any]) -> dict[str, Any] | None:
    """How to map an array again; ``None`` for a part of a file, or for an array that was changed.

    A slice of a mapped array keeps the offset of the whole, so only arrays made by ``np.memmap``
    itself (``np.load`` with ``mmap_mode`` too) can be found again.
    """
    if not isinstance(array.base, mmap.mmap) or array.filename is None or array.mode == "c":
        return None
    path = Path(array.filename).resolve()
    return {
        "kind": "mapped",
        "path": str(path),
        "bytes": path.stat().st_size,
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "offset": int(array.offset),
        "order": "C" if array.flags.c_contiguous else "F",
    }


def open_source(source: Any, columns: Sequence[str] | None, folder: str | None) -> Opened:
    """A file, or a lazy sequence; see :meth:`noregret.Candidates.open`."""
    if not isinstance(source, (str, Path)):
        if not isinstance(source, RowSource):
            raise TypeError(f"source must be a path, or have a length and slices, got {source!r}")
        return Opened(cast(Points, LazyRows(source)), finite=False)
    path = Path(source)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if path.suffix == ".npy":
        if columns is not None:
            raise ValueError("columns are those of a table: an .npy file has no column names")
        return _map_npy(path)
    return _copy_table(path, columns, folder)


def reopen(origin: dict[str, Any]) -> Opened:
    """The points of a file again, from what :attr:`Opened.origin` says of it."""
    path = Path(origin["path"])
    if not path.is_file():
        raise FileNotFoundError(
            f"the run's candidates were in {path}, which is gone: put it back, or pass the "
            "candidates, load(path, domain=list)"
        )
    if path.stat().st_size != origin["bytes"]:
        raise ValueError(
            f"{path} has changed since the run was saved: it had {origin['bytes']} bytes and has "
            f"{path.stat().st_size}. Pass the run's candidates, load(path, domain=list)"
        )
    if origin["kind"] == "table":
        return _copy_table(path, origin["columns"], origin["folder"])
    array = np.memmap(
        path,
        dtype=np.dtype(origin["dtype"]),
        mode="r",
        offset=origin["offset"],
        shape=tuple(origin["shape"]),
        order=origin["order"],
    )
    return mapped(array)


def _map_npy(path: Path) -> Opened:
    try:
        array = np.load(path, mmap_mode="r")
    except ValueError as error:
        raise ValueError(f"{path} must hold an array of numbers: {error}") from error
    if array.ndim != 2 or not may_be_mapped(array.dtype) or array.size == 0:
        raise ValueError(
            f"{path} must hold n × d floating-point numbers or packed bits (uint8), got "
            f"{array.dtype} of shape {array.shape}{_how_to_save(array)}"
        )
    return mapped(array)


def _how_to_save(array: Points) -> str:
    """How to write numbers that cannot be mapped as they are."""
    if array.dtype.kind not in "iufb" or array.ndim not in (1, 2) or array.size == 0:
        return ""
    column = "" if array.ndim == 2 else ".reshape(-1, 1)"
    return f": save it with np.save(path, X.astype(np.float32){column})"


def _copy_table(path: Path, columns: Sequence[str] | None, folder: str | None) -> Opened:
    """The numbers of a table in a temporary file that is mapped: written a piece at a time."""
    from noregret.spaces.frames import encoder_and_doubts  # polars is slow to import
    from noregret.spaces.tables import Table

    if path.suffix.lower() == ".npz":
        raise ValueError(f"{path} may hold several arrays: save one of them with np.save (.npy)")
    table = Table(path)
    used = table.columns if columns is None else [str(name) for name in columns]
    missing = [name for name in used if name not in table.columns]
    if missing or not used:
        raise ValueError(
            f"columns must be some of {', '.join(table.columns)}; "
            f"got {', '.join(missing) or 'none'}"
        )
    encoder, doubts = encoder_and_doubts(
        table.pieces(), used, decimal=table.decimal, place=table.place
    )
    kind = np.dtype(np.float32 if _single_precision(table, used) else np.float64)
    own = tempfile.mkdtemp(prefix="noregret-", dir=folder)
    close = partial(shutil.rmtree, own, ignore_errors=True)
    try:
        copy, length = Path(own) / "points", 0
        with copy.open("wb") as file:
            for piece in table.pieces():
                rows = encoder.encode(piece.frame)
                refuse_infinite(rows, np.arange(length, length + len(rows)), encoder.names)
                rows.astype(kind).tofile(file)
                length += len(rows)
        if length == 0:
            raise ValueError(f"candidates must not be empty: {path} has no rows")
        points = np.memmap(copy, dtype=kind, mode="r", shape=(length, len(encoder.names)))
    except BaseException:
        close()
        raise
    origin = {
        "kind": "table",
        "path": str(path.resolve()),
        "bytes": path.stat().st_size,
        "columns": list(used),
        "folder": folder,
    }
    return Opened(points, encoder.names, origin, close=close, encoder=encoder, doubts=doubts)


def _single_precision(table: "Table", columns: Sequence[str]) -> bool:
    """Whether float32 holds the numbers of these columns exactly."""
    import polars as pl

    small = (pl.Float32, pl.Int8, pl.Int16, pl.UInt8, pl.UInt16, pl.Boolean)
    return all(table.types.get(name) in small for name in columns)


def refuse_infinite(rows: Points, ids: Ints, names: tuple[str, ...] | None = None) -> None:
    """Refuse rows (n × d) of a list with a number that is missing, NaN or infinite.

    Numbers whose squares no float can hold are refused too.
    """
    if np.isfinite(rows).all():
        if rows.dtype.kind == "f" and float(np.abs(rows).max(initial=0.0)) > _checks.LARGEST:
            raise ValueError(
                f"candidates must lie within ±{_checks.LARGEST:g}, got "
                f"{rows.flat[np.abs(rows).argmax()]}: give them in another unit"
            )
        return
    at, column = np.argwhere(~np.isfinite(rows))[0].tolist()
    name = f" ({names[column]})" if names else ""
    raise ValueError(
        f"candidates must be finite, got {rows[at, column]} in row {ids[at]}, column {column}{name}"
    )


def bounding_box(read: Callable[[Ints], Floats], length: int) -> Floats:
    """The smallest and the largest number of every column (2 × d), a piece at a time."""
    corners = []
    for start in range(0, length, PIECE):
        rows = read(np.arange(start, min(start + PIECE, length)))
        corners.append(np.stack([rows.min(axis=0), rows.max(axis=0)]))
    every = np.array(corners)
    return np.stack([every[:, 0].min(axis=0), every[:, 1].max(axis=0)])
