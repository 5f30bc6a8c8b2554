"""Durable studies: time per tell, size on disk and time to open, as the trials add up.

Every tell is one transaction that is on disk
before the call returns, so its time is that of the disk; beside it stands a bare write of 4 KiB
followed by fsync, made in the same folder.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

import noregret as nr
from benchmarks import tables

#: runs a program and prints its exit code, seconds of processor time and kB of memory. It is small:
#: a program's memory is at least that of the process that starts it, by the system's count.
_METER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
_HEADER = "command                                  s of processor      GB"


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = tables.parser("study", __doc__)
    parser.add_argument("--trials", type=int, default=100_000, help="at most so many")
    parser.add_argument(
        "--candidates", type=int, help="measure the commands on a list of this length instead"
    )
    parser.add_argument(
        "--history", type=int, help="measure the commands on a study of so many trials instead"
    )
    given = parser.parse_args(arguments)
    if given.candidates:
        measure_commands(given.candidates)
        return
    if given.history:
        measure_history(given.history)
        return
    trials = given.trials
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        study, truth = small_study(path, rng)
        print(f"a bare 4 KiB write and fsync: {1e3 * bare_write(Path(folder)):.2f} ms\n")
        print("  trials  ms per tell: mean  median  ms per trial asked  bytes per trial  open, s")
        told = 0
        for goal in [g for g in (1000, 3000, 10_000, 30_000, 100_000) if g <= trials]:
            tells: list[float] = []
            asking = asked = 0.0
            while told < goal:
                start = time.perf_counter()
                batch = study.ask(min(100, goal - told))
                asking += time.perf_counter() - start
                asked += len(batch)
                for number, id_ in zip(batch, batch.ids, strict=True):
                    value = float(truth[id_] + 0.1 * rng.standard_normal())
                    start = time.perf_counter()
                    study.tell(number, value)
                    tells.append(time.perf_counter() - start)
                told += len(batch)
            study.close()
            size = path.stat().st_size
            start = time.perf_counter()
            study = nr.Study.open(path)
            opened = time.perf_counter() - start
            print(
                f"{told:8,}  {1e3 * np.mean(tells):17.3f}  {1e3 * np.median(tells):6.3f}"
                f"  {1e3 * asking / asked:18.3f}  {size / told:15.0f}  {opened:7.2f}"
            )
        study.close()


def small_study(path: Path, rng: np.random.Generator) -> tuple[nr.Study, np.ndarray]:
    """A study of 1,000 candidates, and their values."""
    X = rng.uniform(size=(1000, 2))
    kernel = nr.RBF(0.3)
    study = nr.Study.create(path, X, "bbkb", kernel=kernel, noise=0.1, width="practical", seed=0)
    return study, np.sin(6 * X[:, 0]) * np.cos(5 * X[:, 1])


def measure_history(trials: int) -> None:
    """Print processor time and memory of each command on a study of so many trials."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        study, truth = small_study(place / "a.db", rng)
        for size in [100_000] * (trials // 100_000) + [trials % 100_000] * (trials % 100_000 > 0):
            ids = rng.integers(len(truth), size=size)
            study.tell_history(ids, truth[ids] + 0.1 * rng.standard_normal(size))
        asked = study.ask(4)
        study.close()
        rows = "".join(
            f"{number},{truth[id_]}\n" for number, id_ in zip(asked, asked.ids, strict=True)
        )
        (place / "answers.csv").write_text(f"trial,value\n{rows}")
        print(_HEADER)
        for words in ("tell a.db answers.csv", "ask a.db -n 4", "best a.db", "status a.db",
                      "report a.db -o a.html"):  # fmt: skip
            measure(words, place)


def measure(words: str, folder: Path) -> None:
    """Print what one command takes."""
    seconds, memory = run_command(words.split(), folder)
    print(f"{' '.join(words.split()[:4]):40s} {seconds:14.1f} {memory:7.2f}")


def measure_commands(candidates: int) -> None:
    """Print processor time and memory of each command on a list of so many candidates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(candidates, 8))
    features = {f"x{j}": X[:, j] for j in range(8)}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        names = [f"c{i}" for i in range(candidates)]
        pl.DataFrame({"name": names, **features}).write_parquet(place / "list.parquet")
        (place / "old.csv").write_text("name,value\nc5,0.5\n")
        print(_HEADER)
        ask = "ask a.db -n 96 -o plate.csv"
        create = "create a.db --candidates list.parquet --id name --batch 96 --seed 0"
        looks = ("best a.db", "import a.db old.csv", "status a.db")
        commands = [create, ask, "tell a.db answers.csv", ask, *looks]
        for words in commands:
            if words.startswith("tell"):
                plate = pl.read_csv(place / "plate.csv", schema_overrides={"value": pl.Float64})
                value = -pl.sum_horizontal(pl.col(name) ** 2 for name in features) / 10
                plate.with_columns(value=value).write_csv(place / "answers.csv")
            measure(words, place)


def run_command(words: Sequence[str], folder: Path) -> tuple[float, float]:
    """Seconds of processor time and GB of memory that ``noregret`` takes for these words."""
    program = [sys.executable, "-c", "from noregret.cli.main import main; main()", *words]
    measured = [sys.executable, "-c", _METER, *program]
    output = subprocess.run(measured, cwd=folder, capture_output=True, text=True, check=True).stdout
    code, seconds, kilobytes = output.split()
    if int(code):
        raise RuntimeError(f"noregret {' '.join(words)} ended with {code}")
    return float(seconds), float(kilobytes) / 1e6


def bare_write(folder: Path, times: int = 200) -> float:
    """Seconds for a write of one page that is on disk afterwards."""
    data = os.urandom(4096)
    with (folder / "bare").open("wb", buffering=0) as file:
        start = time.perf_counter()
        for _ in range(times):
            file.write(data)
            os.fsync(file.fileno())
        return (time.perf_counter() - start) / times
