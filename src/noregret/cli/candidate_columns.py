"""Which columns of a table name the candidates, describe them, or are only shown."""

import csv
import shlex

import numpy as np
import polars as pl

from noregret._checks import first_few
from noregret.cli.candidate_doubts import about_numbers, about_texts, about_words
from noregret.spaces.cells import is_gap, nearest, numbers
from noregret.spaces.doubts import a_day
from noregret.spaces.survey import ENOUGH_NAMES, MOST_CATEGORIES, ColumnSurvey
from noregret.spaces.tables import Piece, Table

#: how many rows an error names
NAMED_ROWS = 20
#: columns of the files of `ask` and `tell`, apart from the names and the values
OWN_COLUMNS = ("trial", "failed")
#: columns of the file of `export` that a column of values must not be called
_OF_TRIALS = ("id", "name", "status", "origin", "asked", "given", "done", "reason")
#: columns with these names hold the names of candidates, if no entry comes twice
_USUAL_NAMES = ("id", "name", "compound", "compound_id", "compound id")
#: a column with this share of different texts, in a table that is long enough, holds names
_MOSTLY_NAMES = 0.9


def named_features(table: Table, features: str) -> list[str]:
    """The columns in the text of ``--features``; names with commas stand in quotation marks."""
    quoted = '"' in features
    cells = next(csv.reader([features], skipinitialspace=True)) if quoted else features.split(",")
    chosen = [name.strip() for name in cells if name.strip()]
    if not chosen:
        raise ValueError(f"--features names no column; there is {', '.join(table.columns)}")
    for name in chosen:
        if name not in table.columns:
            commas = [one for one in table.columns if "," in one]
            how = (
                f'; a name with a comma stands in quotation marks: "{commas[0]}"' if commas else ""
            )
            raise ValueError(no_column("--features", name, table) + how)
    if len(set(chosen)) < len(chosen):
        raise ValueError("--features: a column is named twice")
    return chosen


def no_column(option: str, name: str, table: Table) -> str:
    """What to say of an option that names a column which the table does not have."""
    return (
        f"{f'{option}: ' if option else ''}{table.path} has no column {name!r}"
        f"{nearest(name, table.columns)} (there is {', '.join(table.columns)})"
    )


def refuse_cells(table: Table, complaints: list[str], way: str) -> None:
    """Refuse a table for its cells, if there are complaints; ``way``: what to do about them."""
    if complaints:
        listed = "\n  ".join(complaints)
        raise ValueError(f"{table.path} was refused:\n  {listed}\n{way}")


def find_names(
    table: Table,
    whole: Piece,
    found: dict[str, ColumnSurvey],
    chosen: list[str] | None,
    notes: list[str],
) -> str | None:
    """The column with the names: by its own name, or the first whose texts all differ.

    If there is none, but a few rows share the names in a column, the file is refused.
    """
    others = [name for name in found if chosen is None or name not in chosen]
    usual = [n for n in others if n.strip().lower() in _USUAL_NAMES and found[n].all_different]
    words = ("text", "category")
    texts = [
        n
        for n in others
        if found[n].kind in words and found[n].all_different and a_day(whole.frame[n]) is None
    ]
    if not (usual or texts):
        if chosen is None:
            _refuse_shared_names(table, whole, found)
        notes.append("No column has names of candidates: their row numbers, from 0, are used.")
        return None
    name = (usual or texts)[0]
    notes.append(f"Column {name!r} has the candidates' names (--id-column for another).")
    return name


def _refuse_shared_names(table: Table, whole: Piece, found: dict[str, ColumnSurvey]) -> None:
    """Refuse a table with a column of names that rows share: a few, or any if it is called so.

    Otherwise plates would show row numbers, and nobody could tell which candidate is meant. A table
    of replicates would have every candidate several times.
    """
    for name, column in found.items():
        enough = len(whole.frame) >= ENOUGH_NAMES and column.kind in ("text", "category")
        mostly = enough and whole.frame[name].n_unique() >= _MOSTLY_NAMES * len(whole.frame)
        called_so = name.strip().lower() in _USUAL_NAMES and column.filled
        if not mostly and not called_so:
            continue
        try:
            check_names(table, whole, name)
        except ValueError as error:
            raise ValueError(
                f"{error}: keep one row for each, and give measured values to `noregret import`. "
                f"If {name!r} does not name the candidates, name the columns that describe them: "
                "--features"
            ) from error


def find_labels(
    whole: Piece,
    found: dict[str, ColumnSurvey],
    others: list[str | None],
    notes: list[str],
) -> list[str]:
    """Columns of texts that are no features: people may need them when they measure."""
    labels = [
        name
        for name, column in found.items()
        if name not in others
        and column.kind in ("text", "category")
        and (column.kind == "text" or _differ(column) or a_day(whole.frame[name]) is not None)
    ]
    if labels:
        notes.append(f"Shown, but not used: {', '.join(labels)}.")
    notes += [
        f"{name!r} seems to hold molecules: --smiles {shlex.quote(name)} compares them by their "
        "fingerprints, in place of the other columns."
        for name in labels
        if "smiles" in name.lower()
    ]
    return labels


def find_features(
    table: Table,
    whole: Piece,
    found: dict[str, ColumnSurvey],
    chosen: list[str] | None,
    id_column: str | None,
    notes: list[str],
) -> list[str]:
    """The columns that become features; says why others do not."""
    candidates = [n for n in chosen or table.columns if n != id_column]
    used, ignored = [], []
    for name in candidates:
        column = found[name]
        if column.kind == "odd":
            refuse_cells(
                table,
                [column.complaint(table.place)],
                "Correct the cells, write NA if there is no number, or name the columns to use: "
                "--features",
            )
        why = _unusable(column, asked_for=chosen is not None)
        if chosen is None and a_day(whole.frame[name]) is not None:
            why = "has dates"
        if why and chosen is not None:
            raise ValueError(f"--features: column {name!r} of {table.path} {why}")
        if why:
            ignored.append(f"{name!r} {why}")
        else:
            used.append(name)
    if chosen is None:
        counting = [n for n in used if _counts(numbers(whole.frame[n], table.decimal))]
        if len(counting) < len(used):
            used = [name for name in used if name not in counting]
            ignored += [f"{name!r} counts the rows" for name in counting]
    doubts = about_texts(table, whole, candidates)
    if not used:
        why = f" ({'; '.join(ignored)})" if ignored else ": besides the names there is none"
        raise ValueError(
            " ".join([f"{table.path}: no column describes the candidates{why}.", *doubts])
        )
    notes.append(f"Columns used: {', '.join(used)}.")
    for name in used:
        column = found[name]
        if column.kind == "number" and 2 * column.gaps > column.rows and chosen is None:
            notes.append(
                f"{name!r} is empty in {column.gaps} of {column.rows} rows. If it holds values "
                "that were measured before, leave it out (--features) and tell them: noregret "
                "import."
            )
    columns = [found[name] for name in used]
    notes += [*doubts, *about_words(columns), *about_numbers(columns)]
    left = [n for n in table.columns if n not in candidates and n != id_column]
    if ignored or left:
        unnamed = [f"{name!r} is not in --features" for name in left]
        notes.append(f"Columns ignored: {'; '.join([*ignored, *unnamed])}.")
    return used


def _unusable(column: ColumnSurvey, *, asked_for: bool) -> str:
    """Why a column cannot be a feature; an empty text if it can."""
    if column.kind == "empty":
        return "is empty"
    if column.kind == "category" and _differ(column) and not asked_for:
        return f"has {len(column.words)} different texts in {column.filled} rows"
    if column.kind == "text":
        return f"has more than {MOST_CATEGORIES} different texts: names rather than categories"
    if column.constant and not asked_for:
        return "is the same everywhere"
    return ""


def _differ(column: ColumnSurvey) -> bool:
    """Whether hardly a text of a column comes twice, so that it says nothing of other rows."""
    return column.all_different or column.mostly_different


def _counts(cells: pl.Series) -> bool:
    """Whether a column of numbers counts the rows, from 0 or 1."""
    first = cells[0]
    counted = pl.Series(range(len(cells)), dtype=pl.Float64)
    return len(cells) > 2 and first in (0.0, 1.0) and bool((cells == counted + first).all())


def refuse_collisions(where: str, names: list[str], value_column: str) -> None:
    """Refuse columns or parameters with names that the files of ask and tell use.

    The column of values may not have the name of another column of these files and of `export`.
    """
    if value_column.strip().lower() in ("", *OWN_COLUMNS, *_OF_TRIALS):
        others = ", ".join((*OWN_COLUMNS, *_OF_TRIALS))
        raise ValueError(
            f"--value-column must be a name, and not that of another column of the study's files "
            f"({others}); got {value_column!r}"
        )
    own = (value_column.lower(), *OWN_COLUMNS)
    taken = [name for name in names if name.strip().lower() in own]
    if not taken:
        return
    listed = " and ".join(map(repr, taken))
    way = ", or let those files call values otherwise (--value-column)"
    raise ValueError(
        f"{where}: column {listed} has a name that the files of ask and tell use for answers. "
        f"Rename it, leave it out (--features){way if value_column in taken else ''}"
    )


def check_names(table: Table, whole: Piece, id_column: str) -> None:
    """Refuse a column of names unless every row has a name of its own."""
    column = whole.frame[id_column].cast(pl.String).str.strip_chars()
    empty = is_gap(column).to_numpy()
    twice = column.is_duplicated().to_numpy() & ~empty
    if not (empty | twice).any():
        return
    places: dict[str, list[int]] = {}
    names = [
        repr(name) if not gap else f"no name ({name!r})" if name else "no name"
        for name, gap in zip(column, empty, strict=True)
    ]
    for row in np.flatnonzero(empty if empty.any() else twice):
        places.setdefault(names[row], []).append(int(whole.lines[row]))
    listed = [
        f"{name} in {table.place} {', '.join(map(str, lines[:NAMED_ROWS]))}"
        for name, lines in places.items()
    ]
    what = "" if empty.any() else "the same name in several rows: "
    raise ValueError(
        f"{table.path}, column {id_column!r}: {what}{first_few(listed, NAMED_ROWS, ';')}. Every "
        "candidate needs a name of its own"
    )
