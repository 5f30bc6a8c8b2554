"""What an update of the model does to the posterior of every point."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from noregret._types import Floats, Points

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
