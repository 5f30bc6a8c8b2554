"""Why evaluations failed: as text that a file can hold, and in one line."""

import re
import traceback

#: how many characters the reason of a failure may have
LONGEST_REASON = 10_000
#: how many characters of a long traceback, and of a line that names an error, are kept
_KEPT, _LONGEST_LINE = 8_000, 500
#: how Python's tracebacks begin, and what stands between those of chained errors
_HEAD = "Traceback (most recent call last):"
_CHAINED = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
#: a line that has the type of an error and nothing of its message
_TYPE = re.compile(r"[\w.]+: *")


class ExplainedError(RuntimeError):
    """An evaluation failed; the text says all about it, and its last line what went wrong."""


def reason_of(error: BaseException) -> str:
    """Why an evaluation failed: a traceback, or the text that explains it."""
    if isinstance(error, ExplainedError):
        return storable(str(error))
    text = storable("".join(traceback.format_exception(error)))
    named = _name(_escaped("".join(traceback.format_exception_only(error))).splitlines())
    if in_one_line(text) == named:
        return text
    return f"{text.rstrip()}\n\n{named}"  # of a text that was cut, the last line counts


def storable(reason: str) -> str:
    """A reason without characters that no file can hold; of a long one the end."""
    text = _escaped(reason)
    return text if len(text) <= _KEPT else f"… {text[-_KEPT:]}"


def _escaped(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def in_one_line(reason: str | None) -> str:
    """The type and the first line of a traceback's error; of other reasons the last line."""
    lines = (reason or "").strip().splitlines()
    if not lines:
        return ""
    after = [i for i, line in enumerate(lines, 1) if line in _CHAINED]
    last = [line for line in lines[after[-1] if after else 0 :] if line.strip()]
    if len(last) > 1 and last[0] == _HEAD:
        return _name(last[1:])
    return lines[-1][:_LONGEST_LINE]


def _name(lines: list[str]) -> str:
    """The first line that is no place in the code: it names an error."""
    named = [line.rstrip() for line in lines if line.strip() and not line.startswith(" ")]
    if not named:
        return lines[-1].strip()[:_LONGEST_LINE]
    first = named[0]
    if _TYPE.fullmatch(first) and len(named) > 1:  # its message begins with an empty line
        first = f"{first} {named[1]}"
    return first[:_LONGEST_LINE]
