"""GP-BUCB beside Algorithm 2 of the BBKB paper, batch by batch, with dense matrices."""

import math

import numpy as np
import pytest
from reference import assert_close, exact_posterior, exact_widths, problem

import noregret as nr

KERNEL = nr.Matern(0.3, nu=1.5)
LAM, RATIO, LONGEST = 1.0, 2.5, 30
ASSUMED = {"noise": 0.2, "norm": 3.0, "lam": LAM, "delta": 0.1}


def drift(rule, leverages, picks):
    """How far variances may have shrunk, from the leverages before and after every pick."""
    start, now = leverages[0], leverages[-1]
    if rule == "product":  # ∏(1 + σ²_{s−1}(x_s)), Algorithm 2
        return math.prod(1 + leverages[s][pick] for s, pick in enumerate(picks))
    if rule == "global":  # 1 + Σσ²_fb(x_s), Lemma 1
        return 1 + start[picks].sum()
    return (start / now).max()  # the ratio itself, Section 4


def batch_of(X, ids, y, alpha, rule, smallest):
    """Picks, their bounds and the drift at the end.

    ``smallest``: other upper bounds from the batch start (A), with which all are intersected.
    """
    told, silent = list(ids), list(y)
    mean, start = exact_posterior(KERNEL, X, told, silent, LAM)
    picks, bounds, leverages = [], [], [start]
    while not picks or (drift(rule, leverages, picks) <= RATIO and len(picks) < LONGEST):
        upper = np.minimum(smallest, mean + alpha * np.sqrt(leverages[-1]))
        picks.append(int(np.lexsort((-mean, -upper))[0]))  # of equal bounds the largest mean
        bounds.append(upper[picks[-1]])
        told, silent = [*told, picks[-1]], [*silent, 0.0]  # variances need no feedback
        leverages.append(exact_posterior(KERNEL, X, told, silent, LAM)[1])
    return picks, bounds, drift(rule, leverages, picks)


@pytest.mark.parametrize("rule", ["product", "global", "local"])
@pytest.mark.parametrize(
    ("width", "bounds", "factor"),
    [
        ("paper", "current", RATIO),
        ("paper", "intersected", RATIO),
        ("theory", "current", math.sqrt(RATIO)),
        ("srinivas", "current", math.sqrt(RATIO)),
        ("practical", "current", 1.0),
        (1.5, "current", 1.0),
    ],
)
def test_every_batch_is_the_papers(width, bounds, factor, rule):
    X, f, rng = problem(arms=50)
    options = {"width": width, "bounds": bounds, "batch_rule": rule, "ratio": RATIO}
    opt = nr.GPBUCB(X, KERNEL, seed=0, **options, **ASSUMED)
    smallest = 3.0 * np.sqrt(KERNEL.diag(X))  # |f(x)| ≤ F√k(x, x)
    batch, ids, y, longest = opt.ask(), [], [], 0  # the first is drawn uniformly
    while opt.t < 150:
        ids += batch.ids.tolist()
        y += (f[batch.ids] + 0.2 * rng.standard_normal(len(batch))).tolist()
        opt.tell(batch, y[-len(batch) :])
        mean, leverage = exact_posterior(KERNEL, X, ids, y, LAM)
        beta = exact_widths(KERNEL, X, ids, **ASSUMED)[width]
        smallest = np.minimum(smallest, mean + beta * np.sqrt(leverage))
        others = smallest if bounds == "intersected" else np.inf
        picks, upper, ratio = batch_of(X, ids, y, factor * beta, rule, others)

        assert_close(opt.beta, beta / math.sqrt(LAM))
        assert_close(opt.predict(), [mean, np.sqrt(LAM * leverage)])
        batch = opt.ask(LONGEST)
        assert batch.ids.tolist() == picks
        assert_close(batch.info.upper, upper)
        assert_close(batch.info.ratio, ratio)
        longest = max(longest, len(batch))
    assert longest > 5
