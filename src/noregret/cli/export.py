"""``noregret export``: all trials as a table."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noregret.cli.app import Json, StudyPath, command, print_json, say
from noregret.cli.csv_files import Style, id_column, style_of, value_column, write_csv
from noregret.cli.output import Output
from noregret.cli.words import many

if TYPE_CHECKING:
    import polars as pl


class Format(StrEnum):
    """File formats for tables."""

    CSV = "csv"
    PARQUET = "parquet"


@command("export", "noregret export plates.db -o plates.parquet", looks=True)
def export(
    study: StudyPath,
    to: Annotated[
        Format | None,
        typer.Option(
            metavar="FORMAT", help="csv or parquet; by default what the file's name says."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The file; without it CSV goes to standard output.",
        ),
    ] = None,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Read what can be read of a damaged study.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write all trials to a table."""
    from noregret.spaces.tables import PARQUET

    if to is None and output is not None and output.lower().endswith(PARQUET):
        to = Format.PARQUET
    if output is None and (to is Format.PARQUET or as_json):
        raise ValueError("-o names the file to write")
    with Output(output, study) as table:
        frame, lost, style = (_salvaged if salvage else _trials)(study, table)
        if to is Format.PARQUET:
            table.write_file(frame.write_parquet)
        else:
            table.write(lambda file: write_csv(file, frame.columns, frame.iter_rows(), style))
        table.keep()
    if as_json:
        print_json({"trials": len(frame), "lost": lost, "output": output})
        return
    say(f"{many(len(frame), 'trial')} written.")
    if lost:
        say(f"{many(len(lost), 'trial')} could not be read, from {lost[0]} to {lost[-1]}.")


def _trials(study: str, target: Output) -> "tuple[pl.DataFrame, list[int], Style]":
    """All trials of a study with their features, the lost trials (none), and the style.

    Names are in the column ``name``, or ``id`` if that is its name in the library.
    """
    from noregret.study import Study
    from noregret.study.candidate_table import beside

    with Study.open(study, read_only=True) as opened:
        target.spare_candidates(opened)
        frame, table, named = opened.trials(), opened.table, opened.names is not None
        names, values, style = id_column(opened), value_column(opened), style_of(opened)
        is_box = opened.domain.size is None
    shown = frame.rename({"value": values})
    if is_box:
        shown = shown.drop("id")
    if named and names == "id":
        shown = shown.drop("id").rename({"name": "id"})
    if table is not None:
        shown = beside(shown, table, frame["id"].to_list())
    return shown, [], style


def _salvaged(study: str, target: Output) -> "tuple[pl.DataFrame, list[int], Style]":
    """The readable trials of a damaged study, the numbers of the others, and the style."""
    from noregret.study import Study
    from noregret.study.storage.salvage import salvage

    try:
        opened = Study.open(study, read_only=True)
    except (ValueError, OSError):
        pass  # too damaged to say which file its candidates came from
    else:
        with opened:
            target.spare_candidates(opened)
    found = salvage(Path(study))
    return found.trials, found.lost, Style()
