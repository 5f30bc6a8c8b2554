"""The scores of many runs: means with their spread, ranks, seconds."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import head, line

#: one run: what was run, its scores and its seconds
Row = dict[str, Any]
#: what tells runs apart
KEY = ("method", "function", "instance", "noise", "evaluations")


def key(row: Row, names: Sequence[str] = KEY) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def completed(
    path: Path, wanted: Iterable[tuple[Any, ...]], names: Sequence[str], run: Callable[..., Row]
) -> list[Row]:
    """All runs of a file, once the wanted ones that it lacks are run; ``names`` tell runs apart."""
    rows = read(path)
    done = {key(row, names) for row in rows}
    for what in wanted:
        if what not in done:
            rows.append(run(*what))
            with path.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    return rows


def half(rows: Iterable[Row], which: str) -> list[Row]:
    """The rows of the tuning half (even instances), the reporting half (odd ones), or all."""
    odd = {"tuning": (0,), "reporting": (1,), "all": (0, 1)}[which]
    return [row for row in rows if row["instance"] % 2 in odd]


def summary(rows: Sequence[Row]) -> list[Row]:
    """One line a method: over functions, the means of the scores and ranks, with their errors."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    functions = sorted({row["function"] for row in rows})
    by = {m: {f: _runs(rows, m, f) for f in functions} for m in methods}
    found = []
    for method in methods:
        runs = [run for f in functions for run in by[method][f]]
        levels = np.array([_mean(by[method][f], "recommended") for f in functions])
        bests = np.array([_mean(by[method][f], "best") for f in functions])
        seen = np.isfinite(levels)
        ranks = [
            1 + sum(_mean(by[other][f], "recommended") < levels[i] for other in methods)
            for i, f in enumerate(functions)
            if seen[i]
        ]
        found.append(
            {
                "method": method,
                "functions": int(seen.sum()),
                "runs": len(runs),
                "recommended": float(levels[seen].mean()),
                "error": _error(by[method].values(), "recommended"),
                "median": float(np.median([run["recommended"] for run in runs])),
                "best": float(bests[seen].mean()),
                "rank": float(np.mean(ranks)),
                "ms": 1e3 * float(np.mean([run["seconds"] / run["evaluations"] for run in runs])),
            }
        )
    return sorted(found, key=lambda one: float(one["recommended"]))


def _runs(rows: Sequence[Row], method: str, function: str) -> list[Row]:
    return [row for row in rows if row["method"] == method and row["function"] == function]


def _mean(runs: Sequence[Row], score: str) -> float:
    return float(np.mean([run[score] for run in runs])) if runs else float("nan")


def _error(groups: Iterable[Sequence[Row]], score: str) -> float:
    """The standard error of the mean over functions that comes from the few instances of each."""
    kept = [[run[score] for run in runs] for runs in groups if runs]
    parts = [np.var(values, ddof=1) / len(values) for values in kept if len(values) > 1]
    return float(np.sqrt(np.mean(parts) / len(kept))) if parts else float("nan")


def show(rows: Sequence[Row], *, each: bool = False) -> str:
    """Markdown tables, one for every noise and number of evaluations."""
    text = []
    settings = sorted({(row["noise"], row["evaluations"]) for row in rows})
    for noise, evaluations in settings:
        chosen = [r for r in rows if (r["noise"], r["evaluations"]) == (noise, evaluations)]
        text += [f"\n{noise} noise, {evaluations} evaluations\n", overall(chosen)]
        if each:
            text += ["", by_function(chosen)]
    return "\n".join(text)


def overall(rows: Sequence[Row]) -> str:
    """One line a method."""
    scores = ("recommended (± error)", "median run", "best evaluated", "rank", "ms", "runs")
    lines = [head("method", *scores)]
    for one in summary(rows):
        recommended = f"{one['recommended']:.3f} ± {one['error']:.3f}"
        means = f"{one['median']:.3f}", f"{one['best']:.3f}", f"{one['rank']:.1f}"
        runs = f"{one['runs']} on {one['functions']}"
        lines.append(line(one["method"], recommended, *means, f"{one['ms']:.1f}", runs))
    return "\n".join(lines)


def by_function(rows: Sequence[Row]) -> str:
    """One line a function, one column a method."""
    methods = [one["method"] for one in summary(rows)]
    lines = [head("function", *methods)]
    for function in sorted({row["function"] for row in rows}):
        lines.append(line(function, *(_cell(_runs(rows, method, function)) for method in methods)))
    return "\n".join(lines)


def _cell(runs: Sequence[Row]) -> str:
    """Mean and standard deviation over instances."""
    if not runs:
        return "–"
    scores = [run["recommended"] for run in runs]
    return f"{np.mean(scores):.2f} ± {np.std(scores):.2f}"
