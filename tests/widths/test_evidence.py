"""What a width is told, beside dense matrices with a row for each evaluation."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from reference import assert_close, problem, sparse_posterior

import noregret as nr
from noregret.widths.evidence import FixedWidth, theory

KERNEL = nr.Matern(0.3, nu=1.5) + 0.5 * nr.Linear()
SPARSE = {"qbar": 0.1, "width": "practical", "lam": 1.0}


def told(cls, **options):
    """An optimiser that was told batches, and the leverages its evaluations had when they came."""
    X, f, rng = problem(arms=60)
    opt = cls(X, KERNEL, noise=0.2, norm=3.0, delta=0.05, seed=0, **options)
    leverages = []
    for _ in range(12):
        batch = opt.ask(5)
        leverages += list(opt.predict(batch.ids, pending=False)[1] ** 2 / opt.assumed.lam)
        opt.tell(batch, f[batch.ids] + 0.2 * rng.standard_normal(len(batch)))
    return opt, np.array(leverages)


def evidence(opt):
    """What a width is told now."""
    now = opt.situation(pending=False)
    return now.beliefs.evidence(now.observations, opt._setup.rules)


@pytest.mark.parametrize(
    ("cls", "options"),
    [(nr.GPUCB, {}), (nr.GPUCB, {"lam": 0.3}), (nr.BBKB, SPARSE), (nr.BKB, SPARSE)],
)
def test_evidence_is_that_of_dense_matrices(cls, options):
    opt, leverages = told(cls, **options)
    found = evidence(opt)
    X, ids, y = opt.domain.points, opt.history.ids, opt.history.rewards
    K, inducing = KERNEL(X[ids], X[ids]), X[opt.dictionary]
    cross = KERNEL(X[ids], inducing)
    Q, unit = cross @ np.linalg.solve(KERNEL(inducing, inducing), cross.T), np.eye(len(ids))

    assert (found.t, found.noise, found.norm, found.delta) == (len(ids), 0.2, 3.0, 0.05)
    assert (found.choices, found.ratio) == (60, getattr(opt, "ratio", 1.0))
    np.testing.assert_array_equal(found.lams, opt.assumed.lams)
    assert found.lam == opt.assumed.lam
    for i, lam in enumerate(found.lams):
        exact, on_span = (np.linalg.slogdet(unit + one / lam)[1] for one in (K, Q))
        bound = on_span + np.trace(K - Q) / lam
        assert exact - 1e-8 <= found.log_dets[i] <= bound + 1e-8
        assert_close(found.ridges[i], lam * y @ np.linalg.solve(Q + lam * unit, y))
    assert found.log_det == found.log_dets[0]
    assert_close(found.trace, np.trace(K - Q))
    assert_close(found.prior_sum, np.trace(K))
    _, leverage = sparse_posterior(KERNEL, X, ids, y, found.lam, inducing)
    assert_close(found.effective_dimension, leverage[ids].sum())
    assert_close(found.summed, np.log1p(leverages).sum())
    assert_close(found.summed_three, np.log1p(3 * leverages).sum())
    if cls is nr.GPUCB:  # nothing is left out
        assert_close(
            [found.trace, found.log_det], [0.0, np.linalg.slogdet(unit + K / found.lam)[1]]
        )
    else:
        assert found.trace > 0.01


def test_the_theorys_width_has_a_factor_for_every_lambda():
    opt, _ = told(nr.GPUCB)
    factors, refuted = theory(evidence(opt))
    assert len(factors) == len(opt.assumed.lams) == 5
    assert not refuted
    assert_close(opt.beta, factors[0] / np.sqrt(opt.assumed.lam))


@pytest.mark.parametrize("beta", [0.0, 1.7])
def test_a_number_needs_no_evidence(beta):
    width = FixedWidth(beta)
    for lam in (0.01, 4.0):
        assert width.factor(lam) == pytest.approx(beta * np.sqrt(lam))


def test_a_width_may_depend_on_all_the_evidence():
    X, f, _ = problem(arms=30)
    names = ("t", "noise", "norm", "delta", "lam", "log_det", "effective_dimension", "trace")
    seen = {}

    def width(evidence):
        seen.update({name: getattr(evidence, name) for name in names})
        return 1.0

    opt = nr.BKB(X, nr.RBF(0.3), noise=0.2, norm=3.0, delta=0.05, lam=0.1, width=width, seed=0)
    opt.tell([1, 2, 2], f[[1, 2, 2]])
    opt.ask()
    assert (seen["t"], seen["noise"], seen["norm"]) == (3, 0.2, 3.0)
    assert (seen["delta"], seen["lam"]) == (0.05, 0.1)
    assert seen["effective_dimension"] == pytest.approx(opt.effective_dimension())
    assert seen["log_det"] >= 2 * opt.information_gain() - 1e-9
    for wrong in (lambda e: -1.0, lambda e: "wide", lambda e: float("nan")):
        with pytest.raises((ValueError, TypeError), match="width"):
            opt.replace(width=wrong).ask()


@pytest.mark.filterwarnings("ignore:the rewards contradict:RuntimeWarning")
def test_a_proved_width_of_your_own_stays_what_it_was_before_new_rewards():
    """Rewards that move a mean far are compared with the bounds before, as they were then."""
    read = {}

    def width(e):
        read.setdefault(e.t, set()).add(e.effective_dimension)
        return 0.01 * math.sqrt(e.lam)

    @dataclass(frozen=True, kw_only=True, eq=False, repr=False)
    class Own(nr.GPUCB):
        def parts(self):
            return replace(super().parts(), widths={"theory": width}, proved=("theory",))

    opt = Own([[0.0], [0.5], [1.0]], nr.RBF(0.3), noise=0.1, norm=2.0, lam=0.01, seed=0)
    for reward in (0.0, 0.1, 0.3):
        opt.tell([0], [reward])
        opt.ask()
    assert opt.events[0]["event"] == "refuted"
    assert [len(values) for values in read.values()] == [1] * len(read)
