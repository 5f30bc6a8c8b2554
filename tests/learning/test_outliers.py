"""Heavy tails that are found although no choice is evaluated twice."""

import numpy as np
import pytest

import noregret as nr

X = np.random.default_rng(0).uniform(-1, 1, (1000, 2))


def run(f, noise, seed, rounds=70):
    """A run that evaluates no candidate twice."""
    rng = np.random.default_rng(seed)
    opt = nr.GPUCB(X, "auto", noise="auto", norm="auto", width=2.0, repeats=1, seed=seed)
    while opt.t < rounds:
        batch = opt.ask(8)
        opt.tell(batch, f[batch.ids] + noise(rng, len(batch)))
    opt.ask()
    return opt


def found(f, noise, seed):
    return [event for event in run(f, noise, seed).events if event["event"] == "heavy tails"]


def outliers(rng, n):
    """Gaussian, and one in twelve is far below."""
    far = 5.0 * (1.0 + rng.pareto(1.5, n))
    return 0.1 * rng.standard_normal(n) - (rng.random(n) < 1 / 12) * far


def gaussian(rng, n):
    return 0.3 * rng.standard_normal(n)


def nothing(rng, n):
    return np.zeros(n)


SMOOTH = np.sin(3 * X[:, 0]) + X[:, 1]
PEAK = 1 / (0.01 + np.square(X).sum(axis=1))
STEPS = np.floor(3 * X[:, 0]) + 2 * np.sign(X[:, 1])
VALLEY = -100 * np.square(2 * X[:, 1] - 4 * np.square(X[:, 0])) - np.square(1 - 2 * X[:, 0])


def test_outliers_are_found_without_repeats():
    """In two of three runs at least; from then on no outlier decides what is recommended."""
    opts = [run(SMOOTH, outliers, seed) for seed in range(3)]
    count = 0
    for opt in opts:
        for event in opt.events:
            if event["event"] == "heavy tails":
                count += 1
                assert event["residuals"] >= 60
                assert event["pvalue"] < 0.001
                assert SMOOTH[opt.recommend().id] > SMOOTH.max() - 0.5 * SMOOTH.std()
    assert count >= 2


@pytest.mark.parametrize(("far", "heavy"), [(-60.0, True), (60.0, False)])
def test_a_single_stall_is_an_outlier_and_a_single_find_is_none(far, heavy):
    """The 15th reward is far too low, or far too high."""
    told = 0

    def noise(rng, n):
        nonlocal told
        told += n
        off = 0.1 * rng.standard_normal(n)
        off[np.arange(told - n, told) == 15] += far
        return off

    opt = run(SMOOTH, noise, 0, rounds=48)
    events = [event for event in opt.events if event["event"] == "heavy tails"]
    assert bool(events) is heavy
    if heavy:
        assert 20 <= events[0]["residuals"] <= 48
        assert np.median(np.abs(opt.predict()[0] - SMOOTH)) < 0.5


FUNCTIONS = pytest.mark.parametrize(
    "f", [SMOOTH, PEAK, STEPS, VALLEY], ids=["smooth", "peak", "steps", "valley"]
)


@FUNCTIONS
def test_peaks_steps_and_gaussian_noise_are_no_heavy_tails(f):
    assert not any(found(f, noise, 0) for noise in (nothing, gaussian))


@pytest.mark.slow
@FUNCTIONS
def test_peaks_steps_and_gaussian_noise_are_no_heavy_tails_in_several_runs(f):
    assert not any(found(f, noise, seed) for noise in (nothing, gaussian) for seed in (1, 2))
