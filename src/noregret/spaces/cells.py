"""The content of a cell of a table: a number, a gap, yes or no, or a word."""

import difflib
import math
import re
from collections.abc import Iterable

import polars as pl

#: texts that mean an empty cell (in lower case)
GAPS = frozenset(
    {"", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "no data"}
    | {"n.d.", "n/d", "n.b.", "k.a.", "-", "–", "—", ".", "?"}
    # what spreadsheets write in place of a value, in English and in German
    | {"#n/a", "#na", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"}
    | {"#nv", "#wert!", "#bezug!", "#zahl!"}
)
#: spelt like this it is no gap but a chemical element
_SODIUM = "Na"
#: texts that mean yes and no (in lower case)
BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0}

#: kinds of space between groups of three digits
_SPACES = " \u00a0\u202f"
_GROUPED = {
    ".": rf"^[+-]?[1-9]\d{{0,2}}([,{_SPACES}']\d{{3}})+(\.\d+)?$",
    ",": rf"^[+-]?[1-9]\d{{0,2}}([.{_SPACES}']\d{{3}})+(,\d+)?$",
}
#: numbers with a decimal comma, with a decimal point, and numbers whose sign may group digits
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_COMMA_GROUP = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_POINT_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
#: signs of a value that is only known to be below or above a number
_LIMIT = re.compile(r"\s*[<>≤≥]=?")
#: a number in which the letter O stands for a zero
_LETTER_O = re.compile(r"[+-]?[\dO.,]+")
#: a number and its unit, which has no digits
_WITH_UNIT = re.compile(r"([+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?)\s*[A-Za-zÅΩµμ°%‰][^\d()\[\]=?±]*")
_POINT_NUMBER = re.compile(r"[+-]?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?")
#: with more words than this, spellings are not compared letter by letter
_MOST_COMPARED = 20_000
#: how many spellings a message offers at most
_OFFERED = 3


def is_gap(cells: pl.Series) -> pl.Series:
    """Which cells are empty: null, NaN, or a text that means so (n booleans)."""
    if cells.dtype.is_float():
        return cells.is_null() | cells.is_nan().fill_null(True)
    if cells.dtype != pl.String:
        return cells.is_null()
    words = cells.str.strip_chars()
    return words.is_null() | (words.str.to_lowercase().is_in(sorted(GAPS)) & (words != _SODIUM))


def numbers(cells: pl.Series, decimal: str = ".") -> pl.Series:
    """The numbers in cells (n floats), null where there is none.

    Parameters
    ----------
    cells
        Numbers, or text such as ``51.2``, ``51.2%`` (which is 51.2), ``1,234.5`` or ``1e-3``.
    decimal
        The sign before the decimals, ``"."`` or ``","``. The other one may stand between groups
        of three digits, as may a space or an apostrophe.
    """
    found = cells.cast(pl.Float64, strict=False)
    if cells.dtype == pl.String and (decimal == "," or found.has_nulls()):
        text = cells.str.strip_chars().str.strip_suffix("%").str.strip_chars()
        text = text.str.replace("^[−–]", "-")
        grouped = text.str.contains(_GROUPED[decimal]).fill_null(False)
        if grouped.any():
            other = "." if decimal == "," else ","
            plain = text.str.replace_all(rf"[{re.escape(other)}{_SPACES}']", "")
            text = plain.zip_with(grouped, text)
        if decimal == ",":
            # With a decimal comma a point is not a decimal sign: 1.5 must not become a number by
            # accident.
            pointed = text.str.contains(".", literal=True).fill_null(False)
            text = text.str.replace(",", ".", literal=True).set(pointed, None)
        found = text.cast(pl.Float64, strict=False)
    return found.set(~found.is_finite().fill_null(True), None)


def decimal_commas(cells: Iterable[str]) -> list[str]:
    """The texts that are numbers with a comma before the last digits, such as 51,2 or 1,234."""
    return [text for text in map(_bare, cells) if _COMMA.fullmatch(text)]


def commas_in_groups(cells: Iterable[str]) -> list[str]:
    """The texts that are whole numbers with a comma between groups of digits, such as 1,234."""
    return [text for text in map(_bare, cells) if _COMMA_GROUP.fullmatch(text)]


def grouped_by_points(cells: Iterable[str]) -> list[str]:
    """The texts that are whole numbers with points between groups of digits, such as 1.234."""
    return [text for text in map(_bare, cells) if _POINT_GROUP.fullmatch(text)]


def decimal_sign(cells: Iterable[str], *, grouping: bool) -> str | None:
    """The decimal sign in most of the texts that show one; ``None`` if none does.

    Parameters
    ----------
    cells
        The texts.
    grouping
        Whether 1,234 may be a thousand with a comma between groups of digits; then it shows no
        decimal sign. 1.234 never does.
    """
    texts = [_bare(cell) for cell in cells]
    commas = sum(
        1 for text in texts if _COMMA.fullmatch(text)
        and not (grouping and _COMMA_GROUP.fullmatch(text))
    )  # fmt: skip
    points = sum(
        1 for text in texts if _POINT.fullmatch(text) and not _POINT_GROUP.fullmatch(text)
    )  # fmt: skip
    if not commas and not points:
        return None
    return "," if commas > points else "."


def _bare(text: str) -> str:
    return text.strip().rstrip("% ")


def with_unit(cells: pl.Series) -> str | None:
    """The first text, if all texts are a number and the same unit, such as 12 mg; else ``None``.

    The decimal sign is a point or a comma, whatever it is elsewhere in the table.
    """
    if cells.dtype != pl.String:
        return None
    filled = cells.filter(~is_gap(cells)).str.strip_chars()
    parts = filled.str.extract_groups(r"^([+-]?[\d.,]+)\s*([^\d\s.,:%+-].*)$").struct.unnest()
    if not len(filled) or parts["2"].n_unique() != 1 or parts["2"].has_nulls():
        return None
    read = any(not numbers(parts["1"], decimal).has_nulls() for decimal in ".,")
    return str(filled[0]) if read else None


def booleans(cells: pl.Series) -> pl.Series:
    """Yes and no as 1 and 0 (n floats), null for anything else."""
    if cells.dtype == pl.Boolean:
        return cells.cast(pl.Float64)
    words = cells.cast(pl.String).str.strip_chars().str.to_lowercase()
    return words.replace_strict(BOOLEANS, default=None, return_dtype=pl.Float64)


def likely_number(text: str, decimal: str = ".") -> str | None:
    """The number that was surely meant by a cell that is not a number, written correctly.

    A number with another decimal sign, a sign too many, a letter O or l for a digit, or a unit
    behind it. Anything else, such as ``1/2`` or ``5x10^3``, may mean several numbers: ``None``.
    """
    plain = _LIMIT.sub("", text, count=1).strip().removeprefix("'")
    plain = re.sub("^[−–]", "-", plain)
    if not re.search(r"\d", plain):
        return None
    plain = plain.replace("O", "0") if _LETTER_O.fullmatch(plain) else plain
    with_unit = _WITH_UNIT.fullmatch(plain)
    if with_unit:
        plain = with_unit[1]
        if _COMMA_GROUP.fullmatch(plain) or _POINT_GROUP.fullmatch(plain):
            return None  # 1,234 mg may be a thousand
    if re.fullmatch(r"[+-]?[\dl.,]+", plain):
        plain = plain.replace("l", "1")
    plain = re.sub(r"([.,])[.,]+", r"\1", plain).replace(",", ".").rstrip(".")
    if not _POINT_NUMBER.fullmatch(plain) or not math.isfinite(float(plain)):
        return None
    return plain.replace(".", decimal)


def advice(text: str, decimal: str = ".") -> str:
    """What to write in place of a cell that is not a number; an empty text if nobody can know."""
    likely = likely_number(text, decimal)
    if likely and _LIMIT.match(text):
        return f"; it is a limit: write {likely} if that is close enough, or leave the cell empty"
    return f" (did you mean {likely}?)" if likely else ""


class Spelling:
    """Finds the known words whose spelling is nearest to a wrong one.

    Capitals, spaces, hyphens, and letters that look like digits make no difference; beyond that, of
    at most 20,000 words, letters may differ too.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._folded: dict[str, list[str]] = {}
        for word in known:
            self._folded.setdefault(_fold(word), []).append(word)

    def offer(self, word: str) -> str:
        """``; did you mean …?``, or nothing."""
        key = _fold(word)
        found = self._folded.get(key, [])
        if not found and len(self._folded) <= _MOST_COMPARED:
            close = difflib.get_close_matches(key, self._folded, _OFFERED)
            found = [one for other in close for one in self._folded[other]]
        return f"; did you mean {' or '.join(map(repr, found[:_OFFERED]))}?" if found else ""


def _fold(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).lower().translate(str.maketrans("oil", "011"))


def nearest(word: str, known: Iterable[str]) -> str:
    """The known words that are spelt most like this one, as :meth:`Spelling.offer` says it."""
    return Spelling(known).offer(word)


def verbatim_numbers(cells: pl.Series) -> pl.Series:
    """Text as numbers if every number, written out again, gives the same text; else unchanged.

    So ``0.5`` becomes a number, and a column that holds ``007`` or ``1.10`` stays text.
    """
    if cells.dtype != pl.String:
        return cells
    for kind in (pl.Int64, pl.Float64):
        found = cells.cast(kind, strict=False)
        if (found.cast(pl.String) == cells).all() and not found.has_nulls():
            plain = kind == pl.Int64 or not cells.str.contains("(?i)[a-z]").any()
            return found if plain else cells
    return cells
