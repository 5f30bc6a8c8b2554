"""Rewards that are exactly equal do not make a fit believe that there is no noise."""

import numpy as np
import pytest

import noregret as nr
from noregret.learning import learner
from noregret.learning.fit import fit_kernel
from noregret.learning.ties import always_agree, has_atoms, informative
from noregret.observations import Observations


def test_equal_rewards_of_a_common_value_count_once():
    rows = np.array([0, 0, 1, 1, 2, 3, 3, 4, 4])
    y = np.array([0.0, 0.0, 0.0, 1.5, 0.0, 2.0, 2.0, 3.0, 4.0])
    # Arm 0 gave 0 twice, as arms 1 and 2 did once. Arm 3 gave 2 twice, and no other arm did.
    assert informative(rows, y).tolist() == [0, 2, 3, 4, 5, 6, 7, 8]
    assert has_atoms(rows, y)


@pytest.mark.parametrize("y", [np.arange(6.0), np.array([1.0, 1.0, 2.0, 3.0, 4.0, 5.0])])
def test_rewards_without_common_values_are_left_alone(y):
    rows = np.array([0, 0, 1, 2, 3, 4])
    assert informative(rows, y).tolist() == list(range(6))
    assert not has_atoms(rows, y)


def test_a_few_common_values_are_an_accident():
    rows, y = np.arange(40), np.arange(40.0)
    y[7] = y[3]
    assert not has_atoms(rows, y)
    y[8:11] = y[3]
    assert has_atoms(rows, y)


@pytest.mark.parametrize("seed", range(4))
def test_latencies_of_zero_leave_noise(seed):
    """Three in ten latencies are zero whatever the choice, and three choices gave zero twice."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(40, 2))
    y = -(1.0 + 8.0 * np.square(X - 0.5).sum(axis=1)) * rng.lognormal(0.0, 0.3, 40)
    zeros = rng.permutation(40)[:12]
    y[zeros] = 0.0
    opt = nr.BBKB(X, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    opt.tell(np.arange(40), y)
    opt.tell(zeros[:3], np.zeros(3))
    opt.ask()
    assert opt.assumed.noise > 0.5


def test_stand_ins_of_failures_are_no_equal_rewards(monkeypatch):
    """What stands in for failures is one value for many choices, and says nothing about noise."""
    seen = []
    monkeypatch.setattr(learner, "has_atoms", lambda *told: seen.append(has_atoms(*told)))
    X = np.random.default_rng(0).uniform(size=(60, 2))
    opt = nr.GPUCB(X, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    for _ in range(40):
        batch = opt.ask(1)
        if batch.points[0, 0] < 0.6:  # beyond it everything fails
            opt.tell(batch, batch.points[:, 0] + np.sin(4.0 * batch.points[:, 1]))
        else:
            opt.fail(batch)
    assert len(opt.situation().observations.stand_ins) > 2
    assert seen
    assert not any(seen)


def test_nothing_has_no_atoms():
    assert not has_atoms(np.empty(0, dtype=np.int64), np.empty(0))


def test_a_climb_from_little_noise_finds_much():
    """Short lengthscales explain noise too, so that a climb from them may stay there."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(40, 2))
        y = np.sin(4.0 * X[:, 0]) + 1.5 * rng.standard_normal(40)
        found = fit_kernel(nr.Matern([0.02, 0.02]), X, y - y.mean(), restarts=1)
        best = fit_kernel(nr.Matern([0.5, 0.5]), X, y - y.mean(), restarts=8)
        assert found.log_posterior == pytest.approx(best.log_posterior, abs=0.1)


def told(ids, y):
    """Observations of rewards y of candidates (n each), told one by one."""
    seen = Observations(np.empty((0, 1)))
    for id_, reward in zip(ids, y, strict=True):
        rows = seen.rows(np.array([id_]), np.array([[float(id_)]]))
        seen.tell(rows, np.array([reward]))
    return seen


def test_four_equal_repeats_of_rare_values_show_that_there_is_no_noise():
    ids, y = [0, 1, 2, 0, 1, 2, 2, 2], [0.1, -3.0, 7e9, 0.1, -3.0, 7e9, 7e9, 7e9]
    assert not always_agree(told(ids[:6], y[:6]))
    assert always_agree(told(ids[:7], y[:7]))
    assert always_agree(told(ids, y))
    assert not always_agree(told([*ids, 0], [*y, 0.1 + 1e-12]))  # one reward that differs
    others = np.arange(3, 43)
    # One of forty others has a value of theirs: that is no reason to doubt again.
    assert always_agree(told([*ids, *others], [*y, 7e9, *others[1:]]))


def test_round_off_is_no_noise():
    seen = Observations(np.empty((0, 1)))
    rows = seen.rows(np.arange(3), np.arange(3.0)[:, None])
    for _ in range(40):
        seen.tell(np.tile(rows, 3), np.tile([0.1, 0.7, 1e-9], 3))
    assert seen.scatter > 0.0
    assert always_agree(seen)


def test_equal_repeats_of_a_common_value_show_nothing():
    """Clicks: a choice that is always clicked is one of many."""
    ids, y = [*range(6), 0, 0, 0, 0], [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert not always_agree(told(ids, y))


def test_equal_stand_ins_of_failures_show_nothing():
    seen = told([0, 1, 2], [1.0, 2.0, 3.0])
    seen.ask(np.zeros(5, dtype=np.int64))
    for _ in range(5):
        seen.fail(0, 1.0)
    assert not always_agree(seen)
