"""A library of candidates from a table: which columns, what they become, and what to say of it."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.spatial.distance import pdist

from noregret._types import Floats, Points
from noregret.cli.candidate_columns import (
    NAMED_ROWS,
    OWN_COLUMNS,
    check_names,
    find_features,
    find_labels,
    find_names,
    named_features,
    no_column,
    refuse_collisions,
)
from noregret.cli.candidate_doubts import note_doubts
from noregret.cli.csv_files import Style
from noregret.spaces.cells import is_gap, verbatim_numbers
from noregret.spaces.decades import log_floor
from noregret.spaces.encoding import Encoder, make_encoder, medians
from noregret.spaces.survey import ColumnSurvey, survey
from noregret.spaces.tables import Piece, Table

#: how many rows are compared for the default lengthscale
_SUBSAMPLE = 1000


@dataclass(frozen=True)
class Library:
    """Candidates as read: what people see, what the kernel sees, and how one became the other.

    Attributes
    ----------
    names
        The name of each candidate, if a column has names.
    id_column
        The column with the names.
    table
        The cells that the features come from, verbatim, and columns of other texts (n rows).
    points
        n × d floats for the kernel, or packed bits (n × bytes, uint8).
    columns
        For each of the d dimensions its name, and the mean and deviation by which it was
        standardised (or the category); none for packed bits.
    notes
        What was done, in sentences.
    features
        How each column became coordinates; JSON.
    style
        How the file is written, if it is text.
    renamed
        Columns of ``table`` that are called otherwise in the file: their names there.
    """

    names: list[str] | None
    id_column: str | None
    table: pl.DataFrame
    points: Points
    columns: list[dict[str, Any]]
    notes: list[str]
    features: list[dict[str, Any]]
    style: Style
    renamed: dict[str, str] = field(default_factory=dict)


def read_library(
    path: str,
    features: str | None,
    id_column: str | None,
    *,
    sheet: str | None = None,
    value_column: str = "value",
    standardize: bool,
    learnt: bool = False,
    drop_gaps: bool,
) -> Library:
    """The candidates of a file; errors name the place in the file.

    Parameters
    ----------
    path
        A table.
    features
        Columns that describe a candidate, separated by commas; ``None``: all suitable ones.
    id_column
        The column with the candidates' names; ``None``: one is looked for.
    sheet
        The sheet of a spreadsheet; ``None``: the first.
    value_column
        What the files of ``ask`` call values: no feature may have this name.
    standardize
        Whether numbers get mean 0 and deviation 1.
    learnt
        Whether the kernel is learnt: then features that span decades are only divided by their
        deviation, as a learnt kernel looks at logarithms too.
    drop_gaps
        Whether rows with gaps are left out; otherwise gaps are filled.
    """
    table = Table(path, sheet=sheet)
    notes = list(table.notes)
    chosen = None if features is None else named_features(table, features)
    if id_column is not None and id_column not in table.columns:
        raise ValueError(no_column("--id-column", id_column, table))
    whole = table.read()
    if not len(whole.frame):
        raise ValueError(f"{path} has no rows")
    found = survey([whole], table.columns, table.decimal)
    id_column = id_column or find_names(table, whole, found, chosen, notes)
    used = find_features(table, whole, found, chosen, id_column, notes)
    note_doubts(table, whole, used, notes)
    refuse_collisions(path, [*used, *([id_column] if id_column else [])], value_column)
    labels = find_labels(whole, found, [*used, id_column, value_column, *OWN_COLUMNS], notes)
    if id_column is not None:
        check_names(table, whole, id_column)
    whole, found = _without_gaps(path, table, whole, found, used, drop_gaps, notes)
    encoder = _encoder(whole, [found[name] for name in used], standardize, table.decimal, notes)
    if standardize and learnt:
        encoder = _keeping_zeros(encoder, whole.frame, notes)
    names = None if id_column is None else whole.frame[id_column].cast(pl.String).to_list()
    sources = _free_names([*used, *labels], labels)
    notes += [f"{name!r} is shown as {own!r}." for own, name in sources.items() if own != name]
    shown = pl.DataFrame(
        [verbatim_numbers(whole.frame[name]).alias(own) for own, name in sources.items()]
    )
    points = encoder.encode(whole.frame)
    features_used = encoder.spec()
    return Library(
        names,
        id_column,
        shown,
        points,
        encoder.dimensions,
        notes,
        features_used,
        _style(table),
        {own: name for own, name in sources.items() if own != name},
    )


def _free_names(columns: list[str], labels: list[str]) -> dict[str, str]:
    """The columns by the names that a study's table has free: ``name`` holds its names there."""
    free: dict[str, str] = {}
    for name in columns:
        own = name
        while own == "name" or (own == "id" and name in labels) or (own != name and own in columns):
            own += "_"
        free[own] = name
    return free


def read_molecules(
    path: str,
    smiles: str,
    id_column: str | None,
    *,
    sheet: str | None = None,
    kind: str,
    bits: int,
    value_column: str,
) -> Library:
    """The molecules of a file, by their fingerprints; those that cannot be read are left out.

    Parameters
    ----------
    path, id_column, sheet, value_column
        As for :func:`read_library`.
    smiles
        The column with the SMILES.
    kind, bits
        As for :func:`noregret.spaces.chem.fingerprints`.
    """
    from noregret.spaces import chem

    table = Table(path, sheet=sheet)
    notes = list(table.notes)
    for option, name in (("--smiles", smiles), ("--id-column", id_column or smiles)):
        if name not in table.columns:
            raise ValueError(no_column(option, name, table))
    whole = table.read()
    if id_column is None:
        others = [name for name in table.columns if name != smiles]
        columns = survey([whole], others, table.decimal)
        id_column = find_names(table, whole, columns, [smiles], notes)
    shown = [smiles, *([id_column] if id_column else [])]
    refuse_collisions(path, shown, value_column)
    if id_column is not None:
        check_names(table, whole, id_column)
    found = chem.fingerprints(
        whole.frame[smiles].cast(pl.String).to_list(), chem.check_kind(kind), bits
    )
    if not len(found):
        raise ValueError(f"{path}, column {smiles!r}: no row holds a SMILES that RDKit can read")
    for row, why in list(found.failures.items())[:NAMED_ROWS]:
        notes.append(f"{table.place} {whole.lines[row]} is left out: {why}.")
    if len(found.failures) > NAMED_ROWS:
        notes.append(f"{len(found.failures)} molecules in all are left out.")
    notes.append(f"Fingerprints: {kind}, {bits} bits, of {len(found)} molecules.")
    kept = whole.frame[found.rows.tolist()]
    names = None if id_column is None else kept[id_column].cast(pl.String).to_list()
    return Library(names, id_column, kept.select(smiles), found.bits, [], notes, [], _style(table))


def _style(table: Table) -> Style:
    """How plates are written, so that the program that opens the library can open them too.

    A library that is not plain UTF-8 comes from a program that reads UTF-8 only with a mark.
    """
    return Style(table.separator, table.decimal, marked=table.encoding != "utf-8")


def _without_gaps(
    path: str,
    table: Table,
    whole: Piece,
    found: dict[str, ColumnSurvey],
    used: list[str],
    drop: bool,
    notes: list[str],
) -> tuple[Piece, dict[str, ColumnSurvey]]:
    """The rows to use, and what is in them."""
    holes = np.column_stack([is_gap(whole.frame[name]).to_numpy() for name in used])
    rows = np.asarray(holes.any(axis=1))
    if not rows.any():
        return whole, found
    where = ", ".join(f"{n} in {name!r}" for name, n in zip(used, holes.sum(axis=0), strict=True)
                      if n)  # fmt: skip
    words = f"{int(rows.sum())} of {len(rows)} rows have gaps ({where})"
    if not drop:
        notes.append(
            f"{words}: numbers are filled with the column's median and flagged in another column, "
            "words become a category of their own (--drop-gaps leaves the rows out)."
        )
        return whole, found
    if rows.all():
        raise ValueError(f"{path}: every row has a gap; nothing is left")
    notes.append(f"{words} and were left out.")
    kept = Piece(whole.frame.filter(~rows), whole.lines[~rows])
    return kept, survey([kept], table.columns, table.decimal)


def _encoder(
    whole: Piece, columns: list[ColumnSurvey], standardize: bool, decimal: str, notes: list[str]
) -> Encoder:
    made = make_encoder(
        columns, medians([whole], columns, decimal), standardize=standardize, decimal=decimal
    )
    for feature in made.features:
        if feature.kind == "category":
            number = len(feature.categories)
            notes.append(f"{feature.name!r} is text: {number} categories.")
    percents = [column.name for column in columns if column.percents]
    if percents:
        notes.append(f"Percent signs are left out: 51.2% is 51.2 ({', '.join(percents)}).")
    if standardize and any(feature.kind == "number" for feature in made.features):
        notes.append("Numeric features are standardised (mean 0, deviation 1).")
    return made


def _keeping_zeros(encoder: Encoder, frame: pl.DataFrame, notes: list[str]) -> Encoder:
    """The encoder that subtracts no mean from features that span decades."""
    spans = {
        one.name
        for one in encoder.features
        if one.kind == "number"
        and log_floor(one.values(frame[one.name], encoder.decimal).drop_nulls().to_numpy())
    }
    if not spans:
        return encoder
    notes.append(
        f"Features that span decades: {', '.join(one for one in encoder.columns if one in spans)}. "
        "They are divided by their deviation and keep their zero, and the learnt kernel also looks "
        "at their logarithms."
    )
    made = [replace(one, mean=0.0) if one.name in spans else one for one in encoder.features]
    return replace(encoder, features=tuple(made))


def median_distance(points: Floats) -> float:
    """The median distance of two different rows, on at most 1,000 rows drawn with seed 0."""
    if len(points) > _SUBSAMPLE:
        chosen = np.random.default_rng(0).choice(len(points), _SUBSAMPLE, replace=False)
        points = points[np.sort(chosen)]
    distances = pdist(points)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0
