"""Fingerprints of molecules, as packed bits that :class:`~noregret.Tanimoto` compares.

Needs RDKit: ``pip install noregret[chem]``.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from noregret import _checks
from noregret._types import Ints, Points

#: molecules between two notes of progress, and seconds before the first one on a terminal
_PIECE, _PATIENCE = 1000, 2.0

#: kinds of fingerprints
KINDS = ("morgan", "atompair")

#: called with how many are done, and of how many
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """What :func:`fingerprints` found.

    Attributes
    ----------
    bits
        Packed bits (n × bytes, uint8) of the molecules that could be read, in their order.
    rows
        Which of the given SMILES those are (n).
    failures
        The others: their row, and why.
    """

    bits: Points
    rows: Ints
    failures: dict[int, str]

    def __len__(self) -> int:
        return len(self.rows)


def check_kind(kind: str) -> Literal["morgan", "atompair"]:
    """The kind of fingerprint itself; others are refused."""
    return cast(Literal["morgan", "atompair"], _checks.one_of("kind", kind, KINDS))


def fingerprints(
    smiles: Sequence[str],
    kind: Literal["morgan", "atompair"] = "morgan",
    bits: int = 2048,
    *,
    radius: int = 2,
    distances: tuple[int, int] = (1, 3),
    progress: Progress | None = None,
) -> Fingerprints:
    """Fingerprints of molecules: ``nr.Candidates(nr.chem.fingerprints(smiles).bits)``.

    Parameters
    ----------
    smiles
        n SMILES. One that cannot be read is listed in ``failures``, and left out.
    kind
        ``"morgan"``: the surroundings of every atom (ECFP). ``"atompair"``: pairs of atoms and the
        bonds between them.
    bits
        The length of a fingerprint, a multiple of 8.
    radius
        How many bonds the surroundings of an atom reach (Morgan).
    distances
        The fewest and the most bonds between two atoms (atom pairs).
    progress
        Called with how many are done and how many there are; by default a line on standard error
        where it takes more than two seconds and a person is looking.
    """
    check_kind(kind)
    if _checks.count("bits", bits) % 8:
        raise ValueError(f"bits must be a multiple of 8, got {bits}")
    if isinstance(smiles, str):
        raise TypeError("smiles must be a list of SMILES, got one text")
    chem, generators, quiet = _rdkit()
    if kind == "morgan":
        generator = generators.GetMorganGenerator(radius=radius, fpSize=bits)
    else:
        generator = generators.GetAtomPairGenerator(
            minDistance=distances[0], maxDistance=distances[1], fpSize=bits
        )
    report, total = progress or _Line(), len(smiles)
    found, rows, failures = [], [], {}
    with quiet():
        for row, text in enumerate(smiles):
            molecule = chem.MolFromSmiles(text) if isinstance(text, str) and text.strip() else None
            if molecule is None:
                failures[row] = f"{text!r} is no SMILES that RDKit can read"
            else:
                found.append(np.packbits(generator.GetFingerprintAsNumPy(molecule)))
                rows.append(row)
            if (row + 1) % _PIECE == 0 or row + 1 == total:
                report(row + 1, total)
    packed = np.array(found, dtype=np.uint8).reshape(len(found), bits // 8)
    return Fingerprints(packed, np.array(rows, dtype=np.int64), failures)


def _rdkit() -> tuple[Any, Any, Any]:
    """RDKit's molecules, its fingerprints, and what keeps its complaints off the screen."""
    try:
        from rdkit import Chem
        from rdkit.Chem import rdFingerprintGenerator
        from rdkit.rdBase import BlockLogs
    except ImportError as error:
        raise ValueError("fingerprints need RDKit: pip install noregret[chem]") from error
    return Chem, rdFingerprintGenerator, BlockLogs


class _Line:
    """A line of progress on standard error, for a person who waits."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        if not sys.stderr.isatty() or (
            not self._shown and time.monotonic() - self._start < _PATIENCE
        ):
            return
        self._shown = True
        end = "\n" if done == total else ""
        print(f"\rfingerprints: {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)
