"""What can go wrong with a study's file."""


class StudyError(ValueError):
    """A study cannot do what it was asked to; nothing has been changed."""


class LockedError(StudyError):
    """Another process is writing to the study."""


class DamagedError(StudyError):
    """The file is not a study, or is damaged."""


class FullError(StudyError):
    """The disk is full (or the file may not grow); the call left nothing behind."""
