"""Ridge regression by low-rank steps, against solving the whole system each time."""

import numpy as np
import pytest

from noregret.models.ridge import Ridge

LAMS = np.array([0.1, 1.0, 30.0])


class Dense:
    """The same regression from all arms: features (u × m), counts and sums (u)."""

    def __init__(self, arms):
        self.Z = np.empty((arms, 0))
        self.counts, self.sums = np.zeros(arms), np.zeros(arms)

    def check(self, ridge):
        G = self.Z.T @ (self.Z * self.counts[:, None])
        target, unit = self.Z.T @ self.sums, np.eye(len(G))
        np.testing.assert_allclose(ridge.gram(), G, atol=1e-9)
        np.testing.assert_allclose(ridge.target, target, atol=1e-9)
        other = np.array([0.03, 7.0])
        expected = [target @ np.linalg.solve(G + lam * unit, target) for lam in other]
        np.testing.assert_allclose(ridge.explained(other), expected, rtol=1e-8)
        for i, lam in enumerate(LAMS):
            inverse = np.linalg.inv(G + lam * unit)
            np.testing.assert_allclose(ridge.thetas[i], inverse @ target, atol=1e-8)
            np.testing.assert_allclose(ridge.solved(target)[i], inverse @ target, atol=1e-8)
            log_det = np.linalg.slogdet(unit + G / lam)[1]
            assert ridge.log_dets[i] == pytest.approx(log_det, abs=1e-8)
            coordinates = ridge.coordinates(self.Z)[i]
            np.testing.assert_allclose(
                coordinates @ coordinates.T, self.Z @ inverse @ self.Z.T, atol=1e-8
            )


@pytest.mark.parametrize("seed", range(4))
def test_rows_and_columns_give_the_regression_from_scratch(seed):
    rng, arms = np.random.default_rng(seed), 12
    dense, ridge = Dense(arms), Ridge(LAMS)
    dense.Z = rng.standard_normal((arms, 2))
    dense.counts[:5] = 1.0
    dense.sums[:5] = rng.standard_normal(5)
    ridge.compute(dense.Z, dense.counts, dense.sums)
    dense.check(ridge)
    for step in range(40):
        if step % 6 == 5:  # new features, of told arms and of others
            fresh = rng.standard_normal((arms, 1 + step % 2))
            told = dense.counts > 0
            ridge.add_columns(
                dense.Z[told], fresh[told], dense.counts[told], dense.sums[told], None
            )
            dense.Z = np.hstack([dense.Z, fresh])
        else:
            rows = rng.choice(arms, size=1 + step % 3, replace=False)
            often, change = rng.integers(1, 4, len(rows)), rng.standard_normal(len(rows))
            Z = dense.Z[rows]
            before = np.linalg.inv(ridge.gram() + LAMS[0] * np.eye(Z.shape[1]))
            mean = dense.Z @ ridge.thetas[0]
            ridge.change_sums(Z, change)
            falls, moves, _, _ = ridge.add_rows(Z, ridge.coordinates(Z), np.sqrt(often), change)
            dense.counts[rows] += often
            dense.sums[rows] += change
            after = np.linalg.inv(ridge.gram() + LAMS[0] * np.eye(Z.shape[1]))
            fallen = np.einsum("ij,jk,ik->i", dense.Z, before - after, dense.Z)
            np.testing.assert_allclose(np.square(dense.Z @ falls.T).sum(axis=1), fallen, atol=1e-8)
            moved = dense.Z @ ridge.thetas[0] - mean
            np.testing.assert_allclose(dense.Z @ falls.T @ moves, moved, atol=1e-8)
        dense.check(ridge)
    kept = ridge.copy()
    ridge.add_rows(dense.Z[:1], ridge.coordinates(dense.Z[:1]), np.ones(1), np.zeros(1))
    dense.check(kept)


def test_other_weights_stay_until_they_are_solved_for_again():
    rng = np.random.default_rng(0)
    dense, ridge = Dense(6), Ridge(LAMS)
    dense.Z, dense.counts, dense.sums = rng.standard_normal((6, 3)), np.ones(6), np.arange(6.0)
    ridge.compute(dense.Z, dense.counts, dense.sums)
    exact, other = ridge.thetas.copy(), np.ones((1, 3))
    assert ridge.is_settled()
    ridge.set_weights(other)
    np.testing.assert_array_equal(ridge.thetas, np.concatenate([other, exact[1:]]))
    assert not ridge.is_settled()
    assert ridge.solve()  # the roots had lost nothing
    dense.check(ridge)
