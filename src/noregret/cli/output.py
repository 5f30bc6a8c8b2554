"""Where a command writes its table: stdout, or a file that is replaced once all is written."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Self


class Output:
    """A file to be written, or standard output.

    A file is written under another name. :meth:`keep` gives it its own name; otherwise it is
    deleted.

    Parameters
    ----------
    path
        The file; ``None`` for standard output.
    """

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)
        self._new: Path | None = None

    def __enter__(self) -> Self:
        return self

    def write(self, write_to: Callable[[IO[str]], None]) -> None:
        """Write everything; all of it is flushed, or on disk, when this returns."""
        if self._path is None:
            write_to(sys.stdout)
            sys.stdout.flush()
            return
        if self._path.is_dir():
            raise IsADirectoryError(f"{self._path} is a folder: name a file")
        place = self._path
        if place.is_file() or not place.exists():
            place = self._new = place.with_name(f".{place.name}.{os.getpid()}.new")
        with place.open("w", newline="", encoding="utf-8") as file:
            write_to(file)
            file.flush()
            if self._new is not None:
                os.fsync(file.fileno())

    def keep(self) -> None:
        """Put the file in its place."""
        if self._new is not None and self._path is not None:
            self._new.replace(self._path)
            self._new = None

    def __exit__(self, *exception: object) -> None:
        if self._new is not None:
            self._new.unlink(missing_ok=True)
