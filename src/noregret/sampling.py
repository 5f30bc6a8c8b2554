"""Who is next? The maximisers of functions drawn from the sparse posterior."""

import numpy as np

from noregret._types import Floats, Ints
from noregret.batching import BatchRule
from noregret.models.sparse import SparseGP

#: functions drawn at a time
_DRAWS = 16


def thompson_batch(
    Z: Floats,
    residual: Floats,
    model: SparseGP,
    leverage: Floats,
    told: Floats,
    rule: BatchRule,
    limit: int,
    rng: np.random.Generator,
) -> Ints:
    """Pick the maximiser of one drawn function after another, until the rule ends the batch.

    A function is zᵀθ with θ ~ N(V⁻¹Zᵀy, λV⁻¹), plus independent values of the prior variance that
    the dictionary's span leaves out, so that each candidate's value has the posterior's mean and
    variance σ̃² (BBKB eqs. 1 and 3). The posterior is that of the batch start for all picks: what
    makes them differ is chance.

    Parameters
    ----------
    Z, residual
        Features (A × m) and k(x, x) − ‖z‖² (A) of the candidates.
    model
        The posterior.
    leverage, told
        The candidates' leverages (A) with pending evaluations, and from what has been told only.
    rule, limit
        End the batch.

    Returns
    -------
    picks
        Rows of Z.
    """
    spread = np.sqrt(residual)
    picks: list[int] = []
    while True:
        noise = rng.standard_normal((model.size, _DRAWS))
        thetas = model.theta[:, None] + np.sqrt(model.lam) * (model.root.matrix @ noise)
        values = Z @ thetas
        values += spread[:, None] * rng.standard_normal(values.shape)
        for pick in values.argmax(axis=0).tolist():
            picks.append(pick)
            # The variance that is left is not followed inside the batch.
            if rule.add(pick, float(told[pick]), float(leverage[pick])) or len(picks) >= limit:
                return np.array(picks)
