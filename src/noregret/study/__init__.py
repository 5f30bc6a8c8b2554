"""Durable ask and tell in one SQLite file, and the runs that evaluate functions.

``study.py`` is the :class:`Study`: ask, tell, run, and what is known. ``storage/`` is its file,
``evaluating/`` its runs. ``maximize.py`` has the one-line functions ``maximize`` and ``minimize``:
the same runs, on a study in memory, or in a file (``resume.py``). A trial and what it stands for
are in ``trials.py``, the values that answer it in ``answers.py``.
"""

from typing import TYPE_CHECKING, Any

from noregret.study.errors import DamagedError, FullError, LockedError, RunError, StudyError

if TYPE_CHECKING:
    from noregret.study.study import Study

__all__ = ["DamagedError", "FullError", "LockedError", "RunError", "Study", "StudyError"]


def __getattr__(name: str) -> Any:
    if name == "Study":  # runs in memory need no files
        from noregret.study.study import Study

        return Study
    raise AttributeError(f"module 'noregret.study' has no attribute {name!r}")
