"""The command line in the tests' own process, and a library of compounds for it."""

import csv
import sys

import numpy as np
import polars as pl
from typer.testing import CliRunner

from noregret.cli.main import app

MEASURE = """
import math, sys
a, b = float(sys.argv[1]), float(sys.argv[2])
print("warming up")
print(math.sin(5 * a) - (b - 7) ** 2)
"""

#: the program MEASURE, as the command line takes it
PROGRAM = f"{sys.executable} -I -S measure.py {{a}} {{b}}"


def noregret(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def library(path, n=120):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "compound": [f"cmp{i:03d}" for i in range(n)],
            "a": rng.uniform(size=n).round(3),
            "b": rng.uniform(5, 9, size=n).round(3),
            "solvent": rng.choice(["water", "<b>dmso</b>"], size=n),
        }
    )
    frame.write_csv(path)
    return frame


def value(row):
    return round(np.sin(5 * float(row["a"])) - (float(row["b"]) - 7) ** 2, 6)


def fill_in(source, target, keep=lambda i: True):
    """Fill the value column of what ``ask`` gave, last row first, with a column more."""
    with open(source, newline="") as file:
        rows = list(csv.DictReader(file))
    for i, row in enumerate(rows):
        row["value"] = value(row) if keep(i) else ""
    rows.reverse()
    with open(target, "w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "note"])
        writer.writeheader()
        writer.writerows(rows)
    return rows
