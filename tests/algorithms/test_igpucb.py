"""IGP-UCB: the width of eq. 2, choices of an exact GP, any list, boxes."""

import math

import numpy as np
import pytest
from covers import KERNEL, bumps, play, textbook

import noregret as nr


def test_the_papers_width_is_eq_2_with_the_exact_information_gain():
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    function, norm = bumps(2, rng)
    opt = nr.IGPUCB(X, KERNEL, noise=0.5, norm=norm, delta=0.05, seed=1, width="paper")
    assert opt.assumed.lams == (1.0,)
    play(opt, function, 40, rng)
    K = KERNEL(opt.history.points, opt.history.points)
    gain = 0.5 * np.linalg.slogdet(np.eye(40) + K)[1]
    assert opt.information_gain() == pytest.approx(gain, rel=1e-9)
    width = norm + 0.5 * math.sqrt(2 * (gain + 1 + math.log(1 / 0.05)))
    assert opt.beta == pytest.approx(width, rel=1e-9)
    assert opt.replace(width="practical").beta == opt.replace(width="paper").beta


def test_it_chooses_the_largest_bound_of_an_exact_gp():
    rng = np.random.default_rng(1)
    X = rng.random((60, 2))
    function, norm = bumps(2, rng)
    opt = nr.IGPUCB(X, KERNEL, noise=0.3, norm=norm, seed=0, width="paper", bounds="current")
    play(opt, function, 1, rng)  # the first choice is uniform
    for _ in range(30):
        batch = opt.ask()
        mean, variance, gain = textbook(opt.history, slice(None), X, 1.0)
        beta = norm + 0.3 * math.sqrt(2 * (gain + 1 + math.log(10)))
        upper = mean + beta * np.sqrt(np.maximum(variance, 0))
        assert upper[batch.ids[0]] == pytest.approx(upper.max(), rel=1e-9)
        opt.tell(batch, function(batch.points) + 0.3 * rng.uniform(-1, 1, 1))


def test_with_the_theorys_width_it_is_gp_ucb():
    rng = np.random.default_rng(2)
    X = rng.random((60, 2))
    function, norm = bumps(2, rng)
    runs = [
        play(cls(X, KERNEL, noise=0.3, norm=norm, seed=0), function, 30, np.random.default_rng(0))
        for cls in (nr.IGPUCB, nr.GPUCB)
    ]
    assert np.array_equal(*runs)


def test_it_takes_any_list(tmp_path):
    words = ["a", "bb", "ccc", "dddd"]

    def similar(xs, ys):
        return np.array([[math.exp(-abs(len(x) - len(y))) for y in ys] for x in xs])

    opt = nr.IGPUCB(nr.Candidates(words), similar, noise=0.1, norm=20.0, seed=0)
    for _ in range(30):
        batch = opt.ask()
        opt.tell(batch, [float(len(word)) for word in batch.points])
    assert opt.recommend().point == "dddd"
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz", kernel=similar)
    assert again.ask().ids == opt.ask().ids
    opt.replace_candidates(nr.Candidates(["ee", "f" * 9]))
    assert opt.ask().points[0] in ("ee", "f" * 9)


def test_on_a_box_it_finds_the_peak():
    def f(points):
        return -4 * np.square(points - [0.3, 0.6]).sum(axis=1)

    opt = nr.IGPUCB(
        nr.Box([(0, 1), (0, 1)]), nr.Matern(0.5, nu=2.5), noise=0.02, width=1.0, lam=4e-4, seed=0
    )
    for _ in range(25):
        batch = opt.ask()
        opt.tell(batch, f(batch.points))
    assert np.allclose(opt.recommend().point, [0.3, 0.6], atol=0.05)


def test_a_small_lam_widens_eq_2():
    X = np.linspace(0, 1, 10)
    wide = nr.IGPUCB(X, KERNEL, noise=0.5, lam=0.25, width="paper").beta
    assert wide == pytest.approx(1 + 0.5 / 0.5 * math.sqrt(2 * (1 + math.log(10))))


def test_lam_is_the_papers_except_with_the_theorys_width_or_a_learnt_kernel():
    X = np.linspace(0, 1, 10)
    assert nr.IGPUCB(X, KERNEL, width=2.0).assumed.lams == (1.0,)
    assert nr.IGPUCB(X, KERNEL, noise=0.5).assumed.lams == (0.25, 0.75, 2.5, 7.5, 25.0)
    assert nr.IGPUCB(X, "auto", noise=0.5, width="paper").assumed.lams == (0.25,)
    assert nr.IGPUCB(X, "auto", lam=0.5).assumed.lams == (0.5,)
