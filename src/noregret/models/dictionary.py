"""Which arms become inducing points: sampling by posterior variance."""

from dataclasses import dataclass

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.models.bless import bless
from noregret.models.sparse import SparseGP

#: up to this many arms a dictionary that is "exact at first" holds all of them
_EXACT = 4096
#: BLESS draws the dictionary if more than q̄ times this many arms would enter a small one at once;
#: up to twice as many, whatever q̄ is
_BULK = 128


def inclusion_probability(leverage: Floats, counts: Ints | Floats, qbar: float) -> Floats:
    """The probability min(1, q̄·n·leverage) that an arm told n times enters the dictionary (u).

    The papers draw every evaluation on its own (BBKB Algorithm 1, lines 12 to 15), which leaves an
    arm that is known well out of the dictionary with probability e⁻² at q̄ = 2; the authors' code
    draws arms, as here.
    """
    return np.asarray(np.minimum(qbar * counts * leverage, 1.0))


@dataclass(frozen=True)
class Plan:
    """A change of the dictionary: ``rows`` to add, or to replace it by."""

    rows: Ints
    replace: bool = False
    reason: str = ""


class Sparsifier:
    """Decides at every batch start how the dictionary changes.

    Parameters
    ----------
    mode
        ``"resample"``: a fresh draw each time, as in the papers. ``"grow"``: old inducing points
        stay, and arms told since are drawn once; the dictionary is drawn afresh once it has
        become much larger than a fresh draw would be. ``"complete"``: every arm, the exact GP.
        ``"exact at first"``: every arm up to 4,096 of them, then as with ``"grow"``.
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._check_at = 64  # at this size it is checked next whether a new draw would be smaller

    def plan(
        self,
        model: SparseGP,
        points: Points,
        counts: Ints,
        qbar: float,
        rng: np.random.Generator,
    ) -> Plan:
        """The change for arms (u × d) told ``counts`` times (u), judged by the model's leverages.

        The leverages are those of the last batch start (BBKB Algorithm 1, line 13): the model has
        seen the arms, but not taken in the new evaluations yet. If there are so many new
        evaluations that the old leverages say little about them, BLESS draws the dictionary.
        """
        if self.mode == "complete":
            return Plan((counts > model.counts).nonzero()[0])
        if self.mode == "exact at first" and len(counts) <= _EXACT:
            new = np.flatnonzero(counts > model.counts)
            # A model that can be computed from scratch need not be kept in files.
            whole = 2 * len(new) > model.size + 64
            return Plan(np.flatnonzero(counts), replace=True) if whole else Plan(new)
        more = counts - model.counts
        new = np.flatnonzero(more)
        chance = inclusion_probability(model.leverage(new), more[new], qbar)
        if float(chance.sum()) > 2 * model.size + _BULK * min(qbar, 2.0):
            rows = bless(model.kernel, points, counts, model.lam, qbar, rng)
            return Plan(rows, replace=True, reason="warm start")
        if self.mode == "resample":
            chance = inclusion_probability(model.leverage(), counts, qbar)
            fresh = np.flatnonzero(rng.random(len(chance)) < chance)
            kept = fresh if len(fresh) else model.dictionary
            return Plan(kept if len(kept) else new[:1], replace=True, reason="resample")
        fresh = new[rng.random(len(new)) < chance]
        if not len(fresh) and not model.size:  # BKB starts from S₁ = {x₁}
            fresh = new[:1]
        if model.size >= self._check_at:
            chance = inclusion_probability(model.leverage(), counts, qbar)
            expected = float(chance.sum())
            self._check_at = int(1.5 * model.size) + 64
            if model.size > 1.5 * expected + 32:
                drawn = np.flatnonzero(rng.random(len(chance)) < chance)
                self._check_at = 2 * len(drawn) + 64
                return Plan(drawn, replace=True, reason="compact")
        return Plan(fresh)
