"""A finite list of candidates."""

import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.spaces import sources
from noregret.spaces.given import object_vector, opened
from noregret.spaces.rows import rows_of
from noregret.spaces.sources import Opened

if TYPE_CHECKING:
    from noregret.spaces.shards import Progress, Shards


class Candidates:
    """A finite list of choices, known by their row numbers (ids) 0 .. n-1.

    Parameters
    ----------
    points
        An n × d array, a list of rows, a vector (n choices in one dimension), a pandas or polars
        frame, or a list of Python objects (strings, graphs, …). For files see :meth:`open`.

        - Objects need a kernel that is a callable ``k(xs, ys) -> matrix``.
        - A float32 array stays float32. A uint8 array means packed bits (n × bytes, as
          :func:`numpy.packbits` makes them) for :class:`~noregret.Tanimoto`, and numbers for other
          kernels.
        - In a frame, a column of words (at most 100 different ones) becomes one coordinate for each
          word, and yes and no become 1 and 0. Functions of one choice get a dict of the frame's own
          values by column.
        - No copy is made of an array that is mapped from a file, of a float64, float32 or uint8
          array that nobody can change (``array.flags.writeable = False``), and of an object that
          has a length and gives rows of numbers for a slice.
    objects
        Treat the entries as opaque objects even where they look like numbers or rows. The rows of a
        frame become dicts by column.

    Attributes
    ----------
    points
        n × d floats, or a vector of n objects. Read only. If the points are not in memory, this is
        an object with a length, ``shape`` and ``dtype`` that is indexed by an id, a slice or an
        array of ids.
    names
        The names of the coordinates if a frame or a table was given, else ``None``.
    origin
        The place of the file, for lists that are in a file.
    frame
        The values as a polars frame, if a frame was given; users' functions see its rows.
    encoder
        How columns became coordinates, if columns have names. Later rows are encoded the same way.
    shards
        The parts of a list that other machines hold (:meth:`on`), else ``None``.
    """

    encoded = False
    categories: tuple[int, ...] = ()

    def __init__(self, points: Any, *, objects: bool = False) -> None:
        found = points if isinstance(points, Opened) else opened(points, objects).warned(2)
        if len(found.points) == 0:
            raise ValueError("candidates must not be empty")
        self.points: Points = found.points
        if isinstance(self.points, np.ndarray):
            self.points = self.points.view()
            self.points.flags.writeable = False
        self.names = found.names
        self.origin = found.origin
        self.frame: Any = found.frame
        self.encoder = found.encoder
        self.shards: Shards | None = None
        self._finite = found.finite
        self._corners: Points | None = None
        self._close = found.close and weakref.finalize(self, found.close)

    @classmethod
    def open(
        cls, source: Any, *, columns: Sequence[str] | None = None, folder: str | None = None
    ) -> Self:
        """A list in a file, or any lazy sequence, that need not fit into memory.

        An ``.npy`` file is mapped: nothing is read now. Other tables (Parquet, CSV of any kind,
        spreadsheets) are read a piece at a time, and their numbers are copied to a temporary file,
        which is mapped: candidates are read in any order, and tables do not allow that.
        Words become coordinates as in a frame. The copy takes 4 bytes a number
        where every column is float32 or a short integer, else 8. It is removed by :meth:`close`,
        and when the list is no longer used. Missing, NaN and infinite numbers are refused with
        their row and column, in an ``.npy`` file where they are looked at.

        Parameters
        ----------
        source
            A path that ends in ``.npy``, ``.parquet``, ``.csv``, ``.tsv`` or ``.xlsx``; or an
            object that has a length and gives rows for slices, such as an HDF5 data set.
        columns
            The columns of a table to use; all by default.
        folder
            Where the temporary copy is put; the system's folder for temporary files by default.
        """
        return cls(sources.open_source(source, columns, folder).warned(2))

    @classmethod
    def reopen(cls, origin: dict[str, Any]) -> Self:
        """The list that has this :attr:`origin`; refused where its file is gone or has changed."""
        return cls(sources.reopen(origin))

    @classmethod
    def on(
        cls,
        client: Any,
        source: Any,
        *,
        parts: int | None = None,
        columns: Sequence[str] | None = None,
        folder: str | None = None,
        progress: "Progress | None" = None,
    ) -> Self:
        """A list whose parts are held by the workers of a Dask cluster.

        Every part keeps the bounds of its own candidates, and sends only the candidates with the
        largest ones. Picks are the same as on one machine, bit for bit. The part of a worker that
        dies is loaded again by another one.

        Parameters
        ----------
        client
            A ``distributed.Client``.
        source
            Paths of ``.npy``, ``.parquet`` or ``.csv`` files that every worker can read, one for
            each part, with rows numbered in this order; or an n × d array, which is cut.
        parts
            How many parts an array is cut into; by default one for each worker.
        columns, folder
            As for :meth:`open`, on the workers.
        progress
            Called with the parts loaded and their number; by default a line on standard error where
            loading takes more than two seconds.
        """
        from noregret.spaces.shards import connect

        held = connect(client, source, parts, columns, folder, progress)
        made = cls(held.opened())
        made.shards = held
        return made

    def close(self) -> None:
        """Remove the temporary copy of a table, or let the workers forget the parts."""
        if self._close is not None:
            self._close()

    @property
    def are_objects(self) -> bool:
        """Whether the choices are Python objects rather than rows of numbers."""
        return self.points.dtype == object

    @property
    def are_bits(self) -> bool:
        """Whether the rows are bytes: packed bits, for kernels that take them."""
        return self.points.dtype == np.uint8

    @property
    def size(self) -> int:
        """The number of candidates."""
        return len(self)

    @property
    def dimension(self) -> int | None:
        """d, or ``None`` for objects."""
        return None if self.are_objects else int(self.points.shape[1])

    @property
    def corners(self) -> Points:
        """The corners of the bounding box (2 × d); all objects of a list of objects."""
        if self.are_objects:
            return self.points
        if self._corners is None:
            if self.shards is None:
                self._corners = sources.bounding_box(self.at, len(self))
            else:
                self._corners = self.shards.corners()
        return self._corners

    @property
    def nothing(self) -> Points:
        """No points (0 × d), or no objects."""
        if self.are_objects or self.are_bits:
            return self.points[:0]
        return np.empty((0, self.points.shape[1]))

    def at(self, ids: Ints) -> Points:
        """The points of these ids (n × d, float64; bytes of packed bits as they are)."""
        return self.as_points(ids, self.points[ids])

    def as_points(self, ids: Ints, rows: Points) -> Points:
        """The rows read for these ids, as float64 or bytes; refused where they are not finite."""
        if self.are_objects:
            return rows
        if not self._finite:
            sources.refuse_infinite(rows, ids, self.names)
        return rows if self.are_bits else np.asarray(rows, dtype=np.float64)

    def numbers(self) -> "Candidates":
        """The same list with the bytes of packed bits as numbers; itself where there are none."""
        return Candidates(self.points.astype(np.float64)) if self.are_bits else self

    def locate(self, given: Any) -> tuple[Ints, Points]:
        """The ids (n) and points of row numbers, checked."""
        ids = _checks.ids(given, len(self))
        return ids, self.at(ids)

    def some(self, given: Any) -> Ints:
        """The ids of row numbers, checked; in rising order, each once."""
        return np.unique(self.locate(given)[0])

    def any_points(self, given: Any) -> Points:
        """Points like those of the list (n × d, or n objects), on it or not, checked."""
        if self.are_objects:
            return object_vector(rows_of(given) if hasattr(given, "columns") else list(given))
        if self.encoder is not None and not isinstance(given, np.ndarray):
            from noregret.spaces.frames import encode_like, frame_of  # polars is slow to import

            frame = frame_of(given)
            if frame is not None:
                return encode_like("points", frame, self.encoder)
        found = _checks.rows_of_numbers(given, self.points.shape[1])
        if not self.are_bits:
            return found
        if not np.array_equal(found, found.astype(np.uint8)):
            raise ValueError("points must be packed bits, whole numbers from 0 to 255")
        return found.astype(np.uint8)

    def locate_all(self) -> tuple[Ints, Points]:
        """All ids and points; points that are not float64 in memory are read when sliced."""
        ready = self._finite and self.points.dtype in (np.float64, np.uint8, object)
        return np.arange(len(self)), self.points if ready else cast(Points, _Vectors(self))

    def references(self, ids: Any, points: Any) -> Any:
        """What names choices in calls of an optimiser: their ids."""
        return ids

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Ints, Points]:
        """n ids uniformly at random, with replacement, and their points."""
        ids = rng.integers(len(self), size=n)
        return ids, self.at(ids)

    def spread(self, n: int, rng: np.random.Generator) -> Points:
        """The points of up to n different ids, drawn at random."""
        return self.at(rng.choice(len(self), min(n, len(self)), replace=False))

    def pack(self, ids: Ints, points: Points) -> list[tuple[int, bytes | None]]:
        """The bytes that a file stores for each choice: its id."""
        return [(int(id_), None) for id_ in ids]

    def unpack(self, packed: list[tuple[int, bytes | None]]) -> Ints:
        """The ids that :meth:`pack` stored (n)."""
        return np.array([id_ for id_, _ in packed], dtype=np.int64)

    def labels(self, ids: Ints, points: Sequence[Any] | Points) -> list[Any]:
        """What a user's function gets for choices (n): dicts if columns have names, else points."""
        if self.frame is not None:
            rows: list[Any] = self.frame[np.asarray(ids)].rows(named=True)
            return rows
        if self.encoder is not None:
            array = np.asarray(points, dtype=np.float64)
            return self.encoder.decode(array.reshape(len(points), -1)) if len(points) else []
        # A row of a mapped file is copied: it would keep the file open.
        return [np.array(one) if isinstance(one, np.memmap) else one for one in points]

    @property
    def in_memory(self) -> bool:
        """Whether the points are an array that is neither in a file nor on a cluster."""
        return self.origin is None and isinstance(self.points, np.ndarray)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, ids: Any) -> Any:
        """The points of these ids."""
        return self.points[ids]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.points)

    def __deepcopy__(self, memo: Any) -> "Candidates":
        """A list never changes, so copies of its owner share it."""
        return self

    def __reduce__(self) -> Any:
        """A list in a file is sent to other processes as the place of the file."""
        return super().__reduce__() if self.origin is None else (type(self).reopen, (self.origin,))

    def __repr__(self) -> str:
        what = "objects" if self.are_objects else f"× {self.dimension}"
        return f"Candidates({len(self)} {what})"


class _Vectors:
    """The points of a list (n × d) as float64, read when they are sliced."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates

    def __len__(self) -> int:
        return len(self._candidates)

    def __getitem__(self, rows: slice) -> Floats:
        ids = np.arange(*rows.indices(len(self)))
        return self._candidates.as_points(ids, self._candidates.points[rows])
