"""The Huber fit against direct computations of its objective."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, given
from scipy.optimize import minimize

import noregret as nr
from noregret.models.sparse import SparseGP
from noregret.rewards.huber import clipped_sums, cuts_at, fit, repeated
from noregret.rewards.sorted_sums import SortedSums

GRID = np.linspace(0.0, 1.0, 30)[:, None]
KERNEL = nr.Matern(0.3, nu=1.5)


def fitted(rows, rewards, lam=0.5):
    """A model of arms 0 … u−1 with these evaluations, and their rewards by arm."""
    u = int(rows.max()) + 1
    model = SparseGP(KERNEL, (lam,), GRID[:0], 1.0)
    model.rebuild(GRID[:u], np.bincount(rows, minlength=u), np.zeros(u), np.arange(u))
    by_arm = SortedSums()
    by_arm.grow(u)
    by_arm.add(rows, rewards, rewards)
    return model, by_arm


def test_clipped_sums_equal_the_definition():
    rng = np.random.default_rng(0)
    rows = np.r_[np.arange(8), rng.integers(0, 8, 500)]
    rewards = np.round(rng.standard_t(1.5, len(rows)), 1)
    _, by_arm = fitted(rows, rewards)
    centres, cuts = rng.standard_normal(8), np.r_[rng.random(7), np.inf]
    expected = [np.clip(rewards[rows == a] - centres[a], -cuts[a], cuts[a]).sum() for a in range(8)]
    np.testing.assert_allclose(
        clipped_sums(by_arm, centres, cuts), expected, rtol=1e-10, atol=1e-10
    )


def test_the_fit_minimises_the_huber_objective():
    rng = np.random.default_rng(1)
    rows = np.r_[np.arange(8), rng.integers(0, 8, 60)]
    rewards = np.sin(rows) + rng.standard_t(1.2, len(rows))
    model, by_arm = fitted(rows, rewards)
    cuts = np.full(8, 0.8)
    features = model.features

    def objective(theta):
        residual = np.abs(rewards - (features @ theta)[rows])
        c = cuts[rows]
        loss = np.where(residual <= c, residual**2 / 2, c * residual - c**2 / 2)
        return loss.sum() + model.lam * theta @ theta / 2

    best = minimize(objective, np.zeros(8), method="BFGS", options={"gtol": 1e-9})
    found = fit(model, by_arm, np.zeros(8), cuts, 1e-9)
    assert objective(found) <= best.fun + 1e-9
    np.testing.assert_allclose(features @ found, features @ best.x, atol=1e-4)


def test_one_reward_moves_no_mean_by_more_than_its_cut_allows():
    rng = np.random.default_rng(6)
    rows = np.r_[np.arange(8), rng.integers(0, 8, 20)]
    rewards, lam, cut = rng.standard_normal(28), 0.5, 0.8
    model, by_arm = fitted(rows, rewards, lam)
    before = model.features @ fit(model, by_arm, np.zeros(8), np.full(8, cut), 1e-9)
    for value in (50.0, -1e9):
        model, by_arm = fitted(rows, np.r_[value, rewards[1:]], lam)
        after = model.features @ fit(model, by_arm, np.zeros(8), np.full(8, cut), 1e-9)
        assert 0.01 < np.abs(after - before).max() <= 2 * cut / lam


@given(
    hnp.arrays(float, st.integers(1, 30), elements=st.sampled_from([0.0, -1.0, 0.5, 3.0, 1e6])),
    st.floats(0.01, 0.99),
)
def test_cuts_clip_the_share_asked_for(residuals, share):
    weights = 1.0 + np.arange(len(residuals)) % 3
    (cut,) = cuts_at(residuals, weights, np.array([share]))
    clipped = weights @ np.minimum(np.square(residuals), cut**2)
    np.testing.assert_allclose(clipped, share * cut**2 * weights.sum(), rtol=1e-9, atol=1e-12)
    # There is no cut but zero where too few residuals differ from zero; at a tie round-off decides.
    least, other = share * weights.sum(), weights[residuals != 0].sum()
    assume(not np.isclose(other, least, rtol=1e-12, atol=0.0))
    assert (cut > 0) == (other > least)


def test_cuts_of_a_gaussian():
    sample = np.random.default_rng(0).standard_normal(200_000)
    cuts = cuts_at(sample, np.ones(len(sample)), np.array([0.346, 0.01]))
    np.testing.assert_allclose(cuts, [1.5, 10.0], rtol=0.02)  # σ²/c² beyond the sample


def test_rewards_that_come_again_are_told_from_outliers():
    """Three equal rewards of one arm count, two do not, nor do equal rewards of different arms."""
    rows = np.array([0, 1, 0, 0, 1, 1, 2, 0, 0, 2])
    rewards = np.array([1.0, 1.0, 1.0, 7.0, 5.0, 5.0, 5.0, 1.0, 7.0, 1.0])
    assert sorted(repeated(rows, rewards)) == [0, 2, 7]
    assert not len(repeated(rows, np.random.default_rng(0).standard_cauchy(10)))
