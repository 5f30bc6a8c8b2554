"""The main job end to end, on real files: a library in CSV, a study, four workers, a report.

    python examples/library_demo.py [folder]

makes a library of 10,000 candidates, creates a study from it, runs a measuring program on four
workers in plates of 24, shows the best candidates and writes ``report.html``. Kernel and noise are
learnt from the measurements. Interrupt it at any time: the same call goes on.
"""

import csv
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import noregret as nr

MEASURE = '''"""Stands for your instrument: prints the noisy yield of one recipe."""
import math, random, sys


def truth(temperature, acidity, dose, time):
    t, p, d = (temperature - 62) / 25, (acidity - 6.1) / 2.2, (dose - 3.2) / 2.5
    return 80 * math.exp(-0.5 * (t * t + p * p + d * d)) + 0.08 * time


if __name__ == "__main__":
    print(truth(*map(float, sys.argv[1:5])) + random.gauss(0, 4))
'''


def noregret(*arguments: object) -> None:
    """One command, shown as it would be typed."""
    words = [str(argument) for argument in arguments]
    print("\n$ noregret " + " ".join(f'"{w}"' if " " in w else w for w in words), flush=True)
    subprocess.run([sys.executable, "-m", "noregret", *words], check=True)


def write_library(path: Path, size: int) -> None:
    """Recipes at random: four numbers and a name each."""
    rng = np.random.default_rng(0)
    low, high = np.array([20, 2, 0.1, 5]), np.array([120, 11, 10, 60])
    recipes = rng.uniform(low, high, size=(size, 4)).round(2)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["recipe", "temperature", "acidity", "dose", "time"])
        writer.writerows([f"R{i:05d}", *row] for i, row in enumerate(recipes.tolist()))


def compare_with_truth(study: Path, library: Path, program: Path) -> None:
    """What only a demonstration can say: how good the recommended recipe really is."""
    truth = runpy.run_path(str(program))["truth"]
    with library.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    yields = {name: truth(*map(float, cells)) for name, *cells in rows}
    with nr.Study.open(study, read_only=True) as opened:
        best, told = opened.best(), opened.counts()["told"]
        name = opened.name_of(best.id, best.point)
    rank = sum(one > yields[name] for one in yields.values()) + 1
    print(
        f"\nThe truth, without noise: {name} yields {yields[name]:.1f} and is number {rank} of "
        f"{len(yields):,}; the best yields {max(yields.values()):.1f}, the average recipe "
        f"{np.mean(list(yields.values())):.1f}. {told} recipes were measured, each with an error "
        "of 4."
    )


def main(folder: Path, size: int = 10_000, budget: int = 192) -> None:
    """Everything in ``folder``."""
    study, library, program = folder / "plates.db", folder / "library.csv", folder / "measure.py"
    program.write_text(MEASURE)
    if not study.exists():
        write_library(library, size)
        noregret("create", study, "--candidates", library, "--id", "recipe", "--seed", 1)
    command = f"{sys.executable} -I -S {program} {{temperature}} {{acidity}} {{dose}} {{time}}"
    plates = ("--batch", 24, "--workers", 4)
    noregret("run", study, "--command", command, "--budget", budget, *plates)
    noregret("best", study, "--top", 5)
    noregret("report", study, "-o", folder / "report.html")
    compare_with_truth(study, library, program)


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    chosen.mkdir(parents=True, exist_ok=True)
    main(chosen)
