"""``noregret status``, ``best``, ``export`` and ``report``."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from rich.table import Table

from noregret.cli.app import Json, StudyPath, command, print_json, print_table, say
from noregret.cli.running import interval, name_of
from noregret.study import Study
from noregret.study.salvage import salvage as read_what_can_be_read


class Format(StrEnum):
    """File formats for tables."""

    CSV = "csv"
    PARQUET = "parquet"


@command("status", "noregret status plates.db")
def status(study: StudyPath, as_json: Json = False) -> None:
    """Say where a study stands."""
    with Study.open(study, read_only=True) as opened:
        about: dict[str, Any] = {
            "study": study,
            "domain": repr(opened.domain),
            "counts": opened.counts(),
            **{k: v for k, v in opened.settings.items() if k != "about"},
            "beta": opened.view().beta,
            "last_batch": opened.last_batch(),
            "notes": opened.settings["about"].get("notes", []),
        }
        dictionary = getattr(opened.view(), "dictionary", None)
        if dictionary is not None:
            about["dictionary"] = len(dictionary)
        if about["counts"]["told"]:
            best = opened.best()
            keys = ("mean", "lower", "upper", "gap")
            about["best"] = {"id": name_of(opened, best.id)} | {k: getattr(best, k) for k in keys}
    if as_json:
        print_json(about)
        return
    grid = Table.grid(padding=(0, 2))
    for key, value in about.items():
        if isinstance(value, dict):
            value = ", ".join(f"{k} {_short(v)}" for k, v in value.items())
        elif isinstance(value, list):
            value = " ".join(value)
        grid.add_row(key.replace("_", " "), _short(value))
    print_table(grid)


@command("best", "noregret best plates.db --top 10")
def best(
    study: StudyPath,
    top: Annotated[int, typer.Option(min=1, help="How many candidates to show.")] = 1,
    as_json: Json = False,
) -> None:
    """Show the best candidates with their intervals, the surest first."""
    with Study.open(study, read_only=True) as opened:
        if not opened.counts()["told"]:
            raise ValueError(f"{study} has no answers yet")
        found = opened.best()
        frame = opened.top(top)
        name = name_of(opened, found.id)
    if as_json:
        print_json({"gap": found.gap, "best": frame.to_dicts()})
        return
    table = Table()
    for column in frame.columns:
        table.add_column(column)
    for row in frame.iter_rows():
        table.add_row(*(_short(value) for value in row))
    print_table(table)
    say(f"Best: {name}, {interval(found)}; no other is better by more than {found.gap:.4g}.")


@command("export", "noregret export plates.db --to parquet -o plates.parquet")
def export(
    study: StudyPath,
    to: Annotated[Format, typer.Option(help="The format.")] = Format.CSV,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="The file; CSV goes to stdout without it.")
    ] = None,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Read what can be read of a damaged study.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write all trials to a table."""
    lost: list[int] = []
    if salvage:
        saved = read_what_can_be_read(Path(study))
        frame, lost = saved.trials, saved.lost
    else:
        with Study.open(study, read_only=True) as opened:
            frame = opened.trials()
            if opened.table is not None and not frame.is_empty():
                table = opened.table
                shown = table.select(c for c in table.columns if c not in frame.columns)
                frame = frame.hstack(shown[frame["id"].to_list()])
    if output is None and (to is Format.PARQUET or as_json):
        raise ValueError("-o names the file to write")
    if output is None:
        typer.echo(frame.write_csv(), nl=False)
    elif to is Format.PARQUET:
        frame.write_parquet(output)
    else:
        frame.write_csv(output)
    if as_json:
        print_json({"trials": len(frame), "lost": lost, "output": output})
        return
    say(f"{len(frame)} trials written.")
    if lost:
        say(f"{len(lost)} trials could not be read, from {lost[0]} to {lost[-1]}.")


@command("report", "noregret report plates.db -o report.html")
def report(
    study: StudyPath,
    output: Annotated[str, typer.Option("-o", "--output", help="The page.")] = "report.html",
    as_json: Json = False,
) -> None:
    """Write one self-contained page: plots, the best candidates, settings."""
    try:
        from noregret.reporting.report import write_report
    except ImportError as error:
        raise ValueError(
            f"a report needs Matplotlib: pip install 'noregret[plot]' ({error})"
        ) from error
    with Study.open(study, read_only=True) as opened:
        write_report(opened, Path(output))
    if as_json:
        print_json({"output": output})
        return
    say(f"{output} written.")


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, pl.Series):
        return str(value.to_list())
    return "" if value is None else str(value)
