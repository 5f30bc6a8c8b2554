"""The prior variance that a dictionary leaves out, lowered to a limit."""

import numpy as np
from reference import problem

import noregret as nr
from noregret.learning.trace import lower_trace
from noregret.models.sparse import SparseGP


def test_lower_trace_stops_at_the_limit():
    X, _, rng = problem(arms=100)
    counts = np.bincount(rng.integers(100, size=300), minlength=100)
    model = SparseGP(nr.RBF(0.2), (0.1,), X[:0], 1.0)
    model.rebuild(X, counts, np.zeros(100), np.array([0]))
    for limit in (50.0, 1.0, 1e-3):
        lower_trace(model, X, limit)
        assert model.trace() <= limit
    before = model.size
    lower_trace(model, X, 1e-3)
    assert model.size == before <= np.count_nonzero(counts)
