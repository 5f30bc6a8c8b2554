"""What can go wrong with a study."""

from pathlib import Path
from typing import Any


class StudyError(ValueError):
    """A study cannot do what it was asked to; nothing has been changed."""


class LockedError(StudyError):
    """Another process is writing to the study."""


class DamagedError(StudyError):
    """The file is not a study, or is damaged.

    Attributes
    ----------
    why
        What is damaged.
    """

    why = "it cannot be read"

    @classmethod
    def of(cls, path: Path, why: str) -> "DamagedError":
        """What is wrong with a study's file, and how to save the rest."""
        made = cls(
            f"{path} is damaged, or not a study: {why}. To save the trials that can still be read: "
            f"noregret export {path} --salvage --to csv"
        )
        made.why = why
        return made


class FullError(StudyError):
    """The disk is full (or the file may not grow); the call left nothing behind."""


class RunError(StudyError):
    """A run stopped before its budget was spent; the study can go on.

    Raised by :func:`noregret.maximize`, it holds what was found until then as ``result``.
    """

    result: Any = None
