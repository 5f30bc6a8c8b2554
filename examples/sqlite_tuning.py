"""Tuning a real system with heavy-tailed latencies: SQLite on this machine, by ATA-GP-UCB.

    python examples/sqlite_tuning.py [folder]

Which journal, synchronisation, page size and transaction size insert rows fastest here? A commit
waits for the disk, and now and then it waits very long: latencies have heavy tails, a plain
average follows its outliers. ATA-GP-UCB truncates them in every direction of its feature space.
"""

import itertools
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import noregret as nr

JOURNALS = ("DELETE", "TRUNCATE", "WAL")
SYNCHRONOUS = ("FULL", "NORMAL")  # OFF is faster still, and loses data when the power fails
PAGES = (1024, 4096, 16384)
ROWS = (1, 2, 5, 10, 20, 50)  # rows per transaction
Setting = tuple[str, str, int, int]
USUAL: Setting = ("DELETE", "FULL", 4096, 1)  # what SQLite does if nobody says anything


def measure(folder: Path, setting: Setting, rows: int = 50) -> float:
    """Milliseconds a row, inserted into a fresh database with these settings."""
    journal, synchronous, page, chunk = setting
    path = folder / "trial.db"
    for old in folder.glob("trial.db*"):
        old.unlink()
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute(f"PRAGMA page_size={page}")
        connection.execute(f"PRAGMA journal_mode={journal}")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("CREATE TABLE samples (id INTEGER PRIMARY KEY, value REAL, note TEXT)")
        start = time.perf_counter()
        for first in range(0, rows, chunk):
            connection.execute("BEGIN")
            values = [(0.5 * i, f"row {i}") for i in range(first, min(first + chunk, rows))]
            connection.executemany("INSERT INTO samples (value, note) VALUES (?, ?)", values)
            connection.execute("COMMIT")
        seconds = time.perf_counter() - start
    connection.close()
    return 1e3 * seconds / rows


def main(folder: Path, budget: int = 200) -> tuple[Setting, float, float]:
    """The setting found, and the median milliseconds a row of the usual one and of it."""
    settings = list(itertools.product(JOURNALS, SYNCHRONOUS, PAGES, ROWS))
    features = np.array(
        [
            [*(journal == name for name in JOURNALS), s == "FULL", np.log2(page) / 4, np.log(rows)]
            for journal, s, page, rows in settings
        ],
        dtype=float,
    )
    usual = [measure(folder, USUAL) for _ in range(30)]
    typical = float(np.median(usual))
    print(f"usual settings {USUAL}: {typical:.3f} ms a row, at worst {max(usual):.3f}")
    print(nr.diagnose_tails(np.array(usual)).advice)

    # What is maximised: powers of ten gained on the usual time, 0 before we know more. v, the bound
    # on the second moment of a reward, is on the safe side: what is beyond it would be cut off.
    opt = nr.ATAGPUCB(
        features, nr.Matern(2.0, nu=2.5), alpha=1.0, v=20.0, width=1.0, ratio=2.0, seed=0
    )
    while opt.t < budget:
        batch = opt.ask(budget - opt.t)
        spent = np.array([measure(folder, settings[id_]) for id_ in batch.ids])
        opt.tell(batch, np.log10(typical / spent))
    best = settings[opt.recommend().id]
    # Side by side, in turns, so that both meet the same disk.
    before, after = zip(
        *((measure(folder, USUAL), measure(folder, best)) for _ in range(15)), strict=True
    )
    slow, fast = float(np.median(before)), float(np.median(after))
    print(f"found {best}: {fast:.3f} ms a row against {slow:.3f}, {slow / fast:.1f} times as fast")
    return best, slow, fast


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
