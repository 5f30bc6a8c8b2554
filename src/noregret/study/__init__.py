"""How does it run for real? A durable ask and tell in one SQLite file, and what runs it."""

from noregret.study.errors import DamagedError, FullError, LockedError, RunError, StudyError
from noregret.study.study import Study

__all__ = ["DamagedError", "FullError", "LockedError", "RunError", "Study", "StudyError"]
