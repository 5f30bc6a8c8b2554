"""BBKB beside the paper's Algorithm 1, batch by batch, with dense matrices."""

import math

import numpy as np
import pytest
from reference import assert_close, problem, run, sparse_posterior

import noregret as nr

KERNEL = nr.Matern(0.3, nu=1.5)
#: ξ, F, λ, δ and C̃
NOISE, NORM, LAM, DELTA, RATIO = 0.2, 3.0, 1.0, 0.1, 2.5
#: a width that explores enough for batches of different candidates
NUMBER = 1.5


class Paper:
    """Algorithm 1 for the dictionaries that it is given."""

    def __init__(self, X):
        self.X, self.ids, self.y = X, [], []
        self.mean, self.leverage = np.zeros(len(X)), KERNEL.diag(X) / LAM
        self.smallest = NORM * np.sqrt(KERNEL.diag(X))  # |f(x)| ≤ F√k(x, x)
        self.summed, self.summed_three = 0.0, 0.0  # Σ log(1 + σ̃²), Σ log(1 + 3σ̃²)

    def posterior(self, picks=()):
        """Eqs. 1 and 3: mean μ̃_fb and leverage σ̃²_t, the dictionary frozen (A leverages each)."""
        ids, inducing = [*self.ids, *picks], self.X[self.dictionary]
        y = np.concatenate([self.y, np.zeros(len(picks))])
        return sparse_posterior(KERNEL, self.X, ids, y, LAM, inducing)

    def start(self, dictionary):
        """A batch starts: lines 11 to 18 for the dictionary S_fb."""
        self.dictionary = dictionary
        self.mean, self.leverage = self.posterior()

    def batch(self, width, factor, *, intersected):
        """Picks and their bounds; ``width`` is β̃_fb, and α̃_fb = ``factor``·β̃_fb."""
        if intersected:
            at_start = self.mean + width * np.sqrt(self.leverage)
            self.smallest = np.minimum(self.smallest, at_start)
        picks, bounds, drift = [], [], 1.0
        while drift <= RATIO:  # line 5, with Lemma 1
            _, leverage = self.posterior(picks)
            upper = self.mean + factor * width * np.sqrt(leverage)  # ũ_t, Section 3.1
            if intersected:
                upper = np.minimum(self.smallest, upper)
            first = int(np.lexsort((-self.mean, -upper))[0])  # line 4
            picks.append(first)
            bounds.append(upper[first])
            drift += self.leverage[first]
        return picks, bounds, drift

    def tell(self, ids, y):
        """Line 17."""
        self.summed += np.log1p(self.leverage[ids]).sum()
        self.summed_three += np.log1p(3 * self.leverage[ids]).sum()
        self.ids, self.y = [*self.ids, *ids], [*self.y, *y]

    def theorem_2(self):
        """β̃_fb."""
        spread = self.summed_three + math.log(1 / DELTA)
        return 2 * NOISE * math.sqrt(spread) + (1 + math.sqrt(2)) * math.sqrt(LAM) * NORM

    def practical(self):
        """√λF + ξ√(C̃ Σ log(1 + σ̃²) + log 1/δ), of the authors' code."""
        spread = RATIO * self.summed + math.log(1 / DELTA)
        return math.sqrt(LAM) * NORM + NOISE * math.sqrt(spread)

    def number(self):
        """mean ± β·std."""
        return NUMBER * math.sqrt(LAM)


def optimizer(X, **options):
    shared = {"noise": NOISE, "norm": NORM, "lam": LAM, "delta": DELTA, "ratio": RATIO}
    return nr.BBKB(X, KERNEL, **{**shared, "seed": 0, **options})


@pytest.mark.parametrize("dictionary", ["grow", "resample"])
@pytest.mark.parametrize(
    ("width", "bounds", "beta", "factor"),
    [
        ("paper", "current", Paper.theorem_2, RATIO),
        ("paper", "intersected", Paper.theorem_2, RATIO),
        ("practical", "current", Paper.practical, 1.0),
        (NUMBER, "current", Paper.number, 1.0),
    ],
)
def test_every_batch_is_the_papers(width, bounds, beta, factor, dictionary):
    X, f, rng = problem(arms=50)
    opt = optimizer(X, width=width, bounds=bounds, dictionary=dictionary, qbar=0.3)
    paper, batch = Paper(X), opt.ask()  # line 1: the first is drawn uniformly
    lengths, left_out = [], 0
    while opt.t < 300:
        y = f[batch.ids] + NOISE * rng.standard_normal(len(batch))
        opt.tell(batch, y)
        paper.tell(batch.ids.tolist(), y)
        paper.start(opt.dictionary)  # drawn at random: taken as it is
        left_out += len(set(paper.ids) - set(opt.dictionary))
        picks, upper, drift = paper.batch(beta(paper), factor, intersected=bounds == "intersected")

        assert_close(opt.beta, beta(paper) / math.sqrt(LAM))
        assert_close(opt.predict(), [paper.mean, np.sqrt(LAM * paper.leverage)])
        batch = opt.ask()
        assert batch.ids.tolist() == picks
        assert_close(batch.info.upper, upper)
        assert_close(batch.info.ratio, drift)
        lengths.append(len(batch))
    assert left_out > 10
    assert max(lengths) > lengths[0]


def test_ratio_one_gives_batches_of_one_and_bkbs_choices():
    X, f, _ = problem(arms=100)
    chosen = []
    for cls, options in ((nr.BKB, {}), (nr.BBKB, {"ratio": 1.0})):
        opt = cls(X, KERNEL, noise=0.1, lam=0.05, width=2.0, seed=5, **options)
        rng = np.random.default_rng(9)
        while opt.t < 60:
            batch = opt.ask()
            assert len(batch) == 1
            opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(1))
        chosen.append(opt.history.ids)
    np.testing.assert_array_equal(*chosen)


def test_with_an_exact_dictionary_bbkb_is_gp_bucb():
    X, f, _ = problem(arms=40)
    runs = []
    for cls, options in (
        (nr.GPBUCB, {"batch_rule": "global"}),
        (nr.BBKB, {"qbar": 1e12}),
    ):
        opt = cls(X, KERNEL, noise=0.1, lam=0.05, width=2.0, seed=5, ratio=2.0, **options)
        opt.tell(np.arange(40), f)  # from here on the dictionary spans every arm
        run(opt, f, 0.1, np.random.default_rng(9), 150)
        runs.append(opt)
    np.testing.assert_array_equal(runs[0].history.ids, runs[1].history.ids)
    np.testing.assert_allclose(runs[0].predict()[1], runs[1].predict()[1], atol=1e-10)


def test_batches_grow_over_time():
    X, f, rng = problem(arms=200)
    opt = nr.BBKB(X, nr.RBF(0.5), noise=0.1, lam=0.1, width="practical", norm=4.0, seed=0)
    lengths = []
    while opt.t < 2000:
        batch = opt.ask(1000)
        lengths.append(len(batch))
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
    assert np.mean(lengths[-3:]) > 20 * np.mean(lengths[:3])
