"""Where a command writes its table: stdout, or a file that is replaced once all is written.

No command may write over the study that it reads, over files that belong to it, or over the file
of its candidates.
"""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

if TYPE_CHECKING:
    from noregret.study import Study

#: what the names of files that belong to a study end in: SQLite's, the lock, a study in the making
_BESIDE = ("-wal", "-shm", "-journal", "-lock", "-lock-journal", "-new", "-new-journal")
#: how SQLite's files, and so all studies, begin
_SQLITE = b"SQLite format 3\0"


class Output:
    """A file to be written, or standard output.

    A file is written under another name. :meth:`keep` gives it its own name; otherwise it is
    deleted.

    Parameters
    ----------
    path
        The file; ``None`` for standard output.
    study
        The study that the command reads. Its own files, and any other study, are refused.
    """

    def __init__(self, path: str | None, study: str) -> None:
        self._path = None if path is None else Path(path)
        self._new: Path | None = None
        if self._path is not None:
            _refuse_studies(self._path, Path(study))
            if self._path.is_symlink() and self._path.is_file():
                self._path = self._path.resolve()

    def __enter__(self) -> Self:
        return self

    def spare_candidates(self, study: "Study") -> None:
        """Refuse the file that the study's candidates are in, or were read from."""
        if self._path is None:
            return
        for file in _candidate_files(study):
            if _same(self._path, file):
                raise ValueError(
                    f"{self._path} holds the candidates of {study.path}, and was not replaced: "
                    "name another file"
                )

    def write(self, write_to: Callable[[IO[str]], None]) -> None:
        """Write everything as text; all of it is flushed, or on disk, when this returns."""
        if self._path is None:
            # In a pipe the text is that of a file; a terminal shows its own encoding.
            if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
                sys.stdout.reconfigure(encoding="utf-8")
            write_to(sys.stdout)
            sys.stdout.flush()
            return
        _refuse_other_formats(self._path)
        with self._place() as place, place.open("w", newline="", encoding="utf-8") as file:
            write_to(file)
            file.flush()
            if self._new is not None:
                os.fsync(file.fileno())

    def write_file(self, write_to: Callable[[Path], None]) -> None:
        """Let a function write the file that it is given."""
        with self._place() as place:
            write_to(place)

    @contextmanager
    def _place(self) -> Iterator[Path]:
        """The file to write to; errors name the one that the user gave."""
        assert self._path is not None
        if self._path.is_dir():
            raise IsADirectoryError(f"{self._path} is a folder: name a file")
        place = self._path
        if place.is_file() or not place.exists():
            place = self._new = place.with_name(f".{place.name}.{os.getpid()}.new")
        try:
            yield place
        except OSError as error:
            if error.filename == str(place):
                error.filename = str(self._path)
            raise

    def keep(self) -> None:
        """Put the file in its place."""
        if self._new is not None and self._path is not None:
            self._new.replace(self._path)
            self._new = None

    def __exit__(self, *exception: object) -> None:
        if self._new is not None:
            # In a read-only folder this fails too, and would hide why nothing was written.
            with suppress(OSError):
                self._new.unlink(missing_ok=True)


def _refuse_other_formats(path: Path) -> None:
    """Refuse to write text under a name by which programs would read it as something else."""
    from noregret.spaces.tables import EXCEL, PARQUET

    if path.suffix.lower() in (*EXCEL, *PARQUET):
        raise ValueError(
            f"{path} would hold text, which no program reads under this name: name it "
            f"{path.with_suffix('.csv')}, which spreadsheets open too"
        )


def _refuse_studies(path: Path, study: Path) -> None:
    """Refuse to write over a study, or over a file that belongs to the one that is read."""
    real = study.resolve()
    own = [study, *(real.with_name(real.name + end) for end in _BESIDE)]
    if any(_same(path, one) for one in own):
        what = "is the study itself" if _same(path, study) else f"belongs to the study {study}"
        raise ValueError(f"{path} {what}, and was not replaced: name another file")
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) == _SQLITE:
                raise ValueError(
                    f"{path} is a study, or another database, and was not replaced: name another "
                    "file"
                )


def _candidate_files(study: "Study") -> list[Path]:
    """Files that the candidates are in, or were read from.

    Relative paths may start at the current folder or at the study's.
    """
    try:
        origin = getattr(study.domain, "origin", None) or {}
    except (ValueError, OSError):  # the file is gone, or the study is damaged
        origin = {}
    named = [study.settings["about"].get("candidates"), origin.get("path")]
    given = [Path(one) for one in named if isinstance(one, str)]
    return [*given, *(study.path.resolve().parent / one for one in given)]


def _same(first: Path, second: Path) -> bool:
    """Whether two names stand for one file, also if it does not exist."""
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()
