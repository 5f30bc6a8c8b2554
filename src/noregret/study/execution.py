"""Running a study: workers kept full, failures written down, external programs."""

from noregret.study.command import Command, CommandError
from noregret.study.runner import Progress, RunError, run_study

__all__ = ["Command", "CommandError", "Progress", "RunError", "run_study"]
