"""Robust UCB against its definition."""

import numpy as np
import pytest

import noregret as nr

ARMS = np.arange(6.0)[:, None]


def robust(**options):
    return nr.RobustUCB(ARMS, nr.RBF(1.0), seed=0, **options)


def run(opt, t, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(t):
        batch = opt.ask()
        opt.tell(batch, 0.2 * batch.ids + rng.standard_t(2.5, 1))
    return opt


def test_every_arm_comes_first_once():
    assert sorted(run(robust(v=4.0), 6).history.ids) == [0, 1, 2, 3, 4, 5]
    assert sorted(robust(v=4.0).ask(6).ids) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_means_and_bounds_equal_the_definition(alpha):
    opt = run(robust(v=1.5, alpha=alpha), 200)
    mean, std = opt.predict()
    t, history = 200, opt.history
    bounds = []
    for arm in range(6):
        own = history.rewards[history.ids == arm]
        n = len(own)
        levels = (1.5 * np.arange(1, n + 1) / np.log(t**2)) ** (1 / (1 + alpha))
        truncated = np.where(np.abs(own) <= levels, own, 0.0)
        assert mean[arm] == pytest.approx(truncated.mean(), abs=1e-12)
        radius = 4 * 1.5 ** (1 / (1 + alpha)) * (np.log(t**2) / n) ** (alpha / (1 + alpha))
        assert opt.beta * std[arm] == pytest.approx(radius)
        bounds.append(truncated.mean() + radius)
    assert opt.ask().ids[0] == np.argmax(bounds)


def test_rewards_told_at_once_or_one_by_one_are_the_same():
    rng = np.random.default_rng(0)
    ids, y = rng.integers(0, 6, 300), rng.standard_t(1.5, 300)
    one, many = robust(v=2.0), robust(v=2.0)
    many.tell(ids, y)
    for id_, value in zip(ids, y, strict=True):
        one.tell([id_], [value])
        one.predict()
    assert np.array_equal(one.predict()[0], many.predict()[0])


def test_intervals_hold():
    """Each fails with probability at most t⁻² (and Jensen's for arms never seen)."""
    for seed in range(20):
        opt = run(robust(v=1.0 + 5.0), 60, seed)
        mean, std = opt.predict()
        assert np.all(np.abs(mean - 0.2 * np.arange(6)) <= opt.beta * std)
    fresh = robust(v=4.0)
    assert fresh.beta * fresh.predict()[1][0] >= 2.0


def test_pending_points_count_in_the_deviation():
    opt = run(robust(v=4.0), 12)
    before = opt.predict()
    batch = opt.ask(5)
    after = opt.predict()
    assert np.array_equal(before[0], after[0])
    assert np.all(after[1][batch.ids] < before[1][batch.ids])
    gap = opt.recommend().gap
    opt.cancel(batch)
    assert opt.recommend().gap == gap


def test_another_list_keeps_its_own_arms_apart():
    opt = run(robust(v=4.0), 12)
    opt.replace_candidates(ARMS[:3] + 10.0)
    assert np.array_equal(opt.predict()[0], np.zeros(3))
    assert sorted(opt.ask(3).ids) == [0, 1, 2]


@pytest.mark.parametrize("estimator", ["truncated", "median-of-means", "catoni"])
def test_every_estimator_finds_the_best_arm(estimator):
    """With practical widths the last arm is played most."""
    opt, rng = robust(v=6.0, estimator=estimator, width="practical"), np.random.default_rng(0)
    for _ in range(40):
        batch = opt.ask(40)
        opt.tell(batch, 0.2 * batch.ids + rng.standard_t(2.5, 40))
    played = np.bincount(opt.history.ids, minlength=6)
    assert played.argmax() == 5
    assert opt.recommend().id == 5


@pytest.mark.parametrize("estimator", ["median-of-means", "catoni"])
def test_radii_of_the_other_estimators(estimator):
    opt = run(robust(v=6.0, estimator=estimator), 100)
    _, std = opt.predict()
    counts, log = np.bincount(opt.history.ids, minlength=6), np.log(100.0**2)
    if estimator == "catoni":
        expected = 2 * np.sqrt(6.0 * log / counts)
    else:
        expected = np.sqrt(12 * 6.0) * np.sqrt(16 * (1 / 8 + log) / counts)
    np.testing.assert_allclose(opt.beta * std, expected)
    assert opt.v_in_use == 6.0


def test_estimators_that_are_refused():
    with pytest.raises(ValueError, match="estimator must be one of 'truncated'"):
        robust(estimator="mean")
    with pytest.raises(ValueError, match="alpha must be 1 for estimator 'catoni'"):
        robust(estimator="catoni", alpha=0.5)


def test_for_the_best_few_arms_at_the_border_are_evaluated():
    """LUCB: the weakest of the best three and the strongest of the others take turns."""
    opt = nr.RobustUCB(np.eye(6), nr.RBF(1.0), v=100.0, width=1.0, seed=0, aim=3)
    values = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    opt.tell(np.arange(6), values)
    assert sorted(opt.ask(2).ids.tolist()) == [2, 3]
    single = nr.RobustUCB(np.eye(6), nr.RBF(1.0), v=100.0, width=1.0, seed=0)
    single.tell(np.arange(6), values)
    assert single.ask(1).ids.tolist() == [0]
