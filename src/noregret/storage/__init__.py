"""Where a study lives: one SQLite file, one writer, any number of readers."""

from noregret.storage.errors import DamagedError, FullError, LockedError, StudyError
from noregret.storage.sqlite import Storage

__all__ = ["DamagedError", "FullError", "LockedError", "Storage", "StudyError"]
