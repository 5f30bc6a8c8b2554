"""One self-contained page about a study: plots people want to look at, and the best choices."""

import base64
import html
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from noregret.reporting import slices
from noregret.study import Study

_BLUE, _GREY, _RED = "#1f5fa8", "#9aa3ad", "#c0392b"
#: answers that are drawn, evenly chosen where there are more
_MOST_POINTS = 10_000
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #20262d; max-width: 62rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
p.note { color: #5a6570; margin: .2rem 0 .6rem; } img { max-width: 100%; height: auto; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .7rem; border-bottom: 1px solid #e2e6ea; }
.big { display: flex; flex-wrap: wrap; gap: 2rem; margin: 1rem 0; }
.big div b { display: block; font-size: 1.5rem; }
"""


def write_report(study: Study, path: Path) -> None:
    """Write the page; a file of that name is replaced."""
    page = render(study)
    path.write_text(page, encoding="utf-8")


def render(study: Study) -> str:
    """The page as text."""
    counts = study.counts()
    parts = [f"<h1>{_text(study.path.name)}</h1>", _summary(study, counts)]
    trials = study.trials()
    if counts["told"]:
        asks = _asks(study)
        parts += [_progress(study, trials, asks), _batches(asks), _slices(study)]
        parts.append(_section("The best choices", "", _html_table(study.top(15))))
    else:
        parts.append("<p>There are no answers yet.</p>")
    parts += [_failures(trials), _settings(study), _events(study)]
    body = "\n".join(part for part in parts if part)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{_text(study.path.name)}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _summary(study: Study, counts: dict[str, int]) -> str:
    tiles = [(str(counts["told"]), "answers"), (str(counts["pending"]), "trials open")]
    if counts["failed"]:
        tiles.append((str(counts["failed"]), "trials failed"))
    if counts["told"]:
        best = study.best()
        tiles.append((_number(best.mean), f"best: {study.name_of(best.id, best.point)}"))
        tiles.append((f"{_number(best.lower)} … {_number(best.upper)}", "its interval"))
        tiles.append((_number(best.gap), "no other is better by more than this"))
        alive = study.optimizer.alive
        if alive is not None:
            tiles.append((f"{alive:,}", f"of {study.size:,} can still be the best"))
    cells = "".join(f"<div><b>{_text(big)}</b>{_text(small)}</div>" for big, small in tiles)
    goal = "the smallest" if study.settings["direction"] == "minimize" else "the largest"
    settings = study.settings
    note = f"{settings['algorithm']} looks for {goal} value in {study.domain!r}."
    return f'<p class="note">{_text(note)}</p><div class="big">{cells}</div>'


# -- plots -----------------------------------------------------------------------------------


def _asks(study: Study) -> list[dict[str, Any]]:
    """What the log says of each batch, in order."""
    log = study.operations()
    return [info for kind, info in zip(log["kind"], log["info"], strict=True) if kind == "ask"]


def _progress(study: Study, trials: pl.DataFrame, asks: list[dict[str, Any]]) -> str:
    noted = [info["best"] for info in asks if "best" in info]
    plots = []
    if noted:
        figure, axes = _figure()
        t, mean, lower, upper = (
            [best[name] for best in noted] for name in ("t", "mean", "lower", "upper")
        )
        axes.fill_between(t, lower, upper, color=_BLUE, alpha=0.2, label="its interval")
        axes.plot(t, mean, color=_BLUE, label="estimate of the best")
        axes.set(xlabel="answers", ylabel="value")
        axes.legend(frameon=False)
        plots.append(_image(figure, "Best choice so far, with its confidence interval"))
    told = trials.filter(pl.col("status") == "told").sort("done", "trial")
    values = told["value"].to_numpy()
    figure, axes = _figure()
    minimize = study.settings["direction"] == "minimize"
    running = np.minimum.accumulate(values) if minimize else np.maximum.accumulate(values)
    shown = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).astype(np.int64))
    axes.plot(
        shown + 1, values[shown], ".", color=_GREY, markersize=3, rasterized=True, label="value"
    )
    axes.plot(shown + 1, running[shown], color=_RED, label="best value measured (noise included)")
    axes.set(xlabel="answers, in the order told", ylabel="value")
    axes.legend(frameon=False, loc="lower right")
    plots.append(_image(figure, "Values over time"))
    note = (
        "The estimate is the choice with the best guaranteed value at that time, which a lucky "
        "measurement cannot fool."
    )
    return _section("Progress", note, _grid(plots))


def _batches(asks: list[dict[str, Any]]) -> str:
    if not asks:
        return ""
    plots = []
    asked = np.cumsum([info["size"] for info in asks])
    figure, axes = _figure()
    axes.step(asked, [info["size"] for info in asks], where="pre", color=_BLUE)
    axes.set(xlabel="trials asked for", ylabel="batch size")
    axes.set_ylim(bottom=0)
    plots.append(_image(figure, "Batch sizes"))
    sizes = [(n, i["dictionary"]) for n, i in zip(asked, asks, strict=True) if "dictionary" in i]
    if sizes:
        figure, axes = _figure()
        axes.step(*zip(*sizes, strict=True), where="post", color=_BLUE)
        axes.set(xlabel="trials asked for", ylabel="inducing points")
        axes.set_ylim(bottom=0)
        plots.append(_image(figure, "Dictionary growth"))
    return _section("Batches and the model", "", _grid(plots))


def _slices(study: Study) -> str:
    if slices.unavailable(study):
        return _section("Slices through the best point", slices.unavailable(study), "")
    found = slices.through_best(study)
    figure, axes = _figure(height=0.6 + 0.3 * len(found))
    axes.barh(
        [_plain(one.name) for one in found][::-1], [one.range for one in found][::-1], color=_BLUE
    )
    axes.set(xlabel="how far the mean moves along the feature")
    importance = _image(figure, "Importance of the features")
    plots = []
    for one in found[: slices.MOST]:
        figure, axes = _figure(width=4.2, height=2.6)
        if one.categories:
            axes.vlines(one.x, one.lower, one.upper, color=_BLUE, alpha=0.3, linewidth=8)
            axes.plot(one.x, one.mean, "o", color=_BLUE)
            axes.set_xticks(one.x, [_plain(word) for word in one.categories])
        else:
            axes.fill_between(one.x, one.lower, one.upper, color=_BLUE, alpha=0.2)
            axes.plot(one.x, one.mean, color=_BLUE)
        if one.log:
            axes.set_xscale("log")
        axes.axvline(one.best, color=_RED, linewidth=1)
        axes.set(xlabel=_plain(one.name), ylabel="value")
        plots.append(_image(figure, f"Slice along {one.name}"))
    scales = slices.lengthscales(study)
    table = "" if scales is None else _html_table(scales)
    note = (
        "One feature is moved, the others stay at the best choice (red line). The line is the "
        f"posterior mean, the band {slices.DEVIATIONS:g} posterior deviations on either side. A "
        "feature is important where the line moves far"
        + ("." if scales is None else "; the kernel's lengthscales are in the table.")
    )
    return _section("Slices through the best point", note, _grid([importance, *plots]) + table)


# -- tables ----------------------------------------------------------------------------------


def _failures(trials: pl.DataFrame) -> str:
    failed = trials.filter(pl.col("status") == "failed")
    if failed.is_empty():
        return ""
    last = failed.tail(10).select("trial", "id", pl.col("reason").str.slice(-300))
    return _section("Failures", f"The last of {len(failed)}.", _html_table(last))


def _settings(study: Study) -> str:
    settings = {k: v for k, v in study.settings.items() if k not in ("about", "named")}
    optimizer = study.optimizer
    settings |= {
        "kernel in use": optimizer.kernel,
        "noise": optimizer.noise,
        "norm": optimizer.norm,
        "delta": optimizer.delta,
        "lam": optimizer.lam,
        "width": optimizer.width,
        "standardisation": optimizer.standardisation,
    }
    notes = study.settings["about"].get("notes", [])
    frame = pl.DataFrame(
        {"setting": list(settings), "value": [str(value) for value in settings.values()]}
    )
    return _section("Settings", " ".join(str(note) for note in notes), _html_table(frame))


def _events(study: Study) -> str:
    events = study.events().tail(20)
    return _section("Events", "The last 20 at most.", _html_table(events))


def _html_table(frame: pl.DataFrame) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_text(_number(value))}</td>" for value in row) + "</tr>"
        for row in frame.iter_rows()
    )
    return f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'


def _section(title: str, note: str, content: str) -> str:
    words = f'<p class="note">{_text(note)}</p>' if note else ""
    return f"<h2>{_text(title)}</h2>{words}{content}"


def _grid(images: Iterable[str]) -> str:
    return f'<div class="plots">{"".join(images)}</div>'


def _figure(width: float = 5.2, height: float = 3.0) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _image(figure: Figure, title: str) -> str:
    """The figure inside the page: nothing is loaded from elsewhere."""
    figure.axes[0].set_title(_plain(title), fontsize=10, loc="left")
    file = io.BytesIO()
    figure.savefig(file, format="svg", dpi=150)
    data = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="{_text(title)}" src="data:image/svg+xml;base64,{data}">'


def _plain(text: str) -> str:
    """Matplotlib sets what stands between dollars as a formula: names are plain text."""
    return text.replace("$", r"\$")


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return "" if value is None else str(value)


def _text(value: Any) -> str:
    """Text for the page: what comes from files is never markup."""
    return html.escape(str(value))
