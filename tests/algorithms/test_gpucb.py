"""GP-UCB beside the papers' equations, step by step, with dense matrices."""

import math

import numpy as np
import pytest
from reference import assert_close, exact_posterior, problem

import noregret as nr

KERNEL = nr.Matern(0.3, nu=1.5)
#: ξ, F, λ and δ
NOISE, NORM, LAM, DELTA = 0.2, 3.0, 0.05, 0.1


def log_determinant(X, ids):
    """log det(K/λ + I), one row for each evaluation."""
    return np.linalg.slogdet(KERNEL(X[ids], X[ids]) / LAM + np.eye(len(ids)))[1]


def paper(X, ids):
    """β√λ.  BKB eq. 7."""
    spread = log_determinant(X, ids) + math.log(1 / DELTA)
    return math.sqrt(LAM) * NORM + NOISE * math.sqrt(2 * spread)


def practical(X, ids):
    """The same without the factor 2."""
    spread = log_determinant(X, ids) + math.log(1 / DELTA)
    return math.sqrt(LAM) * NORM + NOISE * math.sqrt(spread)


def theory(X, ids):
    """The Proofs page, Theorem 1, for one λ."""
    spread = log_determinant(X, ids) + 2 * math.log(1 / DELTA)
    return math.sqrt(LAM * NORM**2 + NOISE**2 * spread)


def srinivas(X, ids):
    """Srinivas et al. (2010), Theorem 1: √(2 log(A t²π²/6δ)) times the deviation."""
    t = len(ids) + 1
    return math.sqrt(LAM * 2 * math.log(len(X) * t**2 * math.pi**2 / (6 * DELTA)))


def number(X, ids):
    """mean ± 1.5·std."""
    return math.sqrt(LAM) * 1.5


@pytest.mark.parametrize("bounds", ["current", "intersected"])
@pytest.mark.parametrize(
    ("width", "factor"),
    [
        ("paper", paper),
        ("practical", practical),
        ("theory", theory),
        ("srinivas", srinivas),
        (1.5, number),
    ],
)
def test_every_step_is_the_papers(width, factor, bounds):
    X, f, rng = problem(arms=50)
    shared = {"noise": NOISE, "norm": NORM, "lam": LAM, "delta": DELTA, "seed": 0}
    opt = nr.GPUCB(X, KERNEL, width=width, bounds=bounds, **shared)
    smallest = NORM * np.sqrt(KERNEL.diag(X))  # |f(x)| ≤ F√k(x, x)
    ids, y = list(opt.ask().ids), []  # the first is drawn uniformly
    for _ in range(120):
        y.append(f[ids[-1]] + NOISE * rng.standard_normal())
        opt.tell(ids[-1:], y[-1:])
        mean, leverage = exact_posterior(KERNEL, X, ids, y, LAM)  # BKB eqs. 1 and 2
        upper = mean + factor(X, ids) * np.sqrt(leverage)  # BKB eq. 3
        if bounds == "intersected":
            upper = smallest = np.minimum(smallest, upper)
        first = np.lexsort((-mean, -upper))[0]  # of equal bounds the largest mean

        assert_close(opt.beta, factor(X, ids) / math.sqrt(LAM))
        assert_close(opt.predict(), [mean, np.sqrt(LAM * leverage)])
        batch = opt.ask()
        assert batch.ids.tolist() == [first]
        assert_close(batch.info.upper, upper[first])
        ids.append(first)
    assert len(set(ids)) > 5
