"""Run the shell commands of a documentation page as a reader does who copies them block by block.

A block is what stands between ```` ```sh ```` (or ```` ```bash ````) and ```` ``` ````. All blocks
of a page run in one folder, in a real shell, and stop at the first command that fails.
"""

import contextlib
import csv
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import noregret as nr
from noregret.cli.main import app

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```", re.M | re.S)
# Commands that install something, take minutes or need the repository.
LEFT_OUT = ("make ", "pip ", "git ")

Measure = Callable[[dict[str, str]], float]


def shell_blocks(page: Path) -> list[str]:
    """The shell blocks of ``page`` that hold a command to run, without the commands left out."""
    found = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        kept = [line for line in block.splitlines() if not line.startswith(LEFT_OUT)]
        if any(line and not line.startswith("#") for line in kept):
            found.append("\n".join(kept) + "\n")
    return found


def run_shell_blocks(page: Path, folder: Path, measure: Measure | None = None) -> list[str]:
    """Run the shell blocks of ``page`` in ``folder``, one after another; what each one printed.

    Put the files that the page expects into ``folder`` first. ``measure`` does what the reader
    does by hand between two blocks: in every CSV file of ``folder`` it fills the empty cells of
    the column ``value``. It gets the row as a dict and gives the number.
    """
    (folder / "bin").mkdir(exist_ok=True)
    command = folder / "bin" / "noregret"  # the package under test, installed or not
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m noregret "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    places = [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = os.environ | {
        "PATH": os.pathsep.join(places),
        "PYTHONPATH": str(Path(nr.__file__).parents[1]),
        "NOREGRET_THREADS": "1",
    }
    printed = []
    for block in shell_blocks(page):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{page.name}:\n{block}\n{done.stdout}{done.stderr}"
        printed.append(done.stdout)
        if measure is not None:
            for table in folder.glob("*.csv"):
                fill_values(table, measure)
    return printed


def run_in_process(page: Path, folder: Path, measure: Measure) -> list[str]:
    """As :func:`run_shell_blocks`, for blocks of ``noregret`` commands alone, in this process.

    Many times quicker, as no interpreter is started. ``> file`` at the end of a line is understood.
    """
    printed = []
    with contextlib.chdir(folder):
        for block in shell_blocks(page):
            shown = [_command(shlex.split(line, comments=True)) for line in block.splitlines()]
            printed.append("".join(shown))
            for table in folder.glob("*.csv"):
                fill_values(table, measure)
    return printed


def _command(words: list[str]) -> str:
    """Run one command; what it printed, unless that went to a file."""
    if not words:
        return ""
    words, target = (words[:-2], words[-1]) if ">" in words else (words, None)
    assert words[0] == "noregret", words
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    if target is None:
        return done.stdout
    Path(target).write_text(done.stdout, encoding="utf-8")
    return ""


def fill_values(table: Path, measure: Measure) -> None:
    """Fill the empty cells of the column ``value`` of a CSV file, where it has such a column."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or "value" not in rows[0]:
        return
    for row in rows:
        row["value"] = row["value"] or str(measure(row))
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_library(path: Path, size: int = 300) -> None:
    """A library of made-up compounds as a CSV file: a name, three numbers and a word each."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["compound", "logp", "weight", "rings", "solvent"])
        for i in range(size):
            numbers = [round(rng.uniform(-1, 6), 2), round(rng.uniform(150, 600), 1)]
            word = ["water", "ethanol"][int(rng.integers(2))]
            writer.writerow([f"C{i:04d}", *numbers, int(rng.integers(6)), word])


def activity(compound: dict[str, str]) -> float:
    """A measurement of one of these compounds: highest at logp 2.5 and weight 350."""
    away = (float(compound["logp"]) - 2.5) ** 2 + (float(compound["weight"]) / 80 - 4.4) ** 2
    return round(10 * math.exp(-away / 2), 3)
