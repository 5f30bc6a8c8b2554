"""Rewards far from all others are drawn in before the model sees them."""

import numpy as np
import pytest

import noregret as nr
from noregret.models.assumptions import Assumptions
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.rewards.moments import robust_deviation
from noregret.rewards.winsorised import Winsorised

MODEL = SparseGP(nr.RBF(), (1.0,), np.empty((0, 1)), 1.0)
ASSUMED = Assumptions(nr.RBF(1.0), 0.1, 1.0, (0.01,), 1.0, shift=2.0, unit=4.0)


def observed(rewards, rows):
    seen = Observations(np.empty((0, 1)))
    points = np.arange(max(rows) + 1.0)[:, None]
    seen.rows(np.full(len(points), -1), points)
    seen.tell(np.asarray(rows), np.asarray(rewards))
    return seen


def test_rewards_near_the_median_count_as_they_are():
    seen = observed([1.0, 2.0, 3.0, 2.5], [0, 0, 1, 2])
    sums = Winsorised().sums(MODEL, seen, ASSUMED)
    np.testing.assert_allclose(sums, (np.array([3.0, 3.0, 2.5]) - 2.0 * np.array([2, 1, 1])) / 4.0)


def test_outliers_are_drawn_in_on_both_sides():
    """The median is 0 and half of the rewards that differ from it are within 1."""
    rewards = [-1.0, 0.0, 1.0, 0.0, 1.0, -1.0, 1e4, -1e9]
    sums = Winsorised().sums(MODEL, observed(rewards, range(8)), ASSUMED)
    found = 4.0 * sums + 2.0
    np.testing.assert_allclose(found[:6], rewards[:6])
    np.testing.assert_allclose(found[6:], [3 * 1.4826, -3 * 1.4826])


def test_outliers_do_not_ruin_a_quadratic():
    """One reward in 37 is larger than the best value by 10⁴."""
    rng = np.random.default_rng(0)
    box = nr.Box([(0, 1)] * 2)
    count = iter(range(1000))

    def f(x):
        wrong = 1e4 if next(count) % 37 == 20 else 0.0
        return -np.square(x - 0.3).sum() + 0.01 * rng.standard_normal() + wrong

    best = nr.maximize(f, box, 80, seed=0, progress=False).best
    assert np.square(best.point - 0.3).sum() < 0.01
    assert best.mean == pytest.approx(0.0, abs=0.2)


def test_a_lone_low_reward_is_drawn_in_to_what_the_others_predict():
    """Against a second computation: exact Gaussian processes that leave out one reward each."""
    rng = np.random.default_rng(0)
    points = np.linspace(0.0, 6.0, 30)[:, None]
    values = np.sin(points[:, 0]) + 0.1 * rng.standard_normal(30)
    values[[10, 20]] = -40.0  # outliers
    seen = Observations(np.empty((0, 1)))
    seen.rows(np.full(30, -1), points)
    seen.tell(np.arange(30), values)
    assumed = Assumptions(nr.RBF(1.0), 0.1, 1.0, (0.01,), 1.0)
    model = SparseGP(assumed.kernel, assumed.lams, np.empty((0, 1)), 1.0)
    estimate = Winsorised()
    sums = estimate.sums(model, seen, assumed)
    model.advance(points, seen.told, sums, np.arange(30))
    model.set_weights(estimate.weights(model, seen, assumed))
    gram = assumed.kernel(points, points)
    for _ in range(50):
        for row in (10, 20):
            others = np.delete(np.arange(30), row)
            A = gram[np.ix_(others, others)] + 0.01 * np.eye(29)
            weights = np.linalg.solve(A, gram[others, row])
            spread = np.sqrt(1.0 - weights @ gram[others, row] + 0.01)
            sums[row] = max(sums[row], weights @ sums[others] - 3.0 * spread)
    mean = gram @ np.linalg.solve(gram + 0.01 * np.eye(30), sums)
    np.testing.assert_allclose(model.mean(np.arange(30)), mean, atol=2e-3)
    assert np.abs(mean - np.sin(points[:, 0])).max() < 0.3


def test_a_second_low_reward_is_believed():
    rng = np.random.default_rng(0)
    points = np.linspace(0.0, 6.0, 30)[:, None]
    seen = Observations(np.empty((0, 1)))
    seen.rows(np.full(30, -1), points)
    seen.tell(np.arange(30), np.sin(points[:, 0]) + 0.1 * rng.standard_normal(30))
    seen.tell(np.array([10]), np.array([-40.0]))
    assumed = Assumptions(nr.RBF(1.0), 0.1, 1.0, (0.01,), 1.0)
    model = SparseGP(assumed.kernel, assumed.lams, np.empty((0, 1)), 1.0)
    model.advance(points, seen.told, Winsorised().sums(model, seen, assumed), np.arange(30))
    assert Winsorised().weights(model, seen, assumed) is None


def test_a_low_value_of_a_steep_function_is_no_outlier():
    """Five robust deviations below the median: drawn in to three, and left there."""
    rng = np.random.default_rng(0)
    points = np.linspace(0.0, 6.0, 30)[:, None]
    values = rng.standard_normal(30)
    values[10] = np.median(values) - 5.0 * robust_deviation(values)
    seen = Observations(np.empty((0, 1)))
    seen.rows(np.full(30, -1), points)
    seen.tell(np.arange(30), values)
    assumed = Assumptions(nr.RBF(1.0), 0.1, 1.0, (0.01,), 1.0)
    model = SparseGP(assumed.kernel, assumed.lams, np.empty((0, 1)), 1.0)
    model.advance(points, seen.told, Winsorised().sums(model, seen, assumed), np.arange(30))
    assert Winsorised().weights(model, seen, assumed) is None


def drawn_in_model(points, values, kernel, lam, dictionary):
    """The model of these rewards after lone low ones are drawn in."""
    count = len(points)
    seen = Observations(points[:0])
    seen.rows(np.full(count, -1), points)
    seen.tell(np.arange(count), values)
    assumed = Assumptions(kernel, np.sqrt(lam), 1.0, (lam,), 1.0)
    model = SparseGP(kernel, assumed.lams, points[:0], 1.0)
    estimate = Winsorised()
    model.advance(points, seen.told, estimate.sums(model, seen, assumed), dictionary)
    weights = estimate.weights(model, seen, assumed)
    assert weights is not None
    model.set_weights(weights)
    return model


@pytest.mark.parametrize("lam", [0.01, 0.1])
def test_few_inducing_points_draw_in_as_all_of_them_do(lam):
    """Outliers outside the dictionary's span have a large variance, and little influence."""
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.uniform(0.45, 0.55, (90, 3)), rng.uniform(size=(30, 3))])
    values = -200.0 * np.square(points - 0.5).sum(axis=1) + 0.1 * rng.standard_normal(120)
    few, every = (
        drawn_in_model(points, values, nr.RBF(0.5), lam, rows)
        for rows in (rng.permutation(120)[:12], np.arange(120))
    )
    rows = np.arange(120)
    np.testing.assert_allclose(few.mean(rows), every.mean(rows), atol=0.6)


def test_outliers_that_predict_each_other_do_not_swing():
    """Drawn in all at once, each of them would swing further every time."""
    rng = np.random.default_rng(11)
    points = rng.uniform(size=(60, 2))
    points[:14] = 0.8 + 0.3 * rng.standard_normal((14, 2))
    values = np.sin(3.0 * points[:, 0]) + 0.01 * rng.standard_normal(60)
    values[:14] = -1e3
    model = drawn_in_model(points, values, nr.RBF(0.7), 1e-4, np.arange(60))
    assert np.abs(model.mean(np.arange(60))).max() < 2.0
