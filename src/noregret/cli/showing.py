"""``noregret status``, ``best``, ``export`` and ``report``."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from noregret.cli.app import (
    Json,
    Patience,
    StopGap,
    StudyPath,
    Target,
    command,
    plain,
    print_json,
    print_rows,
    print_table,
    say,
)
from noregret.cli.choices import (
    about_best,
    id_column,
    interval,
    looking,
    many,
    say_best,
    style_of,
    value_column,
)
from noregret.cli.spreadsheets import Style, write_csv

if TYPE_CHECKING:
    import polars as pl

    from noregret.study import Study

#: how many candidates are named in one line
_NAMED = 20


class Format(StrEnum):
    """File formats for tables."""

    CSV = "csv"
    PARQUET = "parquet"


@command("status", "noregret status plates.db", looks=True)
def status(
    study: StudyPath,
    stop_gap: StopGap = None,
    target: Target = None,
    patience: Patience = None,
    as_json: Json = False,
) -> None:
    """Say where a study stands, and whether that is enough."""
    from noregret.reporting.checks import check_study
    from noregret.reporting.measured import recommended
    from noregret.reporting.words import choices_in_words
    from noregret.study.evaluating.stopping import StopRule, status_in_words

    rule = StopRule(gap=stop_gap, target=target, patience=patience)
    with looking(study) as opened:
        optimizer = opened.optimizer
        about: dict[str, Any] = {
            "study": study,
            "domain": choices_in_words(opened),
            "counts": opened.counts(),
            **{k: v for k, v in opened.settings.items() if k != "about"},
            "beta": optimizer.beta,
            "last_batch": opened.records.last_batch(),
            "notes": opened.settings["about"].get("notes", []),
        }
        if optimizer.alive is not None:
            about["alive"] = optimizer.alive
        words = None
        if about["counts"]["told"]:
            found = opened.best()
            about["best"] = about_best(opened, found)
            (row,) = recommended(opened, 1).to_dicts()
            about["best"] |= {key: row[key] for key in ("evaluations", "measured", "median")}
            words = (
                f"{opened.name_of(found.id, found.point)}, {interval(found)}; measured "
                f"{_times(row['evaluations'])}, {_measured(row)}"
            )
        about |= {"repeats": optimizer.repeats, "aim": optimizer.aim}
        about["enough"] = rule.reached(opened) if as_json else status_in_words(opened, rule)
        about["exhausted"] = opened.exhausted
        aside = opened.aside().drop("id").to_dicts()
        about["set_aside"] = aside if as_json else _aside_in_words(aside)
        about["last_failure"] = _last_failure(opened) if about["counts"]["failed"] else None
        warnings = [one.text for one in check_study(opened).findings]
    if as_json:
        print_json(about | {"warnings": warnings})
        return
    grid = Table.grid(padding=(0, 2))
    for key, value in _in_words(about, words):
        grid.add_row(key, plain(value))
    print_table(grid)
    _warn(warnings)


def _in_words(about: dict[str, Any], best: str | None) -> list[tuple[str, str]]:
    """Where a study stands, as labels and texts; what is not set is left out."""
    counts, last = about["counts"], about["last_batch"]
    answers = ", ".join(f"{counts[name]:,} {name}" for name in ("told", "pending", "failed"))
    if counts["history"]:
        answers += f"; {counts['history']:,} of them from elsewhere"
    rows: list[tuple[str, Any]] = [
        ("study", about["study"]),
        ("choices", about["domain"]),
        ("answers", answers),
        ("best", best),
        ("enough", about["enough"]),
        ("last batch", last and many(last["size"], "trial")),
        ("algorithm", f"{about['algorithm']} to {about['direction']}, seed {about['seed']}"),
        ("kernel", "learnt from the values" if about["kernel"] == "auto" else about["kernel"]),
        ("intervals", f"mean ± {about['beta']:.4g} deviations"),
        ("repeats", about["repeats"] and f"each candidate at most {_times(about['repeats'])}"),
        ("set aside", about["set_aside"]),
        ("last failure", about["last_failure"]),
        ("aim", about["aim"] > 1 and f"the best {about['aim']}"),
        ("batch", about["batch"]),
        ("timeout", about["timeout"] and f"{about['timeout']:g} s"),
        *zip(["notes", *[""] * len(about["notes"])], about["notes"], strict=False),
    ]
    return [(name, str(value)) for name, value in rows if value]


def _last_failure(study: "Study") -> str:
    """Which trial failed last, and why."""
    last = max(study.records.failed(), key=lambda trial: trial.done_at or 0.0)
    return f"trial {last.number}: {last.short_reason or 'no reason given'}"


def _aside_in_words(aside: list[dict[str, Any]]) -> str:
    """Candidates that are not asked for, the first ones with their reasons."""
    words = [
        f"{one['name']} (failed {_times(one['failures'])}: {one['reason']})"
        if one["failures"]
        else one["name"]
        for one in aside
    ]
    more = f"; and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return "; ".join(words[:_NAMED]) + more


def _warn(warnings: list[str]) -> None:
    """Say what does not fit, and what to do."""
    for one in warnings:
        say(f"Warning: {one}")


@command("best", "noregret best plates.db --top 10", looks=True)
def best(
    study: StudyPath,
    top: Annotated[int, typer.Option(min=1, help="How many choices to show.")] = 1,
    as_json: Json = False,
) -> None:
    """Show the evaluated choices with the best guaranteed values, and what is recommended."""
    from noregret.reporting.checks import check_study
    from noregret.reporting.measured import recommended
    from noregret.study.evaluating.stopping import gap_of

    with looking(study) as opened:
        if not opened.counts()["told"]:
            raise ValueError(f"{study} has no answers yet")
        found = opened.best()
        frame = recommended(opened, top)
        warnings = [one.text for one in check_study(opened).findings]
        alive, gap, words = opened.optimizer.alive, gap_of(opened), say_best(opened, found)
        named = opened.names is not None
    if as_json:
        best_rows = frame.to_dicts()
        print_json({"gap": gap, "alive": alive, "best": best_rows, "warnings": warnings})
        return
    frame = frame.drop("id") if named else frame
    left_out = print_rows(frame.columns, [[_short(value) for value in row] for row in frame.rows()])
    if left_out:
        say(f"The window is too narrow for {', '.join(left_out)}; --json shows them.")
    say(words)
    _warn(warnings)


@command("export", "noregret export plates.db --to parquet -o plates.parquet", looks=True)
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
    if output is None and (to is Format.PARQUET or as_json):
        raise ValueError("-o names the file to write")
    frame, lost, style = _salvaged(study) if salvage else _trials(study)
    if to is Format.PARQUET and output is not None:
        frame.write_parquet(output)
    elif output is not None:
        with Path(output).open("w", newline="", encoding="utf-8") as file:
            write_csv(file, frame.columns, frame.iter_rows(), style)
    else:
        write_csv(sys.stdout, frame.columns, frame.iter_rows(), style)
    if as_json:
        print_json({"trials": len(frame), "lost": lost, "output": output})
        return
    say(f"{many(len(frame), 'trial')} written.")
    if lost:
        say(f"{many(len(lost), 'trial')} could not be read, from {lost[0]} to {lost[-1]}.")


def _trials(study: str) -> "tuple[pl.DataFrame, list[int], Style]":
    """All trials of a study with their features, the lost trials (none), and the style.

    Names are in the column ``name``, or ``id`` if that is its name in the library.
    """
    from noregret.study import Study
    from noregret.study.candidate_table import beside

    with Study.open(study, read_only=True) as opened:
        frame, table, named = opened.trials(), opened.table, opened.names is not None
        names, values, style = id_column(opened), value_column(opened), style_of(opened)
        listed = opened.domain.listed
    shown = frame.rename({"value": values})
    if not listed:
        shown = shown.drop("id")
    if named and names == "id":
        shown = shown.drop("id").rename({"name": "id"})
    if table is not None:
        shown = beside(shown, table, frame["id"].to_list())
    return shown, [], style


def _salvaged(study: str) -> "tuple[pl.DataFrame, list[int], Style]":
    """The readable trials of a damaged study, the numbers of the others, and the style."""
    from noregret.study.storage.salvage import salvage

    found = salvage(Path(study))
    return found.trials, found.lost, Style()


@command("report", "noregret report plates.db -o report.html")
def report(
    study: StudyPath,
    output: Annotated[str, typer.Option("-o", "--output", help="The page.")] = "report.html",
    as_json: Json = False,
) -> None:
    """Write one self-contained page: plots, the best choices, settings."""
    from noregret.reporting.report import write_report

    with looking(study) as opened:
        write_report(opened, Path(output))
    if as_json:
        print_json({"output": output})
        return
    say(f"{output} written.")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _measured(row: dict[str, Any]) -> str:
    """What was measured: the value, or the mean of several."""
    return f"{'' if row['evaluations'] == 1 else 'mean '}{_short(row['measured'])}"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)
