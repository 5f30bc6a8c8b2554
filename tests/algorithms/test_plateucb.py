"""PlateUCB: whole plates of different candidates, from settings that nobody has to guess."""

import numpy as np
import pytest
from learners import learning

import noregret as nr
from noregret.testing import AlgorithmSuite


class TestPlateUCBLearning(AlgorithmSuite):
    """The suite that all algorithms pass, with everything learnt."""

    def make(self, domain, kernel, **options):
        return learning(nr.PlateUCB, domain, options)


def library(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2]


def test_a_plate_holds_different_candidates_not_measured_yet():
    X, f = library()
    opt = nr.PlateUCB(X, seed=0)
    opt.tell(np.arange(30), f[:30])
    first, second = opt.ask(40), opt.ask(40)
    ids = np.concatenate([np.arange(30), first.ids, second.ids])
    assert len(np.unique(ids)) == 110


def test_old_data_is_enough_for_the_first_fit():
    X, f = library()
    opt = nr.PlateUCB(X, seed=0)
    opt.tell(np.arange(30), f[:30])
    opt.ask(5)
    assert [event["event"] for event in opt.events] == ["fit"]


def test_picks_are_those_of_a_full_argmax_pick_by_pick():
    """Plates of at most 16 are picked one by one: beside the exact GP written out."""
    X, f = library()
    kernel, noise = nr.Matern(0.5), 0.1
    opt = nr.PlateUCB(X, kernel, noise=noise, norm=1.0, seed=0)
    told = np.arange(25)
    opt.tell(told, f[told])
    picks = opt.ask(12).ids.tolist()

    seen = told.tolist()
    K = kernel(X[told], X[told]) + noise**2 * np.eye(25)
    mean = kernel(X, X[told]) @ np.linalg.solve(K, f[told])
    expected = []
    for _ in range(12):
        K = kernel(X[seen], X[seen]) + noise**2 * np.eye(len(seen))
        cross = kernel(X, X[seen])
        variance = 1.0 - np.einsum("ij,ji->i", cross, np.linalg.solve(K, cross.T))
        upper = mean + 0.5 * np.sqrt(np.maximum(variance, 0.0))
        upper[seen] = -np.inf
        expected.append(int(np.argmax(upper)))
        seen.append(expected[-1])
    assert picks == expected


def test_a_large_plate_finds_most_of_the_best():
    X, f = library(2_000)
    opt = nr.PlateUCB(X, seed=0)
    for _ in range(4):
        batch = opt.ask(50)
        opt.tell(batch, f[batch.ids] + 0.05 * np.random.default_rng(opt.t).standard_normal(50))
    best = np.argsort(-f)[:100]
    assert np.isin(best, opt.history.ids).mean() > 0.6


def test_beyond_its_limit_the_gp_is_sparse(monkeypatch):
    monkeypatch.setattr("noregret.models.dictionary._EXACT", 40)
    X, f = library()
    opt = nr.PlateUCB(X, nr.RBF(1.0), noise=0.3, norm=1.0, seed=0)
    for size in (40, 100, 100):
        batch = opt.ask(size)
        opt.tell(batch, f[batch.ids])
    assert len(opt.dictionary) < 120
    mean, _ = opt.predict()
    assert np.corrcoef(mean, f)[0, 1] > 0.9


def test_bounds_of_the_past_are_not_kept():
    with pytest.raises(ValueError, match="bounds must be 'current'"):
        nr.PlateUCB(np.eye(3), bounds="intersected")
    with pytest.raises(TypeError, match="not a box"):
        nr.PlateUCB(nr.Box([(0, 1)]))


def test_files_leave_out_what_can_be_computed_again(tmp_path):
    X, f = library(2_000)
    opt = nr.PlateUCB(X, seed=0)
    for _ in range(3):
        batch = opt.ask(200)
        opt.tell(batch, f[batch.ids])
    batch = opt.ask(200)
    opt.save(tmp_path / "run.npz")
    assert (tmp_path / "run.npz").stat().st_size < X.nbytes + 200_000  # 600² numbers: 2.9 MB
    again = nr.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.predict()[0], opt.predict()[0])
    for one in (opt, again):
        one.tell(batch.ids, f[batch.ids])
    np.testing.assert_array_equal(again.ask(50).ids, opt.ask(50).ids)
