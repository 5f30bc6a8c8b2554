"""Where the points of a list come from: arrays, files mapped or copied to disk, lazy sequences."""

import mmap
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from noregret._types import Floats, Ints, Points

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
        Frees what was taken on the way, such as a temporary copy.
    """

    points: Points
    names: tuple[str, ...] | None = None
    origin: dict[str, Any] | None = None
    finite: bool = True
    close: Callable[[], None] | None = None


class LazyRows:
    """Rows that are read where they are indexed: by an id, a slice or an array of ids.

    Parameters
    ----------
    source
        Has a length, and gives rows for slices; one that takes arrays of ids is asked that way.

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
    """Whether it has a length and slices, and is no sequence, mapping or array of a known kind."""
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
    """An array that is mapped from a file: checked where it is looked at, not now."""
    return Opened(array, origin=_whole_file(array), finite=False)


def _whole_file(array: np.memmap[Any, Any]) -> dict[str, Any] | None:
    """How to map an array again; ``None`` for a part of a file, or one that was changed.

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
    if path.suffix in (".parquet", ".csv"):
        return _copy_table(path, columns, folder)
    raise ValueError(f"source must be a .npy, .parquet or .csv file, got {path}")


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
    array = np.load(path, mmap_mode="r")
    if array.ndim != 2 or not may_be_mapped(array.dtype) or array.size == 0:
        raise ValueError(
            f"{path} must hold n × d floating-point numbers or packed bits (uint8), got "
            f"{array.dtype} of shape {array.shape}"
        )
    return mapped(array)


def _copy_table(path: Path, columns: Sequence[str] | None, folder: str | None) -> Opened:
    """The numbers of a table in a temporary file that is mapped: one pass, a piece at a time."""
    frame, names, kind = _scan(path, columns)
    own = tempfile.mkdtemp(prefix="noregret-", dir=folder)
    close = partial(shutil.rmtree, own, ignore_errors=True)
    try:
        copy = Path(own) / "points"
        length = _write_pieces(frame, names, kind, copy)
        if length == 0:
            raise ValueError(f"candidates must not be empty: {path} has no rows")
        points = np.memmap(copy, dtype=kind, mode="r", shape=(length, len(names)))
    except BaseException:
        close()
        raise
    origin = {
        "kind": "table",
        "path": str(path.resolve()),
        "bytes": path.stat().st_size,
        "columns": list(names),
        "folder": folder,
    }
    return Opened(points, names, origin, close=close)


def _scan(path: Path, columns: Sequence[str] | None) -> tuple[Any, tuple[str, ...], np.dtype[Any]]:
    """A frame to be read in pieces, its columns, and the type that holds their numbers exactly."""
    import polars as pl

    scan = pl.scan_parquet if path.suffix == ".parquet" else pl.scan_csv
    schema = scan(path).collect_schema()
    names = tuple(schema) if columns is None else tuple(str(name) for name in columns)
    missing = [name for name in names if name not in schema]
    if missing or not names:
        raise ValueError(
            f"columns must be some of {', '.join(schema)}; got {', '.join(missing) or 'none'}"
        )
    wrong = [
        name for name in names if not (schema[name].is_numeric() or schema[name] == pl.Boolean)
    ]
    if wrong:
        raise TypeError(
            f"candidates must have numeric columns; these are not: {', '.join(wrong)}. Encode them "
            "first, or name the numeric ones: Candidates.open(path, columns=[...])"
        )
    small = (pl.Float32, pl.Int8, pl.Int16, pl.UInt8, pl.UInt16, pl.Boolean)
    fits = path.suffix == ".parquet" and all(schema[name] in small for name in names)
    target = pl.Float32 if fits else pl.Float64
    if path.suffix == ".csv":  # a column may start with whole numbers and go on with others
        frame = pl.scan_csv(path, schema_overrides=dict.fromkeys(names, pl.Float64))
    else:
        frame = pl.scan_parquet(path)
    return (
        frame.select(pl.col(name).cast(target) for name in names),
        names,
        np.dtype(np.float32 if fits else np.float64),
    )


def _write_pieces(frame: Any, names: tuple[str, ...], kind: np.dtype[Any], copy: Path) -> int:
    """Write a table's numbers row by row, and return how many rows there are."""
    from polars.exceptions import PolarsError

    length = 0
    try:
        with copy.open("wb") as file:
            for batch in frame.collect_batches(chunk_size=PIECE):
                piece = np.ascontiguousarray(batch.to_numpy(), dtype=kind)  # null becomes NaN
                refuse_infinite(piece, np.arange(length, length + len(piece)), names)
                piece.tofile(file)
                length += len(piece)
    except PolarsError as error:
        raise ValueError(f"candidates must be a table of numbers: {error}") from error
    return length


def refuse_infinite(rows: Points, ids: Ints, names: tuple[str, ...] | None = None) -> None:
    """Refuse rows (n × d) of a list with a number that is missing, NaN or infinite."""
    if np.isfinite(rows).all():
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
