"""Why evaluations failed, in one line and as a text that a file can hold."""

import os
import traceback

import pytest

from noregret.study.reasons import (
    LONGEST_REASON,
    ExplainedError,
    in_one_line,
    reason_of,
    storable,
)


def raised(error, cause=None):
    try:
        try:
            if cause is not None:
                raise cause
        except type(cause) as first:
            raise error from first
        raise error
    except type(error) as caught:
        return caught


class ShyError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("shapes differ\n  left: 3\nright: 4"), "ValueError: shapes differ"),
        (ValueError("\nright: 4\nleft: 3"), "ValueError: right: 4"),
        (ValueError(), "ValueError"),
        (KeyError("a"), "KeyError: 'a'"),
        (SyntaxError("bad", ("f.py", 1, 1, "x y", 1, 3)), "SyntaxError: bad"),
        (ExceptionGroup("two", [ValueError("a"), KeyError("b")]), None),
        (ShyError(), None),
        (ExplainedError("killed\nafter 3 s"), "after 3 s"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_type_and_the_first_line_name_an_error(error, line):
    line = line or traceback.format_exception_only(error)[-1].strip()
    if isinstance(error, ExceptionGroup):
        line = "ExceptionGroup: two (2 sub-exceptions)"
    assert in_one_line(reason_of(raised(error))) == line
    assert in_one_line(reason_of(raised(error, KeyError("first\nsecond")))) == line


def test_notes_and_long_messages_do_not_hide_the_error():
    error = raised(ValueError("first\nsecond"))
    error.add_note("a note")
    assert in_one_line(reason_of(error)) == "ValueError: first"
    long = reason_of(raised(ValueError("x" * 50_000)))
    assert len(long) < LONGEST_REASON
    assert in_one_line(long).startswith("ValueError: xxx")
    assert len(in_one_line(long)) <= 500
    many = reason_of(raised(ValueError("first\n" + "line\n" * 50_000)))
    assert len(many) < LONGEST_REASON
    assert in_one_line(many) == "ValueError: first"
    assert in_one_line(storable(many)) == "ValueError: first"


def test_words_of_a_person_end_with_what_counts():
    assert in_one_line("the oven\nwas cold") == "was cold"
    assert in_one_line(None) == in_one_line("\n ") == ""


def test_a_name_of_a_file_that_is_no_text_can_be_stored():
    reason = reason_of(raised(ValueError("cannot read " + os.fsdecode(b"r\xe9.csv"))))
    assert in_one_line(reason) == r"ValueError: cannot read r\udce9.csv"
    assert reason.encode().decode() == reason == storable(reason)
