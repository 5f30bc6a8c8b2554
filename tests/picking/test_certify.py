"""Certificates of runs: the exact posterior of what was told, in the units of the rewards."""

import numpy as np
import pytest
from reference import problem, run

import noregret as nr
from noregret.picking import certify

KERNEL = nr.RBF(0.4)


def played(cls, **options):
    X, f, rng = problem(2, arms=80)
    opt = cls(X, KERNEL, noise=0.1, norm=5.0, delta=0.1, seed=0, **options)
    return run(opt, f, 0.1, rng, 40), f


def test_a_sparse_run_is_certified_as_the_exact_one():
    """Whatever the dictionary: only what was told counts."""
    sparse, _ = played(nr.BBKB, qbar=0.2)
    assert len(sparse.dictionary) < len(np.unique(sparse.history.ids))
    exact = nr.GPUCB(sparse.domain, KERNEL, noise=0.1, norm=5.0, delta=0.1, seed=1)
    exact.tell(sparse.history.ids, sparse.history.rewards)
    one, other = sparse.certify(), exact.certify()
    assert one.smallest_norm == pytest.approx(other.smallest_norm, rel=1e-6)
    assert one.id == other.id
    assert (one.lower, one.upper, one.gap) == pytest.approx(
        (other.lower, other.upper, other.gap), rel=1e-5
    )


def test_above_the_limit_the_posterior_is_that_of_the_run(monkeypatch):
    sparse, f = played(nr.BBKB, qbar=0.2)
    exact = sparse.certify()
    monkeypatch.setattr(certify, "_MOST_WORK", 0.0)
    found = sparse.certify()
    assert found.certified
    assert f.max() - f[found.id] <= found.gap
    assert found.gap != exact.gap


@pytest.mark.parametrize("cls", [nr.ClippedGPUCB, nr.HuberGPUCB, nr.TGPUCB, nr.RobustUCB])
def test_noise_with_heavy_tails_is_not_certified_as_sub_gaussian(cls):
    """``noise`` is a moment there, or not used at all: a certificate would assume far more."""
    opt = cls([[0.0], [0.5], [1.0]], nr.RBF(0.3), noise=0.1, norm=2.0, seed=0)
    opt.tell([0, 1, 2, 2], [0.1, 0.5, 0.2, 0.3])
    certificate = opt.certify()
    assert not certificate.certified
    assert f"{cls.__name__} allows for noise with heavy tails" in str(certificate)


def test_pending_evaluations_change_nothing():
    opt, _ = played(nr.GPUCB)
    before = opt.certify(tol=0.5)
    opt.expect(np.arange(30))
    assert opt.certify(tol=0.5) == before


@pytest.mark.parametrize("learnt", [False, True])
def test_numbers_are_in_the_units_of_the_rewards(learnt):
    """Learnt settings are about rewards with a shift and a unit taken off; here by hand."""
    X, f, rng = problem(2, arms=80)
    own = {"noise": "auto", "norm": "auto"} if learnt else {"noise": 0.1, "norm": 5.0}
    opt = nr.GPUCB(X, "auto" if learnt else KERNEL, width=2.0, delta=0.1, seed=0, **own)
    run(opt, 30.0 * f + 7.0 if learnt else f, 10.0 if learnt else 0.1, rng, 40)
    assumed, seen = opt.assumed, opt.history
    shift, unit = assumed.shift, assumed.unit
    assert (unit != 1.0) == learnt
    assert len(np.unique(seen.ids)) < 40  # rewards of one arm scatter about their mean
    plain = nr.GPUCB(
        X, assumed.kernel, noise=assumed.noise, norm=assumed.norm, lam=assumed.lam,
        width=2.0, delta=0.1, seed=0,
    )  # fmt: skip
    plain.tell(seen.ids, (seen.rewards - shift) / unit)
    found, by_hand = opt.certify(), plain.certify()
    assert found.certified == (by_hand.certified and not learnt)
    assert (found.id, found.alive) == (by_hand.id, by_hand.alive)
    assert found.lower == pytest.approx(shift + unit * by_hand.lower, rel=1e-6)
    assert found.upper == pytest.approx(shift + unit * by_hand.upper, rel=1e-6)
    assert found.gap == pytest.approx(unit * by_hand.gap, rel=1e-6)
    assert found.gap > 0.0


def test_a_box_is_certified_as_a_fine_grid_of_it():
    side = np.linspace(0.0, 1.0, 41)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    ids = np.random.default_rng(0).integers(len(grid), size=40)
    f = np.sin(3 * grid[:, 0]) + 0.5 * np.cos(5 * grid[:, 1])
    options = {"noise": 0.1, "norm": 5.0, "delta": 0.1, "seed": 0}
    on_list, on_box = (
        nr.GPUCB(grid, KERNEL, **options),
        nr.GPUCB(nr.Box([(0, 1), (0, 1)]), KERNEL, **options),
    )
    on_list.tell(ids, f[ids])
    on_box.tell(grid[ids], f[ids])
    one, other = on_list.certify(), on_box.certify()
    np.testing.assert_array_equal(grid[one.id], other.point)
    assert (one.lower, one.upper, one.smallest_norm) == pytest.approx(
        (other.lower, other.upper, other.smallest_norm), abs=1e-6
    )
    assert one.gap - 1e-6 <= other.gap <= 1.05 * one.gap  # known to 2 %; and between grid points
    assert one.alive
    assert other.alive is None
