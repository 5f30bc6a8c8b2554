"""Bounds of choices from their own rewards: Theorem 8 for one choice, and how often they hold."""

import math

import numpy as np
import pytest

import noregret as nr
from noregret.models.assumptions import Assumptions
from noregret.observations import Observations
from noregret.rewards.clipped_arms import ClippedArms
from noregret.widths import clipped
from noregret.widths.heavy import Horizon


def told(rewards):
    """Observations of rewards (arms × n), one arm after the other."""
    seen = Observations(np.empty((0, 1)))
    arms, n = rewards.shape
    ids = np.repeat(np.arange(arms), n)
    seen.tell(seen.rows(ids, ids[:, None].astype(float)), rewards.ravel())
    return seen


def assumptions(noise, norm):
    return Assumptions(nr.RBF(1.0), noise, norm, (1.0,), 1.0)


def student(rng, size):
    return rng.standard_t(3, size) / math.sqrt(3)


def rare(rng, size):
    """Variance 1, all of it in one value of probability 0.02, far above the others."""
    p = 0.02
    return np.where(rng.random(size) < p, math.sqrt((1 - p) / p), -math.sqrt(p / (1 - p)))


def exponential(rng, size):
    return rng.exponential(size=size) - 1.0


def gaussian(rng, size):
    return rng.standard_normal(size)


def signed_pareto(rng, size):
    """E|ε|^1.4 = 1, no variance."""
    return rng.choice([-1, 1], size) * (1 + rng.pareto(1.5, size)) / 15 ** (1 / 1.4)


def misses(noise, order, runs, counts):
    """The share of choices whose bounds fail for some count, with δ = 0.2 for each of them.

    Also the median length of the last bounds.
    """
    rng = np.random.default_rng(1)
    f = rng.uniform(-2, 2, runs)
    rewards = f[:, None] + noise(rng, (runs, counts[-1]))
    arms = ClippedArms(order, Horizon(counts[-1]), 0.2 * runs, runs)
    held = np.ones(runs, dtype=bool)
    for count in counts:
        lower, upper = arms.bounds(
            told(rewards[:, :count]), assumptions(1.0, 2.0), np.ones(runs), np.arange(runs)
        )
        held &= (lower <= f) & (f <= upper)
    return 1.0 - held.mean(), float(np.median(upper - lower))


def test_bounds_of_single_choices_hold():
    share, length = misses(student, 2.0, 60, (10, 60))
    assert share <= 0.2
    assert length < 1.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "order"),
    [(student, 2.0), (rare, 2.0), (exponential, 2.0), (gaussian, 2.0), (signed_pareto, 1.4)],
)
def test_bounds_of_500_choices_hold(noise, order):
    share, length = misses(noise, order, 500, (3, 10, 30, 100, 300))
    assert share <= 0.2
    assert length < (0.5 if order == 2.0 else 2.0)


def test_a_choice_is_bounded_by_the_theorem_for_itself():
    """The same as a list of one choice, of which the mean and the width are those of a GP."""
    rng = np.random.default_rng(0)
    y, noise, norm, delta = student(rng, 80) + 0.7, 1.0, 3.0, 0.05
    arms = ClippedArms(2.0, Horizon(None), delta, 1)
    lower, upper = arms.bounds(
        told(y[None]), assumptions(noise, norm), np.full(1, 4.0), np.zeros(1, dtype=int)
    )
    # k = 4 and ‖f‖ ≤ 3, so λ = (1/3)²: the leverage is k/(λ + nk).
    lam = 1.0 / 9.0
    leverage = 4.0 / (lam + 80 * 4.0)
    base = lam * norm**2 + math.log(1 + 80 * 4.0 / lam) + 2 * math.log(1 / delta)
    radius = 0.5 * float((upper - lower)[0])
    gauss = math.sqrt(base * leverage)
    assert gauss < radius < 1.15 * gauss
    mean = 0.5 * float((upper + lower)[0])
    assert mean == pytest.approx(y.mean(), abs=0.1)
    sample = clipped.Sample.of(y, np.zeros(80, dtype=int))
    sums = np.array([mean / leverage])
    case = clipped.Case(
        sample, sums, np.array([mean]), np.array([math.sqrt(leverage)]), np.array([6.0]), base
    )
    # β² of the joint theorem at the level and the θ that the bounds came from
    squares = [
        clipped.squared(case, clipped.Setting(1.0, noise, 2.0, clipped.level_above(x), part))
        for x in np.geomspace(3.5, 8.0, 40)
        for part in (0.9, 0.7, 0.5)
    ]
    assert any(radius**2 / leverage == pytest.approx(square, rel=1e-9) for square in squares)


def test_only_choices_of_the_first_list_have_bounds():
    rewards = np.ones((3, 50))
    lower, upper = ClippedArms(2.0, Horizon(None), 0.1, 2).bounds(
        told(rewards), assumptions(1.0, 2.0), np.ones(3), np.array([2, 0, 1])
    )
    assert np.isinf(lower).tolist() == np.isinf(upper).tolist() == [True, False, False]
