"""The main job end to end, on real files: a library in CSV, a study, four workers, a report.

    python examples/library_demo.py [folder]

makes a library of 10,000 candidates, creates a study from it, runs a measuring program on four
workers, shows the best candidates and writes ``report.html``. Interrupt it at any time: the same
call goes on.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MEASURE = '''"""Stands for your instrument: prints the noisy yield of one recipe."""
import math, random, sys

temperature, acidity, dose, time = (float(word) for word in sys.argv[1:5])
t, p, d = (temperature - 62) / 25, (acidity - 6.1) / 2.2, (dose - 3.2) / 2.5
truth = 80 * math.exp(-0.5 * (t * t + p * p + d * d)) + 0.08 * time
print(truth + random.gauss(0, 4))
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


def main(folder: Path, size: int = 10_000, budget: int = 300) -> None:
    """Everything in ``folder``."""
    study, library, program = folder / "plates.db", folder / "library.csv", folder / "measure.py"
    program.write_text(MEASURE)
    if not study.exists():
        write_library(library, size)
        noregret(
            *("create", study, "--candidates", library, "--id", "recipe", "--seed", 1),
            *("--kernel", "rbf", "--scale", 30, "--noise", 4, "--prior-mean", 20),
            *("--lengthscale", 1.5, "--width", 3),
        )
    command = f"{sys.executable} -I -S {program} {{temperature}} {{acidity}} {{dose}} {{time}}"
    noregret("run", study, "--command", command, "--budget", budget, "--workers", 4)
    noregret("best", study, "--top", 5)
    noregret("report", study, "-o", folder / "report.html")


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    chosen.mkdir(parents=True, exist_ok=True)
    main(chosen)
