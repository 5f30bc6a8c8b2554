"""Choices that are no vectors: words, with a kernel of one's own.

    python examples/strings.py

The kernel counts the pieces of up to three letters two words share. A callable cannot be stored in
a file, so it is given again when the study is opened.
"""

import itertools
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import noregret as nr

TARGET = "GATTACA"


def pieces(word: str) -> Counter[str]:
    """All substrings of one to three letters, counted."""
    return Counter(word[i : i + n] for n in (1, 2, 3) for i in range(len(word) - n + 1))


def spectrum(xs: Sequence[str], ys: Sequence[str]) -> np.ndarray:
    """The normalised spectrum kernel (len(xs) × len(ys))."""
    left, right = [pieces(x) for x in xs], [pieces(y) for y in ys]
    names = sorted(set().union(*left, *right))
    A = np.array([[word[name] for name in names] for word in left], dtype=float)
    B = np.array([[word[name] for name in names] for word in right], dtype=float)
    scale = np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))
    return np.asarray((A @ B.T) / scale)


def binding(word: str) -> float:
    """Stands for an assay: how well a strand of DNA binds to the target."""
    return sum(a == b for a, b in zip(word, TARGET, strict=True)) / len(TARGET)


def main(folder: Path, budget: int = 80, size: int = 1000) -> nr.Recommendation:
    """Search a library of strands of seven letters; the best one found."""
    rng = np.random.default_rng(1)
    every = ["".join(letters) for letters in itertools.product("ACGT", repeat=7)]
    strands = [str(word) for word in rng.choice(every, size - 1, replace=False)]
    strands = [*dict.fromkeys([*strands, TARGET])]
    path = folder / "strands.db"
    with nr.Study.create(
        path, strands, "bkb", kernel=spectrum, prior_mean=0.3, noise=0.05, width=2.0, seed=0
    ) as study:
        study.run(binding, budget // 2)
    with nr.Study.open(path, kernel=spectrum) as study:  # tomorrow
        study.run(binding, budget)
        best = study.best()
    print(f"best strand {best.point}: {best.mean:.2f} in [{best.lower:.2f}, {best.upper:.2f}]")
    return best


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp()))
