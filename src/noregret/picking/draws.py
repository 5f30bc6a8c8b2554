"""Who is next? The maximisers of functions drawn from the sparse posterior.

A function is zᵀθ with θ ~ N(V⁻¹Zᵀy, λV⁻¹), plus what the dictionary's span leaves out of the prior:
an independent value of that variance for each candidate, so that each candidate's value has the
posterior's mean and variance σ̃² (BBKB eqs. 1 and 3). The posterior is that of the batch start for
all picks: what makes them differ is chance.
"""

from collections.abc import Iterator

import numpy as np

from noregret._types import Floats, Ints
from noregret.batching import BatchRule
from noregret.models.sparse import SparseGP
from noregret.models.surface import Surface
from noregret.models.view import PosteriorView
from noregret.picking.box import BoxSearch

#: functions drawn at a time
_DRAWS = 16


def thompson_batch(
    view: PosteriorView, rule: BatchRule, limit: int, rng: np.random.Generator
) -> Ints:
    """Pick the maximiser of one drawn function after another, until the rule ends the batch.

    Returns
    -------
    ids
        Candidates of the list (n).
    """
    table = view.model.table
    picks: list[int] = []
    for id_, _, _ in _maximisers(table.all_features(), table.residual, view.model, rng):
        picks.append(id_)
        # The variance that is left is not followed inside the batch.
        if rule.add(id_, float(view.told[id_]), float(view.leverage[id_])) or len(picks) >= limit:
            break
    return np.array(picks)


def thompson_box_batch(
    search: BoxSearch,
    surface: Surface,
    rule: BatchRule,
    limit: int,
    anchors: Floats,
    rng: np.random.Generator,
) -> Floats:
    """The same on a box: the maximiser over Sobol points and ``anchors`` (k × d), moved uphill.

    Around it the function goes on as zᵀθ + ε√(k(x, x) − ‖z‖²) with the ε drawn there: the same
    value at the start, the posterior's mean and variance everywhere, and smooth enough to climb.

    Returns
    -------
    points
        The picks (n × d).
    """
    points = np.concatenate([anchors, search.box.spread(search.screen_size, rng)])
    Z = surface.model.embed(points)
    picks: list[Floats] = []
    for row, theta, outside in _maximisers(Z, surface.residual(Z, points), surface.model, rng):

        def objective(
            X: Floats, theta: Floats = theta, outside: float = outside
        ) -> tuple[Floats, Floats]:
            return surface.drawn(X, theta, outside)

        start = points[row : row + 1]
        point, _ = search.climb(objective, start, objective(start)[0], 1)
        picks.append(point)
        if rule.add(len(picks) - 1, *surface.note(point)) or len(picks) >= limit:
            break
    return np.array(picks)


def _maximisers(
    Z: Floats, residual: Floats, model: SparseGP, rng: np.random.Generator
) -> Iterator[tuple[int, Floats, float]]:
    """Functions one after another: the row of the maximiser, θ (m), and ε at the maximiser.

    Z (A × m) are features, ``residual`` (A) what they leave of the prior variance: k(x, x) − ‖z‖².
    """
    spread = np.sqrt(residual)[:, None]
    while True:
        noise = rng.standard_normal((model.size, _DRAWS))
        thetas = model.theta[:, None] + np.sqrt(model.lam) * (model.root.matrix @ noise)
        outside = rng.standard_normal((len(Z), _DRAWS))
        best = (Z @ thetas + spread * outside).argmax(axis=0)
        for i, row in enumerate(best.tolist()):
            yield row, thetas[:, i], float(outside[row, i])
