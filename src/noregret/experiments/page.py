"""The pages of results, from the summaries of experiments: ``python -m noregret.experiments.page``.

``docs/results/data`` holds for each experiment its summary (``ID.json``), its pictures and its
prose (``ID.md``). This module writes one page for each paper, and an index of all experiments. The
prose begins with a paragraph ``**Verdict: agrees.** Why.``, which the table at the top of the page
repeats. Measured numbers stand in the prose as placeholders of :meth:`str.format` over the summary,
such as ``{measured[ratio]:.2f}``. The table of all numbers is made from the summary's rows.
"""

import argparse
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from noregret.experiments.experiment import Experiment
from noregret.experiments.registry import experiments

#: where the table of verdicts goes in the introduction
_TABLE = "<!-- the table of verdicts -->"
#: the first paragraph of an experiment's prose: the verdict and, in a sentence or two, why
_VERDICT = re.compile(r"\*\*Verdict: ([a-z ]+)\.\*\* (.+?)\n\n", re.S)


def collect(results: Path, folder: Path) -> list[str]:
    """Copy summaries and pictures of the experiments run with the page's settings; their ids."""
    taken = []
    for id_, experiment in experiments().items():
        path = results / f"{id_}.json"
        if not path.exists():
            continue
        summary = json.loads(path.read_text())
        # A quick try, or a run with other settings, is not what the page describes.
        if summary["settings"] != json.loads(json.dumps(experiment.settings("page"))):
            continue
        shutil.copyfile(path, folder / path.name)
        for picture in summary["pictures"]:
            shutil.copyfile(results / picture, folder / picture)
        taken.append(id_)
    return taken


def render(folder: Path) -> dict[str, str]:
    """The pages by file name, as Markdown, from a folder of summaries and prose."""
    known = experiments()
    intro = (folder / "intro.md").read_text().strip()
    pages = {"index.md": intro.replace(_TABLE, _overview(folder, known))}
    for paper in dict.fromkeys(experiment.paper for experiment in known.values()):
        chosen = [experiment for experiment in known.values() if experiment.paper == paper]
        sections = [_section(folder, experiment) for experiment in chosen]
        title, verdicts = f"# {paper}: the paper's experiments", _verdicts(folder, chosen)
        pages[_page_of(paper)] = "\n\n".join([title, verdicts, *sections])
    return {name: text + "\n" for name, text in pages.items()}


def _page_of(paper: str) -> str:
    """The file name of a paper's page."""
    names = str.maketrans({"ξ": "xi", "π": "pi", " ": "-"})
    return paper.translate(names).lower() + ".md"


def _overview(folder: Path, known: Mapping[str, Experiment]) -> str:
    """The table of the index: all experiments with their verdicts."""
    rows = []
    for id_, experiment in known.items():
        summary, verdict, _, _ = _read(folder, id_)
        rows.append(
            {
                "experiment": f"[`{id_}`]({_page_of(experiment.paper)}#{id_})",
                "what": f"{experiment.paper}, {experiment.figure}: {experiment.title}",
                "verdict": verdict,
                "processor minutes": summary["processor_minutes"],
                "version": summary["versions"]["noregret"],
            }
        )
    return _markdown_table(rows)


def _verdicts(folder: Path, chosen: Sequence[Experiment]) -> str:
    """The table that opens a paper's page: verdicts, and what to conclude."""
    rows = []
    for experiment in chosen:
        _, verdict, conclusion, _ = _read(folder, experiment.id)
        link = f"[{experiment.figure}](#{experiment.id})"
        rows.append({"experiment": link, "verdict": verdict, "conclusion": conclusion})
    return _markdown_table(rows)


def _section(folder: Path, experiment: Experiment) -> str:
    summary, verdict, conclusion, details = _read(folder, experiment.id)
    pictures = [f"![{experiment.title}](data/{name})" for name in summary["pictures"]]
    parts = [
        f"## {experiment.id}",
        f"{experiment.figure}: {experiment.title}.",
        f"**Verdict: {verdict}.** {conclusion}",
        *pictures,
        details,
        _settings(summary),
    ]
    if rows := summary["measured"].get("rows"):
        table = _markdown_table(rows)
        parts.append(
            f'<details markdown="1"><summary>All numbers</summary>\n\n{table}\n\n</details>'
        )
    return "\n\n".join(parts)


def _read(folder: Path, id_: str) -> tuple[dict[str, Any], str, str, str]:
    """An experiment's summary, and from its prose the verdict, the conclusion and the rest."""
    summary = json.loads((folder / f"{id_}.json").read_text())
    try:
        prose = (folder / f"{id_}.md").read_text().format(**summary)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{id_}.md names a number that {id_}.json does not have: {error}"
        ) from error
    found = _VERDICT.match(prose)
    if found is None:
        raise ValueError(f"{id_}.md must begin with a verdict such as **Verdict: agrees.** Why.")
    return summary, found[1], found[2].replace("\n", " "), prose[found.end() :].strip()


def _settings(summary: Mapping[str, Any]) -> str:
    used, paper = summary["settings"], summary["paper_settings"]
    shown = ", ".join(f"{name} {_value(value)}" for name, value in used.items())
    other = {name: value for name, value in paper.items() if used.get(name) != value}
    text = f"**Settings** of `noregret reproduce {summary['id']}`: {shown}."
    if other:
        full = ", ".join(f"{name} {_value(value)}" for name, value in other.items())
        text += f" With `--full`: {full}."
    return text


def _value(value: Any) -> str:
    if isinstance(value, list):
        return " / ".join(_value(item) for item in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_value(item)}" for key, item in value.items())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(_escaped(name) for name in names) + " |", "|---" * len(names) + "|"]
    for row in rows:
        lines.append("| " + " | ".join(_escaped(_value(row.get(name))) for name in names) + " |")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages; with ``--from``, take new results into the folder first."""
    parser = argparse.ArgumentParser(description="Write the pages of results from their summaries.")
    parser.add_argument("docs", type=Path, nargs="?", default=Path("docs"))
    parser.add_argument("--from", dest="results", type=Path, help="what `noregret reproduce` wrote")
    given = parser.parse_args(arguments)
    folder = given.docs / "results"
    if given.results is not None and given.results.exists():
        print("taken:", *collect(given.results, folder / "data"))
    for name, text in render(folder / "data").items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
