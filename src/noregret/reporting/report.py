"""One self-contained page about a study: what is best, whether the model fits, how it went."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from noregret.reporting import slices
from noregret.reporting.checks import ModelCheck, check_study
from noregret.reporting.findings import DEVIATIONS
from noregret.reporting.measured import recommended
from noregret.reporting.svg import BLUE, GREY, MOST_POINTS, RED, Chart, number, rows_chart, text
from noregret.reporting.words import choices_in_words
from noregret.study import Study
from noregret.study.evaluating.stopping import is_unlearnt

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #20262d; max-width: 66rem;
       margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .3rem; }
p.note { color: #4a545e; margin: .2rem 0 .6rem; }
.plots { display: grid; gap: 1.2rem;
         grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
figure { margin: 0; max-width: 32rem; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; display: block; } svg text { font-size: 11.5px; fill: #39424c; }
svg .mid { text-anchor: middle; } svg .end { text-anchor: end; }
svg .grid { stroke: #e4e8ec; } svg .axis { stroke: #8a939d; }
.key { font-size: .85rem; display: flex; flex-wrap: wrap; gap: .1rem 1rem; color: #4a545e; }
.key i { display: inline-block; width: 1.2rem; height: .3rem; margin-right: .35rem;
         vertical-align: middle; }
.key i.dot { width: .5rem; height: .5rem; border-radius: 50%; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .5rem .25rem 0; border-bottom: 1px solid #e2e6ea;
         overflow-wrap: normal; }
.big { display: flex; flex-wrap: wrap; gap: .8rem 2rem; margin: 1rem 0; }
.big div b { display: block; font-size: 1.4rem; }
.warning { border-left: 4px solid #c0392b; background: #fdf3f1; padding: .4rem .8rem;
           margin: .6rem 0; }
.fine { border-left: 4px solid #2e7d4f; background: #f1f8f4; padding: .4rem .8rem; }
@media print { body { font-size: 10.5pt; max-width: none; margin: 0; }
  figure, tr, .warning { break-inside: avoid; } h2 { break-after: avoid; }
  .plots { grid-template-columns: 1fr 1fr; } .wide { overflow: visible; }
  table { font-size: 8.5pt; } * { print-color-adjust: exact; } }
"""


def write_report(study: Study, path: Path) -> None:
    """Write the page; an existing file is replaced."""
    page = render(study)
    path.write_text(page, encoding="utf-8")


def render(study: Study) -> str:
    """The page as text."""
    counts = study.counts()
    parts = [f"<h1>{text(study.path.name)}</h1>", _summary(study, counts)]
    if counts["told"]:
        asks, check = _asks(study), check_study(study)
        parts += [_best(study), _fit(check), _progress(study, asks)]
        parts += [_slices(study), _batches(asks)]
    else:
        parts.append("<p>There are no answers yet.</p>")
    parts += [_failures(study), _settings(study), _events(study)]
    body = "\n".join(part for part in parts if part)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(study.path.name)}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _summary(study: Study, counts: dict[str, int]) -> str:
    tiles = [(str(counts["told"]), "answers"), (str(counts["pending"]), "trials open")]
    if counts["failed"]:
        tiles.append((str(counts["failed"]), "trials failed"))
    if counts["told"]:
        best = study.best()
        tiles.append((number(best.mean), f"best: {study.name_of(best.id, best.point)}"))
        if not is_unlearnt(study):
            tiles.append((f"{number(best.lower)} … {number(best.upper)}", "its interval"))
            proved = "" if study.optimizer.proved else " (by the model, not proved)"
            tiles.append((number(best.gap), f"no other is better by more than this{proved}"))
        alive = study.optimizer.alive
        if alive is not None:
            tiles.append((f"{alive:,}", f"of {study.size:,} can still be the best"))
    cells = "".join(f"<div><b>{text(big)}</b>{text(small)}</div>" for big, small in tiles)
    goal = "the smallest" if study.settings["direction"] == "minimize" else "the largest"
    note = f"{study.settings['algorithm']} looks for {goal} value in {choices_in_words(study)}."
    return f'<p class="note">{text(note)}</p><div class="big">{cells}</div>'


# -- what is best, and whether to believe it -------------------------------------------------


def _best(study: Study) -> str:
    frame = recommended(study, 15)
    if study.names is not None:
        frame = frame.drop("id")
    # One column for the interval, and four digits, so that the table fits on a telephone.
    ends = frame.select("lower", "upper").iter_rows()
    interval = pl.Series("lower", [f"{low:.4g} … {high:.4g}" for low, high in ends])
    short = [pl.Series(name, [None if v is None else f"{v:.4g}" for v in frame[name]], pl.String)
             for name in ("mean", "measured", "median")]  # fmt: skip
    shown = frame.with_columns(interval, *short).drop("upper")
    shown = shown.rename({"mean": "model", "lower": "interval", "evaluations": "times"})
    note = (
        "model and interval are what the model says; times is how often a choice was measured; "
        "measured is the mean of its values and median their median."
    )
    return _section("The best choices", note, _html_table(shown))


def _fit(check: ModelCheck) -> str:
    """Warnings, and charts of predicted against measured values."""
    boxes = "".join(f'<p class="warning">{text(one.text)}</p>' for one in check.findings)
    if not len(check.predicted):
        note = "There are too few measured choices to check the model."
        if check.heavy:
            note = (
                "Outliers are expected, and count only a little. So choices are not predicted from "
                "each other here: by least squares, single outliers would bend all predictions."
            )
        return _section("Does the model fit?", note, boxes)
    inside = round(check.coverage * len(check.measured))
    words = (
        f"{inside} of {len(check.measured)} measured means ({100 * check.coverage:.0f} %) lie in "
        "the 95 % interval that the model gives without them."
    )
    if not boxes:
        boxes = f'<p class="fine">No warnings. {text(words)}</p>'
        words = ""
    reach = DEVIATIONS * check.deviation
    ends = [
        min(check.measured.min(), check.predicted.min()),
        max(check.measured.max(), check.predicted.max()),
    ]
    chart = (
        Chart("Predicted against measured", "predicted from all the others", "measured")
        .line(ends, ends, GREY, "equal")
        .points(check.predicted, check.measured, BLUE, "a choice")
        .render()
    )
    order = np.argsort(check.predicted)
    rank = np.arange(1, len(order) + 1)
    middle = check.predicted[order]
    intervals = (
        Chart("The same with 95 % intervals", "choices, in the order of predictions", "value")
        .bars(rank, (middle - reach[order]), (middle + reach[order]), BLUE, "predicted interval")
        .points(rank, check.measured[order], RED, "measured mean")
        .render()
    )
    note = "Every choice is predicted from the measurements of all the others. " + words
    return _section("Does the model fit?", note, boxes + _grid([chart, intervals]))


# -- plots -----------------------------------------------------------------------------------


def _asks(study: Study) -> list[dict[str, Any]]:
    """What the log says of each batch, in order."""
    log = study.operations()
    return [info for kind, info in zip(log["kind"], log["info"], strict=True) if kind == "ask"]


def best_so_far(study: Study, asks: list[dict[str, Any]]) -> list[dict[str, float]]:
    """The best choice at some batches and now: answers ``t``, ``mean``, ``lower``, ``upper``."""
    noted = [info["best"] for info in asks if "best" in info]
    if noted and noted[-1]["t"] == study.optimizer.t:
        return noted
    best = study.best()
    now = {"mean": best.mean, "lower": best.lower, "upper": best.upper}
    return [*noted, {"t": study.optimizer.t, **now}]


def _progress(study: Study, asks: list[dict[str, Any]]) -> str:
    noted = best_so_far(study, asks)
    plots = []
    if len(noted) > 1:
        t, mean, lower, upper = (
            [best[name] for best in noted] for name in ("t", "mean", "lower", "upper")
        )
        chart = Chart("Best choice so far", "answers", "value")
        chart.band(t, lower, upper, BLUE, "its interval").line(t, mean, BLUE, "its estimate")
        plots.append(chart.render())
    values = np.asarray(study.units.values(study.optimizer.history.rewards))
    steps = np.arange(1, len(values) + 1)
    minimize = study.settings["direction"] == "minimize"
    running = np.minimum.accumulate(values) if minimize else np.maximum.accumulate(values)
    chart = Chart("Values over time", "answers, in the order told", "value")
    chart.points(steps, values, GREY, "value").line(
        *_steps(steps, running), RED, "best value measured"
    )
    plots.append(chart.render())
    note = (
        "The estimate is what the model expects of the choice recommended at that time. The best "
        "value measured may be luck."
    )
    if len(values) > MOST_POINTS:
        note += f" {MOST_POINTS:,} of {len(values):,} values are drawn."
    return _section("Progress", note, _grid(plots))


def _batches(asks: list[dict[str, Any]]) -> str:
    if not asks:
        return ""
    sizes = [info["size"] for info in asks]
    asked = np.cumsum([0, *sizes])
    chart = Chart("Batch sizes", "trials asked for").include(0.0)
    plots = [chart.line(*_steps(asked, [*sizes, sizes[-1]])).render()]
    known = [(n, i["dictionary"]) for n, i in zip(asked, asks, strict=False) if "dictionary" in i]
    note = ""
    if known:
        known.append((asked[-1], known[-1][1]))
        chart = Chart("Inducing points of the model", "trials asked for").include(0.0)
        plots.append(chart.line(*_steps(*zip(*known, strict=True))).render())
        note = "The model describes all choices by some that were measured: its inducing points."
    return _section("Batches and the model", note, _grid(plots))


def _steps(x: Any, y: Any) -> tuple[Any, Any]:
    """A line that keeps each y until the next x."""
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def _slices(study: Study) -> str:
    title = "Slices through the best point"
    if slices.unavailable(study):
        return _section(title, slices.unavailable(study), "")
    found = slices.through_best(study)
    shown = found[: slices.MOST]
    importance = rows_chart(
        "Importance of the features",
        "how far the mean moves along the feature",
        [one.name for one in shown],
        [one.range for one in shown],
    )
    plots = [_slice(one) for one in shown]
    scales = slices.lengthscales(study)
    table = "" if scales is None else _html_table(scales)
    note = (
        "One feature is moved, the others stay at the best choice (red). The line is what the "
        f"model expects, the band {slices.DEVIATIONS:g} deviations on either side. A feature is "
        "important if the line moves far"
        + ("." if scales is None else "; the kernel's lengthscales are in the table.")
    )
    if len(found) > len(shown):
        note += f" The {len(shown)} most important of {len(found)} features are shown."
    return _section(title, note, _grid([importance, *plots]) + table)


def _slice(one: slices.Slice) -> str:
    title = f"Slice along {one.name}"
    if one.categories:
        best = int(one.best)
        return rows_chart(
            title, "value", one.categories, one.mean, one.lower, one.upper, strong=best
        )
    chart = Chart(title, one.name, "value", height=200.0, log_x=one.log)
    return chart.band(one.x, one.lower, one.upper).line(one.x, one.mean).rule(one.best).render()


# -- tables ----------------------------------------------------------------------------------


def _failures(study: Study) -> str:
    failed = study.records.failed()
    if not failed:
        return ""
    last = failed[-10:]
    found = study.get([trial.number for trial in last])
    choices = zip(found.ids.tolist(), found.values, strict=True)
    shown = pl.DataFrame(
        {
            "trial": [trial.number for trial in last],
            "choice": [study.name_of(*one) for one in choices],
            "reason": [(trial.reason or "")[-300:] for trial in last],
        }
    )
    note = "" if len(last) == len(failed) else f"The last {len(last)} of {len(failed)}."
    return _section("Failures", note, _html_table(shown))


def _settings(study: Study) -> str:
    left_out = ("about", "named", "kernel")
    settings = {
        k: v for k, v in study.settings.items() if k not in left_out and v not in (None, [])
    }
    optimizer, assumed = study.optimizer, study.optimizer.assumed
    shift, unit, warp = assumed.shift, assumed.unit, assumed.warp
    settings |= {
        "kernel": _rounded(repr(assumed.kernel)),
        "noise": number(float(assumed.noise_near(optimizer.recommend().mean))),
        "learnt": ", ".join(optimizer.learnt) or "nothing",
        "delta": optimizer.delta,
        "width": optimizer.width,
    }
    if (shift, unit) != (0.0, 1.0):
        mean, spread = float(study.units.values(shift)), float(unit)
        settings.pop("prior_mean", None)  # the mean has been learnt since
        sign = "+" if mean < 0 else "−"
        settings["the kernel describes"] = f"(value {sign} {number(abs(mean))}) / {number(spread)}"
    if warp.strength:
        centre, size = float(study.units.values(warp.centre)), warp.scale / warp.strength
        side = "below" if study.units.sign > 0 else "above"
        settings["logarithmic scale"] = (
            f"values {side} {number(centre)} are first moved to a distance of {number(size)} "
            f"· log(1 + distance / {number(size)}) from it"
        )
    notes = study.settings["about"].get("notes", [])
    frame = pl.DataFrame(
        {
            "setting": [name.replace("_", " ") for name in settings],
            "value": [str(value) for value in settings.values()],
        }
    )
    return _section("Settings", " ".join(str(note) for note in notes), _html_table(frame))


def _rounded(words: str) -> str:
    """A text with its numbers rounded to four digits."""
    return re.sub(r"\d+\.\d{3,}(e[+-]\d+)?", lambda found: f"{float(found[0]):.4g}", words)


def _events(study: Study) -> str:
    events = study.events().tail(20)
    details = [_details(json.loads(one)) for one in events["details"]]
    events = events.with_columns(
        pl.Series("details", details, pl.String), pl.col("time").dt.truncate("1s")
    )
    note = (
        "First what was done to the study, then what the algorithm did by itself; the last 20 at "
        "most. Noise and norm of a fit are in the unit of its kernel."
    )
    return _section("Events", note, _html_table(events))


def _details(about: dict[str, Any]) -> str:
    """What an event says, without checksums, which only programs compare."""
    names = {"t": "answers"}
    shown = {names.get(k, k.replace("_", " ")): v for k, v in about.items() if k != "sha256"}
    return _rounded(", ".join(f"{name}: {value}" for name, value in shown.items()))


def _html_table(frame: pl.DataFrame) -> str:
    head = "".join(f"<th>{text(name)}</th>" for name in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{text(number(value))}</td>" for value in row) + "</tr>"
        for row in frame.iter_rows()
    )
    return f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'


def _section(title: str, note: str, content: str) -> str:
    words = f'<p class="note">{text(note)}</p>' if note else ""
    return f"<section><h2>{text(title)}</h2>{words}{content}</section>"


def _grid(images: Iterable[str]) -> str:
    return f'<div class="plots">{"".join(images)}</div>'
