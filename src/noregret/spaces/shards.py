"""Lists that the workers of a Dask cluster hold in parts.

A part is a Dask actor, a :class:`Shard`: an object on a worker that holds the points of its rows
and other objects kept for them. When its worker dies, the part is loaded again from its source on
another worker. The other objects are lost with the worker, and their owner makes them again.
"""

import os
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.spaces import sources
from noregret.spaces.candidates import Candidates
from noregret.spaces.sources import Opened

#: called with the parts loaded so far and their number
Progress = Callable[[int, int], None]
#: a method and its arguments
Call = tuple[Any, ...]

#: the answer of a part that was loaded again, when it is asked for an object that it has lost
NOT_KEPT = "not kept"

#: loading is reported where it takes longer than this (seconds)
_SLOW = 2.0
#: how long an answer may take before the worker is checked (seconds)
_PATIENCE = 1.0
#: how often in a row a part may be lost
_TRIES = 5


class Shard:
    """The rows of one part, on a worker.

    Parameters
    ----------
    source
        A path that the worker can read, or an array of rows.
    columns, folder
        As for :meth:`noregret.Candidates.open`.
    """

    def __init__(
        self, source: str | Points, columns: Sequence[str] | None, folder: str | None
    ) -> None:
        if isinstance(source, str):
            self._candidates = Candidates.open(source, columns=columns, folder=folder)
        else:
            self._candidates = Candidates(source)
        self._kept: dict[str, Any] = {}

    def about(self) -> tuple[tuple[int, int], np.dtype[Any], tuple[str, ...] | None, Any]:
        """The shape and the type of the points, the coordinates' names, and how they are made."""
        own, points = self._candidates, self._candidates.points
        return (points.shape[0], points.shape[1]), points.dtype, own.names, own.encoder

    def rows(self, ids: Ints) -> Points:
        """The points of some rows of this part (n × d), as they are stored."""
        return np.asarray(self._candidates.points[ids])

    def corners(self) -> Floats:
        """The corners of the bounding box (2 × d)."""
        return self._candidates.corners

    def keep(self, key: str, make: Callable[..., Any], given: Call, dropped: list[str]) -> None:
        """Keep ``make(candidates, *given)`` under a key, and forget what other keys hold."""
        for old in dropped:
            self._kept.pop(old, None)
        self._kept[key] = make(self._candidates, *given)

    def ask(self, key: str, method: str, *given: Any) -> Any:
        """Call a method of what is kept under a key."""
        if key not in self._kept:
            return NOT_KEPT
        return getattr(self._kept[key], method)(*given)


class Shards:
    """The parts of a list, from the machine of the optimiser.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    given
        The sources of the parts, paths or arrays, in the order of the rows.
    columns, folder
        As for :meth:`noregret.Candidates.open`.
    progress
        Called with the parts loaded so far and their number.

    Attributes
    ----------
    offsets
        The id of the first row of every part, and the length of the list (parts + 1).
    dropped
        Keys of objects that the parts need not keep any longer.
    futures
        Dask's handles of the parts.
    """

    def __init__(
        self,
        client: Any,
        given: Sequence[str | Points],
        columns: Sequence[str] | None,
        folder: str | None,
        progress: Progress,
    ) -> None:
        self._client, self._sources = client, list(given)
        self._options = (columns, folder)
        self.dropped: list[str] = []
        self._unread: dict[int, list[Any]] = {}  # calls whose answers nobody has waited for
        self.futures = [self._submit(part) for part in range(len(given))]
        self._actors = []
        for part, future in enumerate(self.futures):
            self._actors.append(future.result())
            progress(part + 1, len(given))
        about = list(self.gather(dict.fromkeys(range(len(given)), ("about",))).values())
        self._check(about)
        shapes, kinds, names, encoders = zip(*about, strict=True)
        self.offsets: Ints = np.cumsum([0, *(rows for rows, _ in shapes)])
        self._dimension = shapes[0][1]
        self._kind = np.result_type(*kinds)
        self._columns = {"names": names[0], "encoder": encoders[0]}

    def __len__(self) -> int:
        return len(self._sources)

    def _submit(self, part: int) -> Any:
        source = self._sources[part]
        if not isinstance(source, str):
            source = self._client.scatter(source, hash=False)
        return self._client.submit(Shard, source, *self._options, actor=True, pure=False)

    def _check(self, about: list[Any]) -> None:
        """Refuse parts that do not fit together."""
        (_, dimension), _, names, _ = about[0]
        for part, ((_, other), _, own, _) in enumerate(about):
            if other != dimension or own != names:
                raise ValueError(
                    f"parts must have the same columns: part 0 has {names or dimension}, part "
                    f"{part} has {own or other}"
                )

    def opened(self) -> Opened:
        """The list as a whole."""
        rows = ShardedRows(self, (int(self.offsets[-1]), self._dimension), self._kind)
        made = cast(Points, rows)
        return Opened(made, finite=False, close=self.close, **self._columns)

    def close(self) -> None:
        """Let the workers forget the parts."""
        self.futures.clear()
        self._actors.clear()

    def corners(self) -> Floats:
        """The corners of the bounding box (2 × d): each part finds its own."""
        every = np.array(list(self.gather(dict.fromkeys(range(len(self)), ("corners",))).values()))
        return np.stack([every[:, 0].min(axis=0), every[:, 1].max(axis=0)])

    def split(self, ids: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """Each part that holds some of these ids, their positions, and their rows in the part."""
        part_of = np.searchsorted(self.offsets, ids, side="right") - 1
        for part in np.unique(part_of).tolist():
            where = np.flatnonzero(part_of == part)
            yield part, where, ids[where] - self.offsets[part]

    def rows(self, ids: Ints) -> Points:
        """The points of some ids (n × d), as they are stored."""
        out = np.empty((len(ids), self._dimension), dtype=self._kind)
        pieces = list(self.split(ids))
        answers = self.gather({part: ("rows", rows) for part, _, rows in pieces})
        for part, where, _ in pieces:
            out[where] = answers[part]
        return out

    def send(self, calls: Mapping[int, Call]) -> None:
        """Call a method of some parts, and do not wait for them.

        A call that a dying worker did not answer is not repeated.
        """
        for part, (method, *given) in calls.items():
            try:
                self._unread.setdefault(part, []).append(self._call(part, method, given))
            except OSError:
                self._load_again(part)

    def gather(self, calls: Mapping[int, Call]) -> dict[int, Any]:
        """Call a method of some parts at once, and wait for their answers.

        A part that is lost on the way is loaded again, and asked again.
        """
        self._settle(calls)
        answers, left = {}, dict(calls)
        for _ in range(_TRIES):
            started = {}
            for part, (method, *given) in left.items():
                try:
                    started[part] = self._call(part, method, given)
                except OSError:
                    self._load_again(part)
            for part, call in started.items():
                try:
                    answers[part] = self._answer(part, call)
                except OSError:
                    self._load_again(part)
            left = {part: call for part, call in left.items() if part not in answers}
            if not left:
                return {part: answers[part] for part in calls}
        raise RuntimeError(f"part {min(left)} of the list was lost {_TRIES} times in a row")

    def _settle(self, parts: Mapping[int, Any]) -> None:
        """Wait for what was sent earlier, so that calls of a part never overtake each other."""
        for part in parts:
            for call in self._unread.pop(part, []):
                try:
                    self._answer(part, call)
                except OSError:
                    self._load_again(part)
                    break

    def _call(self, part: int, method: str, given: Sequence[Any]) -> Any:
        if not self._actors:
            raise ValueError("these candidates have been closed: their parts are gone")
        if self.futures[part].status != "finished":
            raise ConnectionError("the worker is gone")
        try:
            call = getattr(self._actors[part], method)
        except RuntimeError as error:  # the worker died since its status was read
            raise ConnectionError("the worker is gone") from error
        return call(*given)

    def _answer(self, part: int, call: Any) -> Any:
        """What a call returned; the worker is checked, as Dask may wait for ever for a dead one."""
        while True:
            try:
                return call.result(timeout=_PATIENCE)
            except TimeoutError:
                if self.futures[part].status != "finished":
                    raise ConnectionError("the worker is gone") from None

    def _load_again(self, part: int) -> None:
        self._unread.pop(part, None)
        self.futures[part] = self._submit(part)
        self._actors[part] = self.futures[part].result()


class Keeper:
    """Objects that the parts keep beside their points, one in each part.

    Parameters
    ----------
    parts
        The parts.
    make
        ``make(candidates, *given)`` makes the object of a part, on its worker.
    prior
        The arguments for ``make`` when a part has been loaded again.
    given
        The arguments for ``make`` at first, one tuple for each part; ``prior`` by default.

    Attributes
    ----------
    key
        The key of the objects.
    """

    def __init__(
        self,
        parts: Shards,
        make: Callable[..., Any],
        prior: Call,
        given: Sequence[Call] | None = None,
    ) -> None:
        self.parts = parts
        self._lost: list[int] = []
        self._make, self._prior = make, prior
        self.key = os.urandom(16).hex()
        first = given or [prior] * len(parts)
        dropped = parts.dropped.copy()
        parts.dropped.clear()
        parts.gather(
            {part: ("keep", self.key, make, one, dropped) for part, one in enumerate(first)}
        )
        weakref.finalize(self, parts.dropped.append, self.key)

    def ask(self, calls: Mapping[int, Call]) -> dict[int, Any]:
        """Call a method of some parts' objects; those of parts loaded again are started again."""
        answers = self.parts.gather({part: self._to(call) for part, call in calls.items()})
        # Not by `==`: answers are arrays.
        again = [
            p for p, answer in answers.items() if isinstance(answer, str) and answer == NOT_KEPT
        ]
        if again:
            self._lost += again
            start: Call = ("keep", self.key, self._make, self._prior, [])
            self.parts.gather(dict.fromkeys(again, start))
            answers |= self.ask({part: calls[part] for part in again})
        return answers

    def send(self, calls: Mapping[int, Call]) -> None:
        """Call a method of some parts' objects, and do not wait for them."""
        self.parts.send({part: self._to(call) for part, call in calls.items()})

    def ask_all(self, *call: Any) -> list[Any]:
        """Call a method of every part's object, and give the answers in the order of the parts."""
        return list(self.ask(dict.fromkeys(range(len(self.parts)), call)).values())

    def pop_lost(self) -> list[int]:
        """The parts that were started again since this was last called."""
        lost, self._lost = self._lost, []
        return lost

    def _to(self, call: Call) -> Call:
        return ("ask", self.key, *call)


class ShardedRows:
    """The points of a list in parts, fetched when they are indexed.

    Attributes
    ----------
    shape, dtype
        As of an array (n × d).
    """

    def __init__(self, parts: Shards, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self._parts, self.shape, self.dtype = parts, shape, dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Points:
        """The row of an id (d), or the rows of a slice or of ids (n × d)."""
        return sources.read_rows(rows, len(self), self._span, self._parts.rows)

    def _span(self, start: int, stop: int) -> Points:
        return self._parts.rows(np.arange(start, stop))


def connect(
    client: Any,
    source: Any,
    parts: int | None,
    columns: Sequence[str] | None,
    folder: str | None,
    progress: Progress | None,
) -> Shards:
    """The parts of a list; see :meth:`noregret.Candidates.on`."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "lists in parts need Dask: install it with pip install 'noregret[dask]'"
        ) from error
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(f"client must be a distributed.Client that is not asynchronous: {client!r}")
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if isinstance(source, (list, tuple)) and all(isinstance(s, (str, os.PathLike)) for s in source):
        if parts is not None or not source:
            raise ValueError("parts is the number of pieces of an array; give one file for a part")
        given: list[str | Points] = [os.path.abspath(path) for path in source]
    else:
        given = _cut(source, parts, len(client.scheduler_info()["workers"]))
    return Shards(client, given, columns, folder, progress or _Line())


def _cut(source: Any, parts: int | None, workers: int) -> list[str | Points]:
    """The rows of an array in pieces of about the same length."""
    whole = Candidates(source)
    if whole.are_objects or not isinstance(whole.points, np.ndarray):
        raise TypeError("source must be paths of files, or an n × d array of numbers")
    count = max(workers, 1) if parts is None else _checks.count("parts", parts)
    if count > len(whole):
        raise ValueError(f"parts must be at most the {len(whole)} candidates, got {count}")
    return [np.asarray(piece) for piece in np.array_split(whole.points, count)]


class _Line:
    """A line on standard error that counts the parts loaded, where loading is slow."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False

    def __call__(self, loaded: int, parts: int) -> None:
        self._shown = self._shown or time.monotonic() - self._start > _SLOW
        if self._shown:
            end = "\n" if loaded == parts else ""
            print(f"\r{loaded} of {parts} parts loaded", end=end, file=sys.stderr, flush=True)
