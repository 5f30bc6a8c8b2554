"""BKB beside the paper's equations, step by step, with dense matrices."""

import math

import numpy as np
import pytest
from reference import assert_close, problem, sparse_posterior

import noregret as nr
from noregret.widths import gaussian

KERNEL = nr.Matern(0.3, nu=1.5)
#: ξ, F, λ, δ and ε
NOISE, NORM, LAM, DELTA, EPSILON = 0.2, 3.0, 0.05, 0.1, 0.4


class Paper:
    """BKB, Section 3.1 and Theorem 2, for the dictionaries that it is given."""

    def __init__(self, X):
        self.X, self.ids, self.y = X, [], []
        self.mean, self.leverage = np.zeros(len(X)), KERNEL.diag(X) / LAM
        self.summed = 0.0  # Σ log(1 + σ̃²_{s−1}(x_s))

    def inclusion(self, qbar):
        """How likely each arm enters S_t: q̄σ̃²_{t−1}(x) for every time that it was told."""
        times = np.bincount(self.ids, minlength=len(self.X))
        return np.minimum(qbar * times * self.leverage, 1.0)

    def tell(self, arm, reward):
        self.summed += np.log1p(self.leverage[arm])
        self.ids.append(arm)
        self.y.append(reward)

    def embed(self, dictionary):
        """Eq. 4 for the inducing points S_t."""
        told = self.X, self.ids, self.y, LAM
        self.mean, self.leverage = sparse_posterior(KERNEL, *told, self.X[dictionary])

    def theorem_2(self):
        """β̃_t; log(κ²t) only where the proof may use it, else (1 + log(κ²t/λ + 1))/2."""
        t, alpha = len(self.ids), (1 + EPSILON) / (1 - EPSILON)
        growth = max(math.log(t), (1 + math.log(t / LAM + 1)) / 2)
        spread = alpha * growth * self.leverage[self.ids].sum() + math.log(1 / DELTA)
        bias = 1 + 1 / math.sqrt(1 - EPSILON)
        return 2 * NOISE * math.sqrt(spread) + bias * math.sqrt(LAM) * NORM

    def practical(self):
        """√λF + ξ√(Σ log(1 + σ̃²) + log 1/δ)."""
        spread = self.summed + math.log(1 / DELTA)
        return math.sqrt(LAM) * NORM + NOISE * math.sqrt(spread)


def optimizer(X, **options):
    shared = {"noise": NOISE, "norm": NORM, "lam": LAM, "delta": DELTA, "epsilon": EPSILON}
    return nr.BKB(X, KERNEL, **{**shared, "seed": 0, **options})


@pytest.mark.parametrize("dictionary", ["grow", "resample"])
@pytest.mark.parametrize(
    ("width", "bounds", "factor"),
    [
        ("paper", "current", Paper.theorem_2),
        ("paper", "intersected", Paper.theorem_2),
        ("practical", "current", Paper.practical),
        (1.5, "current", lambda paper: 1.5 * math.sqrt(LAM)),
    ],
)
def test_every_step_is_the_papers(width, bounds, factor, dictionary):
    X, f, rng = problem(arms=50)
    opt = optimizer(X, width=width, bounds=bounds, dictionary=dictionary, qbar=0.1)
    paper, smallest = Paper(X), NORM * np.sqrt(KERNEL.diag(X))  # |f(x)| ≤ F√k(x, x)
    batch, left_out = opt.ask(), 0  # the first is drawn uniformly
    for _ in range(120):
        reward = f[batch.ids[0]] + NOISE * rng.standard_normal()
        opt.tell(batch, [reward])
        paper.tell(int(batch.ids[0]), reward)
        paper.embed(opt.dictionary)  # drawn at random: taken as it is
        left_out += len(set(paper.ids) - set(opt.dictionary))
        upper = paper.mean + factor(paper) * np.sqrt(paper.leverage)  # eq. 4
        if bounds == "intersected":
            upper = smallest = np.minimum(smallest, upper)
        first = np.lexsort((-paper.mean, -upper))[0]  # of equal bounds the largest mean

        assert_close(opt.beta, factor(paper) / math.sqrt(LAM))
        assert_close(opt.predict(), [paper.mean, np.sqrt(LAM * paper.leverage)])
        batch = opt.ask()
        assert batch.ids.tolist() == [first]
        assert_close(batch.info.upper, upper[first])
    assert left_out > 120


def test_dictionaries_are_drawn_by_the_variances_of_the_step_before():
    """Each arm told enters by itself with probability min(1, q̄nσ̃²_{t−1}(x)), n times told."""
    X, f, rng = problem(arms=50)
    opt, paper = optimizer(X, dictionary="resample", qbar=0.5, width=1.5), Paper(X)
    surprise, variance = np.zeros(2), np.zeros(2)  # of less and of more likely arms
    for _ in range(200):
        batch = opt.ask()
        reward = f[batch.ids[0]] + NOISE * rng.standard_normal()
        opt.tell(batch, [reward])
        paper.tell(int(batch.ids[0]), reward)
        chance, drawn = paper.inclusion(0.5), np.isin(np.arange(50), opt.dictionary)
        assert drawn[chance == 1].all()
        assert not drawn[chance == 0].any()
        for i, some in enumerate([chance < 0.4, chance >= 0.4]):
            surprise[i] += (drawn - chance)[some].sum()
            variance[i] += (chance * (1 - chance))[some].sum()
        paper.embed(opt.dictionary)
    assert variance.min() > 20
    assert np.all(np.abs(surprise) < 3 * np.sqrt(variance))


def test_theorem_2_says_how_large_qbar_is():
    """q̄ = 6α log(4t/δ)/ε² takes every arm of a run as short as this one."""
    X, f, _ = problem(arms=50)
    opt = optimizer(X, qbar="theory", width="paper")
    assert opt.parts().qbar(20) == 6 * (1.4 / 0.6) * math.log(4 * 20 / DELTA) / EPSILON**2
    for _ in range(20):
        batch = opt.ask()
        opt.tell(batch, f[batch.ids])
    assert set(opt.dictionary) == set(opt.history.ids)


def test_the_papers_width_needs_the_trace_not_the_largest_prior():
    """Σ k(x, x) over the evaluations, also where some points of a box have a larger k(x, x)."""
    X = np.random.default_rng(0).uniform(0, 10, size=(20, 6))
    opt = nr.BKB(nr.Box([(0, 10)] * 6), nr.Linear(), norm=100.0, lam=1.0, width="paper", seed=0)
    opt.tell(X, np.zeros(20))
    trace = float(np.square(X).sum())
    expected = gaussian.bkb(0.1, 100.0, 1.0, 0.1, opt.effective_dimension(), trace)
    assert_close(opt.beta, expected)
