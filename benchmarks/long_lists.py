"""Long lists: seconds, memory and milliseconds a decision as the list grows.

    python -m benchmarks long                              # 10⁴, 10⁵ and 10⁶ candidates
    python -m benchmarks long --sizes 1e8 --evaluations 5000
    python -m benchmarks long --ways Thompson --evaluations 2000
    python -m benchmarks long --picture docs/results/decision-cost.png

BBKB on a list of A × 8 float32 points, RBF 8, λ = 0.05, ξ = 0.05, F = 1, δ = 1/T, with the proved
width and with β = 2. The function is two kernel bumps of opposite signs with norm 1; with
``--function wave`` its norm is far above F = 1, which rewards soon refute. From 10⁷ on, the list is
a file that is mapped into memory. Beside it stands the plain implementation, which computes the
bounds of all candidates at every batch, for the first 2,000 evaluations where it can run. Each run
is a process of its own, so that its peak memory is its own; the time of writing the list is not
counted. The cost of a decision is processor time. ``--ways Thompson`` runs Thompson sampling in
batches of 64, by random Fourier features.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables
from benchmarks.plain import PlainBBKB
from noregret._types import Floats
from noregret.problems.kernel_sums import KernelSum

DIMENSION, LENGTHSCALE, LAM, NOISE = 8, 8.0, 0.05, 0.05
#: what the runs of a size are called, and their widths; the last is the plain implementation
WIDTHS: dict[str, str | float | None] = {"proved width": "theory", "β = 2": 2.0, "dense": None}
#: runs of Thompson sampling are called this, and ask for so many points at a time
THOMPSON, BATCH = "Thompson", 64
#: evaluations after which the cost of a decision is compared
EARLY = 2000
#: rows written and read at a time, and rows from which on a list is mapped from its file
_PIECE, _MAPPED = 1 << 18, 10_000_000


class Counted(nr.Candidates):
    """Candidates that count how many of them are looked at."""

    looked = 0

    def at(self, ids: Any) -> Any:
        """The points of these ids."""
        self.looked += len(ids)
        return super().at(ids)


@dataclass(frozen=True)
class Problem:
    """A list on disk and a function on it.

    Attributes
    ----------
    path
        The list, an .npy file.
    function
        ``"wave"``: sin(Xw/3) + 0.3 cos(2x₁), scaled to [0, 1]; its norm is far above F = 1, which
        rewards soon refute. ``"bumps"``: two kernel bumps of opposite signs, a
        lengthscale apart, with norm 1.
    shift, scale
        The function is (what is computed − shift)·scale.
    best, mean
        Its largest value and its mean over the list.
    """

    path: str
    function: str
    shift: float
    scale: float
    best: float
    mean: float

    def points(self) -> Any:
        """The list: in memory, or mapped where it is long."""
        mapped = np.load(self.path, mmap_mode="r")
        return mapped if len(mapped) >= _MAPPED else np.load(self.path)

    def values(self, points: Any) -> Floats:
        """The function at points (n)."""
        raw = FUNCTIONS[self.function](np.asarray(points, dtype=np.float64))
        return np.asarray((raw - self.shift) * self.scale)


def _wave(X: Floats) -> Floats:
    w = np.random.default_rng(1).standard_normal(DIMENSION)
    return np.asarray(np.sin(X @ w / 3) + 0.3 * np.cos(2 * X[:, 0]))


def _bumps(X: Floats) -> Floats:
    centre = np.random.default_rng(1).standard_normal(DIMENSION)
    centres = np.stack([centre, -centre]) * LENGTHSCALE / (2 * np.linalg.norm(centre))
    bumps = KernelSum(nr.RBF(LENGTHSCALE), centres, np.array([1.0, -1.0]))
    return bumps.times(1.0 / bumps.norm)(X)


FUNCTIONS = {"wave": _wave, "bumps": _bumps}


def write_list(path: Path, size: int, function: str) -> Problem:
    """Write X ~ N(0, I) to a file, a piece at a time."""
    rng = np.random.default_rng(0)
    shape = (size, DIMENSION)
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    lowest, highest, total = np.inf, -np.inf, 0.0
    for start in range(0, size, _PIECE):
        piece = rng.standard_normal((min(_PIECE, size - start), DIMENSION), dtype=np.float32)
        file[start : start + len(piece)] = piece
        f = FUNCTIONS[function](piece.astype(np.float64))
        lowest, highest = min(lowest, float(f.min())), max(highest, float(f.max()))
        total += float(f.sum())
    file.flush()
    shift, scale = (lowest, 1.0 / (highest - lowest)) if function == "wave" else (0.0, 1.0)
    best, mean = ((value - shift) * scale for value in (highest, total / size))
    return Problem(str(path), function, shift, scale, best, mean)


@dataclass(frozen=True)
class Outcome:
    """What one run took.

    Attributes
    ----------
    seconds
        By the clock.
    processor, early
        Processor seconds of all decisions, and of the first 2,000.
    memory
        Peak of the process, GiB.
    share
        Candidates looked at in a batch, on average, over all candidates.
    size
        Inducing points at the end.
    """

    seconds: float
    processor: float
    early: float
    evaluations: int
    batches: int
    memory: float
    share: float
    size: int
    regret: float


def run(problem: Problem, name: str, evaluations: int) -> Outcome:
    """One run in this process, by the name of the way."""
    began, started = time.perf_counter(), time.process_time()
    X = problem.points()
    delta = 1.0 / evaluations
    ask: Callable[[int], Any]
    tell: Callable[[Any, Any], None]
    size: Callable[[], int]
    looked: Callable[[], int]
    if name == "dense":
        dense = PlainBBKB(X.astype(np.float64), LENGTHSCALE, LAM, NOISE, delta, 0)
        ids = np.random.default_rng(2).choice(len(X), 10, replace=False)
        rewards = problem.values(X[ids])
        dense.start(ids, rewards)
        ask, tell = dense.ask, dense.tell
        size, looked = lambda: dense.Z.shape[1], lambda: len(X) * batches
    else:
        points = Counted(X)
        shared: dict[str, Any] = {"noise": NOISE, "delta": delta, "lam": LAM, "seed": 0}
        kernel = nr.RBF(LENGTHSCALE)
        opt: nr.Optimizer
        if name == THOMPSON:
            opt = nr.ThompsonSampling(points, kernel, batch_size=BATCH, **shared)
        else:
            opt = nr.BBKB(points, kernel, width=WIDTHS[name] or "theory", **shared)
        ask, tell = lambda n: opt.ask(min(n, BATCH) if name == THOMPSON else n).ids, opt.tell
        # An RBF kernel's prior needs no look at the points; picks are read once more.
        size, looked = lambda: len(opt.dictionary), lambda: points.looked - t
    rng = np.random.default_rng(3)
    t, batches, regret, early = 0, 0, 0.0, 0.0
    while t < evaluations:
        ids = ask(evaluations - t)
        f = problem.values(X[ids])
        tell(ids, f + NOISE * rng.standard_normal(len(ids)))
        regret += float((problem.best - f).sum())
        t += len(ids)
        batches += 1
        if t >= min(EARLY, evaluations) and not early:
            early = (time.process_time() - started) * min(EARLY, evaluations) / t
    seconds, processor = time.perf_counter() - began, time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    share = looked() / batches / len(X)
    lost = regret / (t * (problem.best - problem.mean))
    return Outcome(seconds, processor, early, t, batches, memory, share, size(), lost)


def apart(problem: Problem, name: str, evaluations: int) -> Outcome:
    """The same in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.long_lists", json.dumps(asdict(problem)), name]
    done = subprocess.run([*words, str(evaluations)], check=True, capture_output=True, text=True)
    return Outcome(**json.loads(done.stdout))


def show(size: int, name: str, found: Outcome) -> None:
    """Print a line of the table."""
    decision = 1e3 * found.processor / found.evaluations
    first = min(EARLY, found.evaluations)
    costs = f"{found.seconds:.1f}", f"{found.memory:.2f}", f"{decision:.3f}"
    early, share = f"{1e3 * found.early / first:.3f}", f"{100 * found.share:.3g} %"
    cells = (*costs, early, found.batches, found.size, share, f"{found.regret:.3g}")
    tables.show(tables.line(f"{size:,}", name, f"{found.evaluations:,}", *cells))


def draw(found: dict[tuple[int, str], Outcome], path: Path) -> None:
    """Milliseconds a decision against the number of candidates."""
    from noregret.experiments.figures import panels

    labels = {
        "proved width": "ours, proved width",
        "β = 2": "ours, β = 2",
        "dense": "all bounds at every batch",
    }
    looks = {"proved width": "o-", "β = 2": "s--", "dense": "^:"}
    figure, (axis,) = panels(1)
    figure.set_size_inches(5.6, 3.6)
    for name, label in labels.items():
        sizes = sorted(size for size, way in found if way == name)
        runs = [found[size, name] for size in sizes]
        each = [1e3 * one.early / min(EARLY, one.evaluations) for one in runs]
        axis.plot(sizes, each, looks[name], label=label)
    axis.set(xscale="log", yscale="log", xlabel="candidates")
    axis.set(ylabel=f"ms a decision, first {EARLY:,} evaluations")
    axis.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"\nwritten: {path}")


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table, and draw the picture where it is asked for."""
    parser = tables.parser("long", __doc__)
    parser.add_argument("--sizes", default="1e4,1e5,1e6", help="numbers of candidates")
    parser.add_argument("--evaluations", type=int, default=20_000, help="T")
    parser.add_argument("--function", choices=list(FUNCTIONS), default="bumps")
    parser.add_argument("--ways", default=",".join(WIDTHS), help="which of the runs of a size")
    parser.add_argument(
        "--dense", type=float, default=1e5, help="the longest list of the dense run"
    )
    parser.add_argument("--folder", help="where lists are written; by default a temporary one")
    parser.add_argument("--picture", type=Path, help="also draw decision costs to this file")
    given = parser.parse_args(arguments)
    print(f"\nLong lists: BBKB, A × 8, RBF 8, λ = 0.05, ξ = 0.05, {given.function}\n")
    costs = ("seconds", "peak GiB", "ms a decision", "the same, first 2,000", "batches")
    columns = ("A", "", "T", *costs, "inducing points", "looked at a batch", "regret")
    tables.show(tables.head(*columns))
    found: dict[tuple[int, str], Outcome] = {}
    for size in (int(float(word)) for word in given.sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            problem = write_list(Path(folder) / "list.npy", size, given.function)
            for name in given.ways.split(","):
                if name == "dense" and size > given.dense:
                    continue
                count = min(EARLY, given.evaluations) if name == "dense" else given.evaluations
                found[size, name] = apart(problem, name, count)
                show(size, name, found[size, name])
    if given.picture:
        draw(found, given.picture)


def one(words: Sequence[str]) -> None:
    """A run in a process of its own: its outcome as JSON."""
    problem, name, evaluations = Problem(**json.loads(words[0])), words[1], int(words[2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        print(json.dumps(asdict(run(problem, name, evaluations))))


if __name__ == "__main__":
    one(sys.argv[1:])
