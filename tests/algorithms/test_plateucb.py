"""PlateUCB: whole plates of different candidates, from settings that nobody has to guess."""

import numpy as np
import pytest
from scipy.special import ndtr

import noregret as nr


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


def exact(kernel, noise, X, seen, f):
    """Mean and deviation of all candidates after some, by an exact GP written out."""
    K = kernel(X[seen], X[seen]) + noise**2 * np.eye(len(seen))
    solved = np.linalg.solve(K, kernel(X[seen], X))
    variance = kernel.diag(X) - np.einsum("ij,ji->i", kernel(X, X[seen]), solved)
    return f[seen] @ solved, np.sqrt(np.maximum(variance, 0.0))


def test_picks_are_those_of_a_full_argmax_pick_by_pick():
    """Plates of at most 16 are picked one by one: beside the exact GP written out."""
    X, f = library()
    kernel, noise = nr.Matern(0.5), 0.1
    opt = nr.PlateUCB(X, kernel, noise=noise, norm=1.0, seed=0)
    seen = list(range(25))
    opt.tell(seen, f[:25])
    picks = opt.ask(12).ids.tolist()

    mean, _ = exact(kernel, noise, X, seen, f)
    expected = []
    for _ in range(12):
        _, deviation = exact(kernel, noise, X, seen, f)
        upper = mean + 0.5 * deviation
        upper[seen] = -np.inf
        expected.append(int(np.argmax(upper)))
        seen.append(expected[-1])
    assert picks == expected


def test_for_the_best_few_picks_are_the_most_probable_ones():
    """The level that 20 are expected to exceed, and who exceeds it: beside the exact GP."""
    X, f = library()
    kernel, noise, k = nr.Matern(0.5), 0.1, 20
    opt = nr.PlateUCB(X, kernel, noise=noise, norm=1.0, seed=0, aim=k)
    seen = list(range(25))
    opt.tell(seen, f[:25])
    picks = opt.ask(12).ids.tolist()

    mean, deviation = exact(kernel, noise, X, seen, f)
    levels = np.linspace(-3.0, 3.0, 60_001)
    expected = np.array([ndtr((mean - level) / deviation).sum() for level in levels[::100]])
    near = levels[100 * int(np.argmax(expected < k)) - 100 :][:101]
    level = near[np.argmax([ndtr((mean - one) / deviation).sum() < k for one in near])]
    by_hand = []
    for _ in range(12):
        _, deviation = exact(kernel, noise, X, seen, f)
        score = (mean - level) / deviation
        score[seen] = -np.inf
        by_hand.append(int(np.argmax(score)))
        seen.append(by_hand[-1])
    assert picks == by_hand


def test_the_best_few_are_measured_again_while_less_is_known_of_them():
    X, f = library(60)
    opt = nr.PlateUCB(X, nr.RBF(0.01), noise=1.0, norm=1.0, seed=0, aim=5, repeats=3)
    opt.tell(np.arange(60), 10.0 + f)
    best = np.array([one.id for one in opt.top(5)])
    others = np.setdiff1d(np.arange(60), best)
    opt.tell(others, f[others])
    plate = opt.ask(10).ids
    assert sorted(plate[:5]) == sorted(best)
    assert np.isin(plate[5:], others).all()


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
    X, f = library(1_000)
    opt = nr.PlateUCB(X, seed=0)
    for _ in range(3):
        batch = opt.ask(100)
        opt.tell(batch, f[batch.ids])
    batch = opt.ask(100)
    opt.save(tmp_path / "run.npz")
    assert (tmp_path / "run.npz").stat().st_size < X.nbytes + 200_000  # 300² numbers: 0.7 MB
    again = nr.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.predict()[0], opt.predict()[0])
    for one in (opt, again):
        one.tell(batch.ids, f[batch.ids])
    np.testing.assert_array_equal(again.ask(50).ids, opt.ask(50).ids)
