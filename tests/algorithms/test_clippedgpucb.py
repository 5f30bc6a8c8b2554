"""Clipped GP-UCB: its bounds hold for noise of which only a moment is known."""

import numpy as np
import pytest

import noregret as nr
from noregret.problems.kernel_sums import KernelSum

GRID = np.linspace(0.0, 1.0, 25)[:, None]
KERNEL = nr.RBF(0.2)


def student(rng):
    """Variance 1."""
    return rng.standard_t(3) / np.sqrt(3)


def two_points(rng):
    """Mean 0 and variance 1, all of it in one value of probability 0.02, far above the others."""
    p = 0.02
    return np.sqrt((1 - p) / p) if rng.random() < p else -np.sqrt(p / (1 - p))


def signed_pareto(rng):
    """E|ε|^1.4 = 1, no variance."""
    return rng.choice([-1, 1]) * (1 + rng.pareto(1.5)) / 15 ** (1 / 1.4)


def bounds_hold(noise, seed, rounds, alpha=1.0, delta=0.1):
    """Whether f lies within the bounds at all choices, at every twentieth batch."""
    rng = np.random.default_rng(seed)
    f = KernelSum(KERNEL, GRID, rng.standard_normal(len(GRID)))
    f = f.times(1.0 / f.norm)
    values = f(GRID)
    opt = nr.ClippedGPUCB(
        GRID, KERNEL, noise=1.0, norm=1.0, alpha=alpha, delta=delta, seed=seed, horizon=rounds
    )
    for t in range(rounds):
        batch = opt.ask()
        opt.tell(batch, values[batch.ids] + np.array([noise(rng) for _ in batch.ids]))
        if t % 20 == 19:
            mean, std = opt.predict()
            if np.any(np.abs(values - mean) > opt.beta * std * (1 + 1e-9)):
                return False
    best = opt.recommend()
    return (
        best.lower <= values[best.id] <= best.upper and values.max() - values[best.id] <= best.gap
    )


@pytest.mark.parametrize(
    ("noise", "alpha"), [(student, 1.0), (two_points, 1.0), (signed_pareto, 0.4)]
)
def test_bounds_hold(noise, alpha):
    assert all(bounds_hold(noise, seed, 40, alpha) for seed in range(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "alpha"), [(student, 1.0), (two_points, 1.0), (signed_pareto, 0.4)]
)
def test_bounds_hold_in_500_runs(noise, alpha):
    assert np.mean([bounds_hold(noise, seed, 40, alpha) for seed in range(500)]) >= 0.9


def test_it_is_proved_and_its_bounds_are_intersected():
    opt = nr.ClippedGPUCB(GRID, KERNEL, noise=0.05, norm=1.0, seed=0)
    f = np.sin(3 * GRID[:, 0]) / 2
    rng = np.random.default_rng(0)
    gaps = []
    while opt.t < 100:
        batch = opt.ask(20)
        opt.tell(batch, f[batch.ids] + 0.05 * np.array([student(rng) for _ in batch.ids]))
        gaps.append(opt.recommend().gap)
    assert opt.proved
    assert np.all(np.diff(gaps) <= 1e-9 + 0.5 * np.array(gaps[:-1]))
    assert gaps[-1] < 0.75 * gaps[0]
    assert f.max() - f[opt.recommend().id] <= gaps[-1]


def test_choices_that_say_nothing_about_each_other_are_bounded_one_by_one():
    """The norm is 30 times the noise: the width of all rewards together says nothing."""
    f, rng = np.linspace(0.0, 3.0, 8), np.random.default_rng(0)
    opt = nr.ClippedGPUCB(range(8), nr.Precomputed(900 * np.eye(8)), noise=1.0, norm=1.0, seed=0)
    opt.tell(np.arange(1600) % 8, np.tile(f, 200) + np.array([student(rng) for _ in range(1600)]))
    opt.ask()
    best = opt.recommend()
    assert best.id == 7
    assert best.lower <= 3.0 <= best.upper
    assert best.upper - best.lower < 1.0
    assert opt.alive <= 2


def test_one_outlier_moves_no_mean_far():
    """It counts as twice the logarithm of its size; the mean of all twelve would be 83 or 1e8."""
    means = []
    for value in (0.0, 1e3, 1e9):
        opt = nr.ClippedGPUCB(GRID, KERNEL, noise=1.0, norm=1.0, seed=0)
        opt.tell(np.arange(300) % 25, np.where(np.arange(300) == 7, value, 0.1))
        means.append(opt.predict()[0])
    assert 0 < np.abs(means[1] - means[0]).max() < 0.5
    assert np.abs(means[2] - means[0]).max() < 1.3


def test_history_in_one_piece_is_as_good_as_one_by_one():
    rng = np.random.default_rng(1)
    ids, y = np.arange(60) % 3, np.array([student(rng) for _ in range(60)])
    whole, single = (nr.ClippedGPUCB(GRID[:3], KERNEL, noise=1.0, seed=0) for _ in range(2))
    whole.tell(ids, y)
    for i in range(60):
        single.tell(ids[i : i + 1], y[i : i + 1])
        single.ask()
        single.cancel(single.history.ids[:0])
    assert whole.beta < 1.5 * single.beta


def test_what_cannot_be_proved_is_refused():
    for name in ("kernel", "noise", "norm"):
        with pytest.raises(ValueError, match=f"{name} must be given for ClippedGPUCB"):
            nr.ClippedGPUCB(GRID, **{"kernel": KERNEL, name: "auto"})
    with pytest.raises(ValueError, match="alpha must lie in"):
        nr.ClippedGPUCB(GRID, KERNEL, alpha=0.0)
    with pytest.raises(ValueError, match="noise must be above 0"):
        nr.ClippedGPUCB(GRID, KERNEL, noise=0.0)
