"""GP-UCB beside its papers' equations, step by step, with dense matrices."""

import math

import numpy as np
import pytest
from reference import assert_close, exact_posterior, exact_widths, problem

import noregret as nr

KERNEL = nr.Matern(0.3, nu=1.5)
LAM = 0.05
ASSUMED = {"noise": 0.2, "norm": 3.0, "lam": LAM, "delta": 0.1}


@pytest.mark.parametrize("bounds", ["current", "intersected"])
@pytest.mark.parametrize("width", ["paper", "practical", "theory", "srinivas", 1.5])
def test_every_step_is_the_papers(width, bounds):
    X, f, rng = problem(arms=50)
    opt = nr.GPUCB(X, KERNEL, width=width, bounds=bounds, seed=0, **ASSUMED)
    smallest = 3.0 * np.sqrt(KERNEL.diag(X))  # |f(x)| ≤ F√k(x, x)
    ids, y = list(opt.ask().ids), []  # the first is drawn uniformly
    for _ in range(120):
        y.append(f[ids[-1]] + 0.2 * rng.standard_normal())
        opt.tell(ids[-1:], y[-1:])
        mean, leverage = exact_posterior(KERNEL, X, ids, y, LAM)  # BKB eqs. 1 and 2
        beta = exact_widths(KERNEL, X, ids, **ASSUMED)[width]
        upper = mean + beta * np.sqrt(leverage)  # BKB eq. 3
        if bounds == "intersected":
            upper = smallest = np.minimum(smallest, upper)
        first = np.lexsort((-mean, -upper))[0]  # of equal bounds the largest mean

        assert_close(opt.beta, beta / math.sqrt(LAM))
        assert_close(opt.predict(), [mean, np.sqrt(LAM * leverage)])
        batch = opt.ask()
        assert batch.ids.tolist() == [first]
        assert_close(batch.info.upper, upper[first])
        ids.append(first)
    assert len(set(ids)) > 5


def test_the_width_that_counts_candidates_needs_a_list():
    with pytest.raises(ValueError, match="srinivas"):
        nr.GPUCB(nr.Box([(0, 1)]), nr.RBF(), width="srinivas")
