"""Libraries that are measured in plates: docking scores of molecules, and simulated yields."""

import csv
import io
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from noregret._types import Floats, Ints
from noregret.problems.files import DataFile, content

#: the file is sorted by score, so rows are shuffled with this seed
_SHUFFLE = 0
#: the deviation of a measured yield
_YIELD_NOISE = 5.0

_ENAMINE = DataFile(
    path="enamine50k/Enamine50k_scores.csv.gz",
    sha256="de63effc220713363bca7b55919d6e5c0d5e3255962b476bfb95c7e7dade1b56",
    url="https://raw.githubusercontent.com/coleygroup/molpal/main/data/Enamine50k_scores.csv.gz",
)


@dataclass(frozen=True, eq=False)
class Docking:
    """Docking scores of a library (Graff, Shakhnovich & Coley, Chem. Sci. 2021).

    Attributes
    ----------
    smiles
        The molecules (n).
    scores
        Their scores (n); lower is better.
    """

    smiles: list[str]
    scores: Floats

    def share_of_top(self, ids: Ints, k: int = 500) -> float:
        """The share of the k best scores that some different molecules have, MolPAL's figure.

        Scores are rounded, so that many molecules tie with the k-th best. Any of these counts, up
        to as many as have that score among the k best.
        """
        above, at, tied = self._found(ids, k)
        return (above + min(at, k - tied[0])) / k

    def share_of_molecules(self, ids: Ints, k: int = 500) -> float:
        """The share of the k best molecules found where ties are broken at random, on average."""
        above, at, (better, equal) = self._found(ids, k)
        return (above + at * (k - better) / equal) / k

    def _found(self, ids: Ints, k: int) -> tuple[int, int, tuple[int, int]]:
        """How many better than the k-th best, and as good, are among some; and among all."""
        limit, own = np.partition(self.scores, k - 1)[k - 1], self.scores[np.unique(ids)]
        of_all = int(np.sum(self.scores < limit)), int(np.sum(self.scores == limit))
        return int(np.sum(own < limit)), int(np.sum(own == limit)), of_all


def enamine50k() -> Docking:
    """49,706 molecules of Enamine's 50k diversity library, shuffled."""
    rows = list(csv.DictReader(io.StringIO(content(_ENAMINE).decode())))
    rows = [row for row in rows if row["score"]]
    order = np.random.default_rng(_SHUFFLE).permutation(len(rows)).tolist()
    return Docking(
        [rows[i]["smiles"] for i in order], np.array([float(rows[i]["score"]) for i in order])
    )


@dataclass(frozen=True, eq=False)
class Yields:
    """A simulated library of reactions: six descriptors, two categories, a yield in percent.

    The yield falls off around an optimum that depends on the solvent, with a slope that depends on
    the base and a wave across two descriptors, on a logistic scale.

    Attributes
    ----------
    descriptors
        n × 6, correlated, with mean 0 and deviation 1.
    solvent, base
        Categories (n each), eight and six of them.
    yields
        The true yields (n).
    noise
        The deviation of a measurement.
    """

    descriptors: Floats
    solvent: Ints
    base: Ints
    yields: Floats
    noise: float = _YIELD_NOISE

    @cached_property
    def encoded(self) -> Floats:
        """Descriptors and one column for every category (n × 20)."""
        return np.column_stack([self.descriptors, np.eye(8)[self.solvent], np.eye(6)[self.base]])

    def measure(self, ids: Ints, rng: np.random.Generator) -> Floats:
        """Measured yields of some rows (n)."""
        return np.asarray(self.yields[ids] + self.noise * rng.standard_normal(len(ids)))


def yield_library(rows: int = 20_000, seed: int = 0) -> Yields:
    """A library of its own for every seed."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 6)) @ (np.eye(6) + 0.4 * rng.standard_normal((6, 6))).T
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    solvent, base = rng.integers(8, size=rows), rng.integers(6, size=rows)
    optimum, spread = rng.normal(0.0, 0.8, 6), rng.uniform(0.8, 2.5, 6)
    shift, slope = rng.normal(0.0, 0.6, (8, 6)), rng.normal(0.0, 0.5, (6, 6))
    effect = 0.7 * rng.standard_normal(8)[solvent] + 0.7 * rng.standard_normal(6)[base]
    away = np.square((X - optimum - shift[solvent]) / spread).sum(axis=1)
    wave = 0.5 * np.sin(2.0 * X[:, 0] * X[:, 1])
    score = 0.35 * (X * slope[base]).sum(axis=1) - 0.6 * away + effect + wave
    return Yields(X, solvent, base, 90.0 / (1.0 + np.exp(-score)))
