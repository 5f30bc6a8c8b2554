"""Rewards that contradict the assumptions, and rewards that do not."""

import warnings

import numpy as np
import pytest

import noregret as nr
from noregret.learning import contradictions

KERNEL = nr.RBF(0.3)
X = np.random.default_rng(0).uniform(size=(40, 2))


def test_rewards_beyond_the_norm_refute_it_where_only_a_moment_is_known():
    """A constant 5 cannot have the norm 4: the kernel is 1 everywhere, so |f| is at most 4."""
    opt = nr.ClippedGPUCB(X, KERNEL, noise=0.1, norm=4.0, seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        while opt.t < 30:
            batch = opt.ask(30 - opt.t)
            opt.tell(batch, np.full(len(batch), 5.0))
        opt.ask()
    assert [one["event"] for one in opt.events] == ["refuted"]
    assert opt.events[0]["smallest_norm"] > 4.0
    assert "contradict norm=4" in str(caught[0].message)
    assert not opt.proved
    assert opt.recommend().gap == np.inf


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_the_last_batch_start_are_those_it_had(seed):
    """The first widths of clipped rewards say nothing, and the first mean is far off.

    Rewards of a true assumption must not be refuted by that mean with the widths of later rewards.
    """
    rng = np.random.default_rng(seed)
    opt = nr.ClippedGPUCB([[0.5]], nr.RBF(), noise=1e-3, norm=2.0, delta=0.01, seed=seed)
    while opt.t < 12:
        batch = opt.ask()
        opt.tell(batch, 2.0 + 1e-3 * rng.choice([-1.0, 1.0], len(batch)))
    assert opt.proved
    assert opt.events == []


def test_a_norm_that_is_right_is_not_refuted():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        centres, weights = rng.uniform(size=(8, 2)), rng.standard_normal(8)
        weights *= 2.0 / np.sqrt(weights @ KERNEL(centres, centres) @ weights)
        f = KERNEL(X, centres) @ weights
        opt = nr.ClippedGPUCB(X, KERNEL, noise=0.3, norm=2.0, seed=seed)
        while opt.t < 60:
            batch = opt.ask(60 - opt.t)
            opt.tell(batch, f[batch.ids] + rng.choice([-0.3, 0.3], len(batch)))
        assert opt.proved


@pytest.mark.parametrize("large", [0, 512])
@pytest.mark.parametrize("reward", [2.0, 80.0])
def test_a_mean_that_moves_too_far_refutes_whatever_is_computed_first(reward, large, monkeypatch):
    monkeypatch.setattr(contradictions, "_LARGE", large)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, norm=3.0, width="paper", seed=0)
    opt.tell(np.zeros(100, dtype=int), np.zeros(100))
    opt.ask()
    opt.tell([0], [reward])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the rewards contradict", RuntimeWarning)
        opt.ask()
    assert opt.proved == (reward == 2.0)
