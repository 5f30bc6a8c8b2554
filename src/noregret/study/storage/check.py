"""Whether everything in a study's file is as it was written, and which trials are not."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from noregret.study.errors import DamagedError
from noregret.study.storage.added_candidates import additions, get_addition
from noregret.study.storage.file import StudyFile
from noregret.study.storage.salvage import salvage
from noregret.study.storage.storage import Storage

#: how many trials are read at once
_CHUNK = 20_000


@dataclass
class Checked:
    """What a check found.

    Attributes
    ----------
    trials, operations
        How many of each the study has, if the file still says so.
    problems
        What is damaged, in words; empty if all checksums hold.
    damaged
        Numbers of the trials that are missing or not as they were written; ``None`` if the file
        says nothing of them.
    """

    trials: int | None = None
    operations: int | None = None
    problems: list[str] = field(default_factory=list)
    damaged: list[int] | None = field(default_factory=list)

    def note(self, look: Callable[[], object]) -> bool:
        """Whether ``look`` succeeds; if not, the problem is noted."""
        try:
            look()
        except DamagedError as error:
            if error.why not in self.problems:
                self.problems.append(error.why)
            return False
        return True


def check_file(path: str | Path) -> Checked:
    """Compare everything in a study's file with its checksums; nothing is changed.

    A file that is not a study, or has another format, is refused.
    """
    path, found = Path(path), Checked()
    with contextlib.ExitStack() as stack:
        files: list[StudyFile] = []
        if found.note(lambda: files.append(StudyFile.open(path, write=False))):
            (file,) = files
            stack.callback(file.close)
            stack.enter_context(file.transaction())
            _check_parts(file, found)
        if found.problems:
            found.damaged = _damaged(path, files[0].storage if files else None, found)
    return found


def _check_parts(file: StudyFile, found: Checked) -> None:
    storage = file.storage
    head = storage.head()  # it was read when the file was opened
    found.trials, found.operations = head.trials, head.operation
    found.note(file.check)
    looks: list[Callable[[], object]] = [
        storage.settings,
        storage.events,
        storage.operations,
        lambda: [None for _ in storage.trial_chunks()],
        storage.pending_trials,
        lambda: storage.get_blob("start"),
        lambda: storage.get_blob("table"),
        lambda: [get_addition(storage, number) for number, _ in additions(storage)],
    ]
    for look in looks:
        found.note(look)
    for number in storage.snapshots():
        found.note(partial(storage.get_snapshot, number))


def _damaged(path: Path, storage: Storage | None, found: Checked) -> list[int] | None:
    """The trials that are missing or have changed."""
    if storage is not None and found.trials is not None:
        with contextlib.suppress(DamagedError):
            return sorted(_unreadable(storage, found.trials))
    try:
        return salvage(path).lost
    except DamagedError:
        return None


def _unreadable(storage: Storage, count: int) -> Iterator[int]:
    """Numbers of the trials that cannot be read, found by halving the range."""
    storage.head()
    spans = [(first, min(first + _CHUNK, count)) for first in range(0, count, _CHUNK)]
    while spans:
        first, end = spans.pop()
        try:
            if len(storage.find_trials(range(first, end))) == end - first:
                continue
        except DamagedError:
            pass
        if end - first == 1:
            yield first
        else:
            middle = (first + end) // 2
            spans += [(first, middle), (middle, end)]
