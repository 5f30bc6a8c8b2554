"""``noregret status``: where a study stands."""

from typing import TYPE_CHECKING, Any

from rich.table import Table

from noregret.cli.app import (
    Json,
    Patience,
    StopGap,
    StudyPath,
    Target,
    command,
    open_to_look,
    plain,
    print_json,
    print_table,
)
from noregret.cli.words import about_best, interval, many, short, times, warn

if TYPE_CHECKING:
    from noregret.study import Study

#: how many candidates are named in one line
_NAMED = 20


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
    with open_to_look(study) as opened:
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
                f"{times(row['evaluations'])}, {_measured(row)}"
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
    warn(warnings)


def _in_words(about: dict[str, Any], best: str | None) -> list[tuple[str, str]]:
    """Where a study stands, as labels and texts; what is not set is left out."""
    counts, last = about["counts"], about["last_batch"]
    imported = f" ({counts['history']:,} of them imported)" if counts["history"] else ""
    answers = f"{counts['told']:,} told{imported}, {counts['pending']:,} pending, "
    answers += f"{counts['failed']:,} failed"
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
        ("repeats", about["repeats"] and f"each candidate at most {times(about['repeats'])}"),
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
    from noregret._checks import first_few

    words = [
        f"{one['name']} (failed {times(one['failures'])}: {one['reason']})"
        if one["failures"]
        else one["name"]
        for one in aside
    ]
    return first_few(words, _NAMED, ";")


def _measured(row: dict[str, Any]) -> str:
    """What was measured: the value, or the mean of several."""
    return f"{'' if row['evaluations'] == 1 else 'mean '}{short(row['measured'])}"
