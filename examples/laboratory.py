"""A laboratory loop: plates of 24 wells, asked for and told as CSV files.

    python examples/laboratory.py

Somebody pipettes what ``plate.csv`` says and fills its ``value`` column; here a formula does.
The same loop works from the shell with ``noregret ask`` and ``noregret tell``.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import noregret as nr


def noregret(*arguments: object) -> None:
    """One command."""
    words = [str(argument) for argument in arguments]
    subprocess.run([sys.executable, "-m", "noregret", *words], check=True)


def pipette(plate: Path, results: Path, rng: np.random.Generator) -> None:
    """Measure every well of a plate, in an order of one's own; one well in 24 is spilt."""
    with plate.open(newline="") as file:
        wells = list(csv.DictReader(file))
    rng.shuffle(wells)
    for i, well in enumerate(wells):
        x, y = float(well["lipophilicity"]), float(well["weight"])
        activity = 10 * np.exp(-((x - 2.5) ** 2) - ((y - 350) / 80) ** 2)
        well["value"] = "" if i == 0 else round(activity + rng.normal(0, 0.5), 3)
        well["failed"] = "spilt" if i == 0 else ""
    with results.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(wells[0]))
        writer.writeheader()
        writer.writerows(wells)


def main(folder: Path, plates: int = 4) -> nr.Recommendation:
    """Run a few plates; the best compound."""
    rng = np.random.default_rng(0)
    with (folder / "library.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["compound", "lipophilicity", "weight"])
        for i in range(1500):
            row = [f"C{i:04d}", round(rng.uniform(-1, 6), 2), round(rng.uniform(150, 600), 1)]
            writer.writerow(row)
    study = folder / "plates.db"
    noregret(
        *("create", study, "--candidates", folder / "library.csv", "--id", "compound"),
        *("--batch", 24, "--seed", 0, "--scale", 3, "--noise", 0.5, "--lengthscale", 0.5),
        *("--width", 2),
    )
    for _ in range(plates):
        noregret("ask", study, "-o", folder / "plate.csv")
        pipette(folder / "plate.csv", folder / "results.csv", rng)
        noregret("tell", study, folder / "results.csv")
    noregret("best", study, "--top", 3)
    with nr.Study.open(study, read_only=True) as opened:
        return opened.best()


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp()))
