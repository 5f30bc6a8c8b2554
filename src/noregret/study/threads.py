"""Studies that threads share."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Args = ParamSpec("Args")
Given = TypeVar("Given")


def one_at_a_time(method: Callable[Args, Given]) -> Callable[Args, Given]:
    """A method of a study that no two threads run at the same time."""

    @wraps(method)
    def alone(*arguments: Args.args, **options: Args.kwargs) -> Given:
        with arguments[0]._mutex:  # type: ignore[attr-defined]
            return method(*arguments, **options)

    return alone
