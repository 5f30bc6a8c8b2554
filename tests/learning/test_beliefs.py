"""What is believed: rewards that contradict the assumptions, norms that are doubled."""

import warnings

import numpy as np
import pytest

import noregret as nr

KERNEL = nr.RBF(0.2)


def known_norm(seed, arms=80):
    """A function of norm 2 on a line, Σ a_i k(x_i, ·)."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(size=(arms, 1)), axis=0)
    centres, weights = rng.uniform(size=(8, 1)), rng.standard_normal(8)
    weights *= 2.0 / np.sqrt(weights @ KERNEL(centres, centres) @ weights)
    return X, KERNEL(X, centres) @ weights, rng


def refuted(seed, noise=0.1, steps=150, cls=nr.GPUCB, true_noise=0.1, **options):
    """After how many evaluations the assumptions are refuted; ``None`` where they never are."""
    X, f, rng = known_norm(seed)
    opt = cls(X, KERNEL, noise=noise, seed=seed, **options)
    while opt.t < steps:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            batch = opt.ask(min(5, steps - opt.t))
        found = [event for event in opt.events if event["event"] == "refuted"]
        assert len(caught) == (1 if found else 0)
        if found:
            assert issubclass(caught[0].category, RuntimeWarning)
            assert "norm" in str(caught[0].message)
            assert opt.alive is None  # bounds prove nothing any more
            return opt.t
        opt.tell(batch, f[batch.ids] + true_noise * rng.standard_normal(len(batch)))
    return None


@pytest.mark.parametrize("cls", [nr.GPUCB, nr.BBKB])
def test_a_norm_that_is_far_too_small_is_found(cls):
    assert all(refuted(seed, norm=0.1, cls=cls) is not None for seed in range(10))


@pytest.mark.parametrize("cls", [nr.GPUCB, nr.BBKB])
def test_a_noise_that_is_half_the_true_one_is_found(cls):
    assert all(refuted(seed, noise=0.05, norm=2.0, cls=cls) is not None for seed in range(10))


@pytest.mark.parametrize("noise", [0.0, 1e-8])
def test_exact_rewards_of_the_right_norm_refute_nothing(noise):
    assert refuted(0, noise=noise, norm=2.0, true_noise=0.0) is None


@pytest.mark.slow
def test_right_assumptions_are_refuted_in_at_most_delta_of_500_runs():
    runs = [refuted(seed, norm=2.0, steps=60) for seed in range(500)]
    assert sum(run is not None for run in runs) <= 50


@pytest.mark.parametrize(
    ("cls", "options"),
    [(nr.GPUCB, {}), (nr.GPUCB, {"lam": 0.01}), (nr.BKB, {"qbar": 0.5}), (nr.BBKB, {})],
)
def test_right_assumptions_are_refuted_in_few_runs(cls, options):
    """At most δ = 0.1 of the runs; the bounds are loose enough for none of these."""
    runs = [refuted(seed, norm=2.0, cls=cls, steps=60, **options) for seed in range(4)]
    assert runs == [None] * 4


def test_the_event_names_a_norm_that_would_do():
    X, f, rng = known_norm(0)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, norm=0.1, seed=0)
    opt.tell(np.arange(80), f)
    with pytest.warns(RuntimeWarning, match=r"norm of at least"):
        opt.ask()
    (event,) = opt.events
    assert event["norm"] == 0.1
    assert 0.1 < event["smallest_norm"] <= 2.0
    opt.tell(np.arange(80), f)
    opt.ask()  # it is said once
    assert len(opt.events) == 1
    enough = opt.replace(norm=1.01 * max(event["smallest_norm"], 2.0))
    enough.ask()
    assert enough.events == []


@pytest.mark.parametrize("cls", [nr.GPUCB, nr.BBKB, nr.PiGPUCB])
def test_refuted_assumptions_leave_wide_intervals_and_no_gap(cls):
    """Proved bounds contradict each other then: a gap of 0 would end a run as if all were known."""
    X, f, _ = known_norm(0)
    opt = cls(X, KERNEL, noise=0.1, norm=0.1, seed=0)
    opt.tell(np.arange(80), f)
    with pytest.warns(RuntimeWarning, match="contradict"):
        opt.ask()
    best = opt.recommend()
    _, (std,) = opt.predict([best.id], pending=False)
    assert best.upper - best.lower >= 4 * std * (1 - 1e-9)
    assert best.lower < best.mean < best.upper
    assert best.gap == opt.top_gap(1) == np.inf


def test_a_number_as_width_refutes_nothing():
    assert refuted(0, norm=0.1, width=2.0) is None


@pytest.mark.parametrize("bounds", ["intersected", "current"])
def test_a_norm_that_is_learnt_is_doubled(bounds):
    """The first guess comes from a fit of small rewards; then the large ones arrive."""
    X, f, rng = known_norm(1)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, norm="auto", bounds=bounds, seed=0)
    while not any(event["event"] == "fit" for event in opt.events):
        batch = opt.ask()
        opt.tell(batch, 0.01 * rng.standard_normal(len(batch)))
    guess = opt.assumed.norm
    opt.tell(np.arange(80), 20.0 * f)
    assert opt.assumed.norm > guess  # a look knows what the next ask will do
    assert opt.events[-1]["event"] != "norm doubled"
    opt.ask()
    event = opt.events[-1]
    assert event["event"] == "norm doubled"
    assert np.log2(event["norm"] / guess) == pytest.approx(round(np.log2(event["norm"] / guess)))
    assert opt.assumed.norm == event["norm"]
    assert opt.norm == "auto"


def test_doubling_starts_the_bounds_again():
    """Bounds of a smaller norm are void: candidates that were out are in again."""
    X, f, rng = known_norm(1)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, norm="auto", bounds="intersected", seed=0)
    while opt.t < 40:
        batch = opt.ask()
        opt.tell(batch, 0.01 * rng.standard_normal(len(batch)))
    highest = opt.ask(1).info.upper[0]
    opt.tell(np.arange(80), 20.0 * f)
    assert opt.ask(1).info.upper[0] > 2.0 * highest


def test_a_doubled_norm_stays_when_the_noise_is_fitted_again():
    """With a kernel that is given, norms of one fit and the next mean the same."""
    X, f, rng = known_norm(1)
    opt = nr.GPUCB(X, KERNEL, noise="auto", norm="auto", seed=0)
    while not any(event["event"] == "fit" for event in opt.events):
        batch = opt.ask()
        opt.tell(batch, 0.01 * rng.standard_normal(len(batch)))
    opt.tell(np.arange(80), 20.0 * f)
    while [event["event"] for event in opt.events].count("fit") < 3:
        batch = opt.ask()
        opt.tell(batch, 20.0 * f[batch.ids])
    norms = [event["norm"] for event in opt.events]
    assert norms == sorted(norms)
