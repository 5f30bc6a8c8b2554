"""What can go wrong with a study."""


class StudyError(ValueError):
    """A study cannot do what it was asked to; nothing has been changed."""


class LockedError(StudyError):
    """Another process is writing to the study."""


class DamagedError(StudyError):
    """The file is not a study, or is damaged."""


class FullError(StudyError):
    """The disk is full (or the file may not grow); the call left nothing behind."""


class RunError(StudyError):
    """A run stopped before its budget was spent; the study can go on."""
