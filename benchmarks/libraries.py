"""Libraries measured in plates: `python -m benchmarks libraries [--parts enamine,yields]`.

enamine: docking scores of 49,706 molecules, 1 % at random, then five plates of 1 %. The share of
the true top 500 scores found (MolPAL's figure: of molecules that tie with the 500th any counts),
and of the top 500 molecules (ties broken at random, on average). Needs RDKit for the fingerprints
and scikit-learn for the random forest. With --curves FILE the shares after every plate are kept
there; methods that are not run keep their curves.
yields: a simulated library of 20,000 rows with six descriptors, two categories and noise, four
plates of 96; the mean true yield of the ten best rows measured, and of the ten recommended.
The method aim is the study with aim=500 or aim=10; molpal is a random forest with the settings of
MolPAL's code (Graff et al. 2021).
"""

import datetime
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import noregret as nr
from benchmarks import tables
from noregret._types import Floats, Ints, Points
from noregret.problems.libraries import Docking, enamine50k, yield_library
from noregret.spaces import chem

PLATES, WELLS, TOP = 5, 96, 10
NOTHING: Ints = np.empty(0, dtype=np.int64)

#: chooses a plate from (points, measured ids, values to maximise, size, generator)
Chooser = Callable[[Points, Ints, Floats, int, np.random.Generator], Ints]


def uniform(points: Points, ids: Ints, y: Floats, n: int, rng: np.random.Generator) -> Ints:
    return rng.choice(np.setdiff1d(np.arange(len(points)), ids), n, replace=False)


def forest(
    points: Points,
    ids: Ints,
    y: Floats,
    n: int,
    rng: np.random.Generator,
    features: float = 1 / 3,
    depth: int | None = None,
) -> Ints:
    """A random forest, greedy; a split tries this share of the features, trees are so deep."""
    from sklearn.ensemble import RandomForestRegressor

    X = np.unpackbits(points, axis=1) if points.dtype == np.uint8 else points
    model = RandomForestRegressor(
        100,
        n_jobs=1,
        max_features=features,
        max_depth=depth,
        random_state=int(rng.integers(2**31)),
    )
    model.fit(X[ids], y)
    mean = np.concatenate([model.predict(part) for part in np.array_split(X, -(-len(X) // 8192))])
    mean[ids] = -np.inf
    return np.argsort(-mean, kind="stable")[:n]


def gp_ucb(points: Points, ids: Ints, y: Floats, n: int, rng: np.random.Generator) -> Ints:
    """An exact GP that is fitted to everything, 2 deviations, no repeats, n at once."""
    kernel = (
        nr.Tanimoto() if points.dtype == np.uint8 else nr.Matern(2.0 * np.ones(points.shape[1]))
    )
    shift, unit = y.mean(), y.std()
    fit = nr.fit_kernel(kernel, points[ids], (y - shift) / unit)
    opt = nr.GPUCB(points, fit.kernel, noise=fit.noise, norm=1.0, width=2.0, seed=0)
    opt.tell(ids, (y - shift) / unit)
    mean, std = opt.predict()
    upper = mean + 2.0 * std
    upper[ids] = -np.inf
    return np.argsort(-upper, kind="stable")[:n]


CHOOSERS: dict[str, Chooser] = {
    "uniform": uniform,
    "forest": forest,
    "molpal": partial(forest, features=1.0, depth=8),
    "gp_ucb": gp_ucb,
}


def by_hand(
    choose: Chooser,
    points: Points,
    value: Callable[[Ints], Floats],
    first: Ints,
    plates: int,
    n: int,
    rng: np.random.Generator,
) -> tuple[Ints, Floats]:
    ids, y = first, value(first)
    for _ in range(plates):
        new = choose(points, ids, y, n, rng)
        ids, y = np.concatenate([ids, new]), np.concatenate([y, value(new)])
    return ids, y


def by_study(
    points: Points,
    value: Callable[[Ints], Floats],
    first: Ints,
    plates: int,
    n: int,
    seed: int,
    aim: int,
) -> tuple[Ints, Ints, int]:
    """A study with defaults that looks for the best so many.

    The ids measured, plate by plate, the best ten it names, the bytes of its file.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        with nr.Study.create(path, nr.Candidates(points), seed=seed, aim=aim) as study:
            if len(first):
                study.tell_history(first, value(first))
            for _ in range(plates):
                trials = study.ask(n)
                study.tell(trials, value(trials.ids))
            ids = study.optimizer.history.ids
            best = np.array([one.id for one in study.optimizer.top(TOP)])
        return ids, best, path.stat().st_size


def fingerprints(data: Docking) -> Points:
    """Atom pairs 1 to 3 bonds apart, 2,048 bits; kept beside the system's temporary files."""
    kept = Path(tempfile.gettempdir()) / "noregret-enamine50k-atompair.npy"
    if kept.exists():
        return np.asarray(np.load(kept))
    start = time.process_time()
    bits: Points = chem.fingerprints(data.smiles, "atompair").bits
    print(f"fingerprints: {time.process_time() - start:.0f} s", flush=True)
    np.save(kept, bits)
    return np.asarray(bits)


def keep_curves(path: Path, method: str, plate: int, curves: list[list[float]]) -> None:
    """Keep the share of the top 500 scores after every plate, one curve for each seed from 0 on."""
    kept = json.loads(path.read_text()) if path.exists() else {"methods": {}}
    kept["measured"] = (plate * np.arange(1, 2 + PLATES)).tolist()
    kept["methods"][method] = {
        "date": datetime.date.today().isoformat(),
        "version": nr.__version__,
        "seeds": list(range(len(curves))),
        "share of the top 500 scores": curves,
    }
    path.write_text(json.dumps(kept, indent=1) + "\n")


def enamine(seeds: int, methods: list[str], kept: Path | None) -> None:
    data = enamine50k()
    points, plate = fingerprints(data), len(data.smiles) // 100
    for name in methods:
        found, seconds, curves = [], [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            first = rng.choice(len(points), plate, replace=False)
            start, size = time.process_time(), 0
            if name in ("study", "aim"):
                aim = 500 if name == "aim" else 1
                ids, _, size = by_study(
                    points, lambda i: -data.scores[i], first, PLATES, plate, seed, aim
                )
            else:
                ids, _ = by_hand(
                    CHOOSERS[name], points, lambda i: -data.scores[i], first, PLATES, plate, rng
                )
            seconds.append(time.process_time() - start)
            found.append((data.share_of_top(ids), data.share_of_molecules(ids)))
            ends = plate * np.arange(1, 2 + PLATES)
            curves.append([data.share_of_top(ids[:end]) for end in ends])
            print(
                f"{name} seed {seed}: scores {found[-1][0]:.3f}, molecules {found[-1][1]:.3f} in "
                f"{seconds[-1]:.0f} s" + (f", file {size / 1e6:.1f} MB" if size else ""),
                flush=True,
            )
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
        print(
            f"{name}: scores {mean[0]:.3f} ± {spread[0]:.3f}, molecules {mean[1]:.3f} ± "
            f"{spread[1]:.3f}, {np.mean(seconds):.0f} s"
        )
        if kept:
            keep_curves(kept, name, plate, curves)


def yields(seeds: int, methods: list[str], kept: Path | None) -> None:
    rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in methods}
    for seed in range(seeds):
        data = yield_library(seed=seed)
        for name in methods:
            rng = np.random.default_rng(1000 + seed)
            measure = partial(data.measure, rng=rng)
            start = time.process_time()
            if name in ("study", "aim"):
                aim = TOP if name == "aim" else 1
                ids, best, _ = by_study(data.encoded, measure, NOTHING, 4, WELLS, seed, aim)
            else:
                first = rng.choice(len(data.yields), WELLS, replace=False)
                ids, y = by_hand(CHOOSERS[name], data.encoded, measure, first, 3, WELLS, rng)
                best = ids[np.argsort(-y, kind="stable")[:TOP]]
            measured = float(np.sort(data.yields[np.unique(ids)])[-TOP:].mean())
            spent = time.process_time() - start
            rows[name].append((measured, float(data.yields[best].mean()), spent))
        ten = np.sort(data.yields)[-TOP:].mean()
        words = ", ".join(f"{name} {row[-1][0]:.1f}/{row[-1][1]:.1f}" for name, row in rows.items())
        print(f"library {seed}, its ten best {ten:.1f}: {words}", flush=True)
    for name, found in rows.items():
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
        print(
            f"{name}: ten best measured {mean[0]:.1f} ± {spread[0]:.1f}, ten recommended "
            f"{mean[1]:.1f} ± {spread[1]:.1f}, {mean[2]:.0f} s"
        )


PARTS = {"enamine": enamine, "yields": yields}


def main(arguments: Sequence[str] = ()) -> None:
    parser = tables.parser("libraries", __doc__)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default="study,aim,gp_ucb,forest,uniform")
    parser.add_argument("--curves", type=Path, help="a JSON file for the curves of enamine")
    given = parser.parse_args(arguments)
    for name in given.parts.split(","):
        PARTS[name](given.seeds, given.methods.split(","), given.curves)
