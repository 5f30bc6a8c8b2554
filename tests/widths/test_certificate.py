"""Certificates: what is proved of a recommendation, for any norm, after the fact."""

import numpy as np
import pytest

import noregret as nr

NOISE, DELTA = 0.1, 0.1


def function_of_norm(norm, seed, arms=60, lengthscale=0.3):
    """Points (n × 2) and a function on them that has this norm."""
    rng = np.random.default_rng(seed)
    X, kernel = rng.uniform(size=(arms, 2)), nr.RBF(lengthscale)
    centres = rng.choice(arms, 8, replace=False)
    weights = rng.standard_normal(8)
    own = np.sqrt(weights @ kernel(X[centres], X[centres]) @ weights)
    return X, kernel, norm / own * (kernel(X, X[centres]) @ weights), rng


def played(cls, norm=2.0, seed=0, steps=60, **options):
    X, kernel, f, rng = function_of_norm(2.0, seed)
    opt = cls(X, kernel, noise=NOISE, norm=norm, delta=DELTA, seed=seed, **options)
    while opt.t < steps:
        batch = opt.ask(steps - opt.t)
        opt.tell(batch, f[batch.ids] + NOISE * rng.standard_normal(len(batch)))
    return opt, f


def naive(opt, X, norm, best):
    """Bounds of all candidates, and of how much better than one of them they are (t × t)."""
    kernel, ids, y = opt.assumed.kernel, opt.history.ids, opt.history.rewards
    K = kernel(X[ids], X[ids])
    lams = NOISE**2 * np.array([1.0, 3.0, 10.0, 30.0, 100.0])
    ridges = [lam * y @ np.linalg.solve(K + lam * np.eye(len(y)), y) for lam in lams]
    dets = [np.linalg.slogdet(np.eye(len(y)) + K / lam)[1] for lam in lams]
    costs = -0.5 * np.array(dets) - np.array(ridges) / (2 * NOISE**2)
    square = -2 * NOISE**2 * np.log(np.mean(np.exp(costs - costs.max()))) - 2 * NOISE**2 * (
        costs.max() + np.log(DELTA)
    )
    lower, upper, better = [], [], []
    for lam, ridge in zip(lams, ridges, strict=True):
        cross = kernel(X, X[ids]) @ np.linalg.inv(K + lam * np.eye(len(y)))
        covariance = kernel(X, X) - cross @ kernel(X[ids], X)
        variance = covariance.diagonal()
        difference = variance + variance[best] - 2 * covariance[best]
        width = np.sqrt(max(square + lam * norm**2 - ridge, 0) / lam)
        mean, radius = cross @ y, width * np.sqrt(np.maximum(variance, 0))
        lower.append(mean - radius)
        upper.append(mean + radius)
        better.append(mean - mean[best] + width * np.sqrt(np.maximum(difference, 0)))
    return np.max(lower, axis=0), np.min(upper, axis=0), np.min(better, axis=0)


@pytest.mark.parametrize("cls", [nr.GPUCB, nr.BBKB])
@pytest.mark.parametrize("norm", [2.0, 5.0])
def test_the_numbers_are_those_of_a_naive_computation(cls, norm):
    opt, _ = played(cls)
    found = opt.certify(norm=norm)
    lower, upper, better = naive(opt, opt.domain.points, norm, found.id)
    assert found.lower == pytest.approx(lower[found.id], abs=1e-5)
    assert found.upper == pytest.approx(upper[found.id], abs=1e-5)
    better = np.minimum(better, upper - lower[found.id])
    assert found.gap == pytest.approx(np.delete(better, found.id).max(), abs=1e-5)
    assert found.gap < upper.max() - lower[found.id]
    assert found.alive == np.sum((upper >= lower.max()) & (better >= -1e-9))


def test_the_largest_norm_is_where_the_gap_reaches_tol():
    opt, _ = played(nr.GPUCB, steps=150)
    tol = 1.5 * opt.certify().gap
    largest = opt.certify(tol=tol).largest_norm
    assert largest > 2.0
    assert opt.certify(norm=0.999 * largest).gap <= tol < opt.certify(norm=1.001 * largest).gap


def test_certificates_hold():
    """The true best is excluded, or the gap too small, in at most δ of the runs."""
    missed = 0
    for seed in range(20):
        opt, f = played(nr.GPBUCB, seed=seed, steps=40)
        found = opt.certify()
        assert found.certified
        _, upper, _ = naive(opt, opt.domain.points, 2.0, found.id)
        missed += f.max() - f[found.id] > found.gap or np.any(f > upper + 1e-9)
    assert missed <= 4  # δ = 0.1: more than 4 of 20 by chance in 4 % of cases


def test_a_norm_that_the_rewards_refute_certifies_nothing():
    X, kernel, f, rng = function_of_norm(2.0, 0)
    opt = nr.GPUCB(X, kernel, noise=NOISE, norm=0.05, delta=DELTA, seed=0)
    opt.tell(np.arange(60), f + NOISE * rng.standard_normal(60))
    with pytest.warns(RuntimeWarning, match="norm"):
        opt.ask()
    found = opt.certify()
    assert not found.certified
    assert found.smallest_norm > 0.05
    assert "refute" in found.assumptions
    assert opt.certify(norm=2.0).certified


def test_learnt_settings_certify_nothing():
    X, _, f, _ = function_of_norm(2.0, 0)
    opt = nr.GPUCB(X, "auto", noise="auto", norm=1.0, width=2.0, seed=0)
    opt.tell(np.arange(30), f[:30])
    found = opt.certify()
    assert not found.certified
    assert "kernel" in found.assumptions
    assert "noise" in found.assumptions


def test_what_cannot_be_certified_is_refused():
    sides = [(0, 1)] * 9
    with pytest.raises(ValueError, match="at most 8 dimensions, got 9"):
        nr.GPUCB(nr.Box(sides), nr.RBF(0.3)).certify()
    with pytest.raises(ValueError, match=r"RBF, Matern .* got Linear"):
        nr.GPUCB(nr.Box(sides[:2]), nr.Linear()).certify()
    opt, _ = played(nr.GPUCB, steps=10)
    for wrong in ({"norm": 0.0}, {"norm": "large"}, {"tol": -1.0}):
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            opt.certify(**wrong)


def test_a_certificate_reads_well():
    opt, _ = played(nr.GPUCB)
    text = str(opt.certify(tol=0.5))
    assert text.startswith("Certified: choice ")
    assert "can still be the best" in text
    assert "norm up to" in text


def test_above_the_limit_the_sparse_posterior_is_used_or_the_cost_is_named(monkeypatch):
    opt, f = played(nr.BBKB)
    monkeypatch.setattr("noregret.picking.certify._MOST_WORK", 10.0)
    found = opt.certify()
    assert found.certified
    assert f.max() - f[found.id] <= found.gap
    cover = nr.PiGPUCB(opt.domain, nr.Matern(0.3), horizon=10, norm=2.0, seed=0)
    cover.tell([0, 1, 2], f[:3])
    with pytest.raises(ValueError, match="multiplications"):
        cover.certify()


def test_no_numbers_are_printed_where_no_function_of_that_norm_fits():
    opt, _ = played(nr.GPUCB)
    said = str(opt.certify(norm=0.01))
    assert said.startswith("Not certified.\nThe rewards refute a norm of 0.01")
    early, _ = played(nr.GPUCB, steps=1)
    assert "above 1e-12 whatever the norm" in str(early.certify(tol=1e-12))
