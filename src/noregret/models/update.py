"""What an update of the model does to the posterior of every point."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels.base import Kernel
from noregret.linalg.factors import column_norms

_empty = partial(np.empty, (0, 0))


@dataclass
class Update:
    """What an update of the model does to the posterior of every point.

    With z the old features (m) of a point and k its kernel values with the Δ new inducing points:

    - zᵀV⁻¹z falls by ‖rank z‖² (evaluations told since),
    - the new features are e = border_inverse k − border z,
    - zᵀV⁻¹z then grows by ‖columns_inverse e − columns z‖²,
    - the mean is thetaᵀ(z, e).

    If ``columns_by_rank`` is given, columns = columns_by_rank·rank, which is less work.

    If ``moves`` is given, the mean moves by moves[0]·(rank z) + moves[1]·(columns_inverse e −
    columns z), which is less work.

    If V⁻¹ was computed from scratch, ``root`` is F with V⁻¹ = FFᵀ after the update, and zᵀV⁻¹z is
    computed by it instead.
    """

    theta: Floats
    root: Floats | None = None
    rank: Floats | None = None
    new_points: Points | None = None
    border: Floats = field(default_factory=_empty)
    border_inverse: Floats = field(default_factory=_empty)
    columns: Floats = field(default_factory=_empty)
    columns_inverse: Floats = field(default_factory=_empty)
    columns_by_rank: Floats | None = None
    moves: tuple[Floats, Floats] | None = None

    @property
    def falls_cost_nothing(self) -> bool:
        """Whether a pass over features that computes falls reads no more vectors than one without.

        With falls the products with ``rank`` also give the mean and what ``columns`` gives; without
        falls the mean and ``columns`` need products of their own.
        """
        if self.rank is None:
            return True
        spared = (self.moves is not None) + len(self.columns) * (self.columns_by_rank is not None)
        return len(self.rank) <= spared

    @property
    def growth(self) -> float | None:
        """By how much min_μ ‖y − μ‖² + λ‖μ‖² grew for the first λ; ``None`` if it is not known.

        Rewards of an arm that are told together count as their mean. If it is known, then for any w
        mean + w·√leverage of a point is now at most mean + √(w² + growth)·√leverage before the
        update (the Proofs page, Theorem 5).
        """
        grows = self.new_points is not None
        if self.root is not None or self.moves is None or (grows and self.columns_by_rank is None):
            return None
        by_rank, by_columns = self.moves
        return max(float(by_rank @ by_rank) - float(by_columns @ by_columns), 0.0)

    def parts(self, *, falls: bool) -> dict[str, Floats]:
        """The matrices that old features are multiplied by (k × m each)."""
        parts: dict[str, Floats] = {}
        if self.rank is not None and self.root is None and falls:
            parts["rank"] = self.rank
        if self.moves is None or not (falls or self.rank is None):
            parts["theta"] = self.theta[None, : len(self.theta) - len(self.border)]
        if self.new_points is not None:
            parts["border"] = self.border
            if self.root is None and not ("rank" in parts and self.columns_by_rank is not None):
                parts["columns"] = self.columns
        return parts


class Updates:
    """Several updates in a row, for points of which m features are known.

    Features are multiplied by the matrices of all of them at once, which takes far less time than
    one after the other.

    Parameters
    ----------
    updates
        The updates, in order; only the last one may have a ``root``.
    size
        m.
    falls
        Whether quadratic forms fall by the new evaluations. Otherwise they are upper bounds.

    Attributes
    ----------
    matrix
        The matrices of all updates on top of each other, for the features that are known (k × m).
    grown
        Δ, how many features the updates add.
    """

    def __init__(self, updates: Sequence[Update], size: int, *, falls: bool = True) -> None:
        self._steps: list[tuple[Update, dict[str, tuple[slice, Floats]]]] = []
        tops, start = [np.empty((0, size))], 0
        for update in updates:
            places = {}
            for name, part in update.parts(falls=falls).items():
                stop = start + len(part)
                places[name] = slice(start, stop), part[:, size:]
                tops.append(part[:, :size])
                start = stop
            self._steps.append((update, places))
        self.matrix = np.concatenate(tops)
        new = [update.new_points for update in updates if update.new_points is not None]
        self._new_points: Points | None = np.concatenate(new) if new else None
        self.grown = 0 if self._new_points is None else len(self._new_points)

    def apply(
        self,
        kernel: Kernel,
        points: Points,
        products: Floats,
        mean: Floats,
        quadratic: Floats,
        residual: Floats,
    ) -> Floats:
        """Bring means, quadratic forms and residuals (n each) up to date, in place.

        ``products`` is ``matrix`` times the features of the points (k × n). Returns their new
        features (Δ × n).
        """
        new = self._new_points
        fresh = np.empty((0, len(mean))) if new is None else kernel(new, points)
        have = 0
        for update, places in self._steps:
            found = {name: products[own] for name, (own, _) in places.items()}
            if have:
                for name, (_, tail) in places.items():
                    found[name] = found[name] + tail @ fresh[:have]
            more = fresh[have : have + len(update.border)]
            have += len(more)
            _apply(update, found, more, mean, quadratic, residual)
        return fresh


def _apply(
    update: Update,
    found: dict[str, Floats],
    fresh: Floats,
    mean: Floats,
    quadratic: Floats,
    residual: Floats,
) -> None:
    """Apply one update to points; ``fresh`` has their kernel values with new inducing points.

    In the place of these it writes their new features (Δ × n).
    """
    if "theta" in found:
        mean[:] = found["theta"][0]
    elif "rank" in found and update.moves is not None:
        mean += update.moves[0] @ found["rank"]
    if "rank" in found:
        quadratic -= column_norms(found["rank"])
    if update.new_points is None:
        return
    fresh[:] = update.border_inverse @ fresh - found["border"]
    if "theta" in found:
        mean += update.theta[-len(fresh) :] @ fresh
    if update.root is None:
        grown = update.columns_inverse @ fresh
        if "columns" in found:
            grown -= found["columns"]
        elif update.columns_by_rank is not None:
            grown -= update.columns_by_rank @ found["rank"]
        quadratic += column_norms(grown)
        if "theta" not in found and update.moves is not None:
            mean += update.moves[1] @ grown
    residual -= column_norms(fresh)
    np.maximum(residual, 0.0, out=residual)
