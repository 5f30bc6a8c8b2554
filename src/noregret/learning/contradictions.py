"""Do the rewards contradict what is assumed: norm, noise and kernel?

What is found is noted as refuted, or leads to a larger norm where the norm is learnt.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from noregret._types import Floats, Ints
from noregret.learning.rules import Rules
from noregret.models.sparse import SparseGP
from noregret.widths import proved
from noregret.widths.evidence import Evidence

#: the largest norm that doubling may reach
LARGEST_NORM = 1e12
#: the norm is checked with these multiples of λ
_CHECKED_LAMS = np.logspace(-4, 5, 28)
#: from so many inducing points on, leverages cost more than a width
_LARGE = 512
#: the share of δ with which the size of the noise may be found too large, beside the other tests
_SHARE = 0.1
#: the rounding error of ridges, as a share of the largest
_ROUND_OFF = 1e-9


def apart(
    before: tuple[Floats, Floats, Evidence] | None,
    model: SparseGP,
    rows: Ints,
    latest: Evidence,
    rules: Rules,
) -> Callable[[float], bool]:
    """Gives for a norm whether bounds before and after the last rewards are disjoint."""
    if before is None:
        return lambda norm: rules.widths(replace(latest, norm=norm))[1]
    mean, root, earlier = before
    moved = np.abs(model.mean(rows) - mean) * (1.0 - 1e-9) - 1e-12

    def contradicted(norm: float) -> bool:
        new, empty = rules.widths(replace(latest, norm=norm))
        if empty:
            return True
        # Of the two quantities that are still missing, the cheaper one mostly settles it.
        if model.size < _LARGE and not np.any(moved > new[0] * np.sqrt(model.leverage(rows))):
            return False
        old, _ = rules.widths(replace(earlier, norm=norm))
        if not np.any(moved > old[0] * root):
            return False
        now = np.sqrt(model.leverage(rows))
        return bool(np.any(moved > old[0] * root + new[0] * now))

    return contradicted


def smallest_norm(model: SparseGP, found: Evidence, scatter: float, *, tests_noise: bool) -> float:
    """The smallest norm that the rewards allow (the Proofs page, Theorem 2): O(m³).

    ``scatter`` is Σ (reward − mean of its arm)². With ``tests_noise`` the size of the noise counts
    too: a noise that is too small shows itself best there.
    """
    lams = found.lam * _CHECKED_LAMS
    ridges = model.ridges_of(lams, scatter)
    square = proved.squared_radius(found.noise, found.delta, found.log_dets, found.ridges)
    if tests_noise:
        noise = proved.squared_noise(found.noise, _SHARE * found.delta, found.t)
        square = min(square, noise + _ROUND_OFF * float(ridges.max()))
    return proved.smallest_norm(square, lams, ridges, found.trace)
