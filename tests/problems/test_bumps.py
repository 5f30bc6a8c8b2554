"""The hard instances: height, width, norm and moments of the rewards."""

import numpy as np
import pytest

import noregret as nr
from noregret.problems.bumps import Bump, hard_instance

KERNELS = [nr.RBF(0.1), nr.Matern(0.2, nu=2.5), nr.Matern(0.3, nu=1.5, variance=2.0)]


def draw(kernel, seed=0, **options):
    return hard_instance(kernel, np.random.default_rng(seed), **options)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_bump_is_the_inverse_fourier_transform(dimension):
    """By a sum over a grid of frequencies in all dimensions."""
    axis = np.linspace(-1, 1, 161)
    grid = np.stack(np.meshgrid(*[axis] * dimension), axis=-1).reshape(-1, dimension)
    inside = grid[np.square(grid).sum(axis=1) < 1]
    H = np.exp(-1 / (1 - np.square(inside).sum(axis=1)))
    X = np.random.default_rng(0).uniform(-1, 1, (5, dimension))
    expected = np.cos(2 * np.pi * X @ inside.T / 0.7) @ H / H.sum()
    np.testing.assert_allclose(Bump(dimension, 0.5, 0.7)(X), expected, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_norm_is_that_of_interpolation_on_a_fine_grid(kernel):
    """yᵀK⁻¹y rises to ‖g‖² as points fill the line."""
    bump = Bump(1, 0.1, 0.3)
    norms = []
    for n in (15, 120):
        X = np.linspace(-1.5, 1.5, n)[:, None]
        K = kernel(X, X) + 1e-10 * np.eye(n)
        norms.append(np.sqrt(bump(X) @ np.linalg.solve(K, bump(X))))
    norm = bump.norm(kernel)
    assert norms[0] < norms[1] <= norm * 1.001
    assert norms[1] == pytest.approx(norm, rel=0.05)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_instances_have_their_norm_height_and_width(kernel, dimension):
    problem = draw(kernel, dimension=dimension, norm=1.5, gap=0.02)
    count = round(int(problem.name.split()[2]) ** (1 / dimension))
    assert problem.optimum == 0.04
    assert problem.norm == 1.5
    assert problem.function(problem.maximizers)[0] == pytest.approx(0.04, abs=1e-12)
    X = np.random.default_rng(1).uniform(size=(3000, dimension))
    values = problem.function(X)
    assert np.all(np.abs(values) <= 0.04 + 1e-12)
    # Within Δ of the maximum is at most the centre's own cell: no other function's is.
    near = np.abs(X - problem.maximizers).max(axis=1) <= 0.5 / count
    assert np.all(values[~near] < 0.02)


def test_the_norm_is_used_up():
    problem = draw(nr.RBF(0.1), norm=1.5, gap=0.02)
    X = np.linspace(-1.0, 2.0, 60)[:, None]
    values = problem.function(X)
    K = nr.RBF(0.1)(X, X) + 1e-10 * np.eye(60)
    assert 1.2 < np.sqrt(values @ np.linalg.solve(K, values)) <= 1.5001


@pytest.mark.parametrize(("alpha", "v"), [(1.0, 1.0), (0.5, 0.3)])
def test_rewards_have_mean_f_and_a_moment_of_at_most_v(alpha, v):
    problem = draw(nr.RBF(0.1), gap=0.05, alpha=alpha, v=v)
    size = (v / 0.1) ** (1 / alpha)
    assert problem.noise.parameter == pytest.approx(size)
    rng = np.random.default_rng(0)
    at = np.repeat(problem.maximizers, 400_000, axis=0)
    rewards = problem.noise.draw(np.full(len(at), problem.optimum), rng)
    assert set(np.unique(rewards)) <= {0.0, problem.noise.parameter}
    moments = np.abs(rewards) ** (1 + alpha)
    assert rewards.mean() == pytest.approx(0.1, abs=5 * rewards.std() / np.sqrt(len(rewards)))
    # E|y|^(1+α) = v |f|/2Δ, which is v at the maximum.
    assert moments.mean() == pytest.approx(v, abs=5 * moments.std() / np.sqrt(len(rewards)))


def test_shifts_are_drawn():
    centres = {float(draw(nr.RBF(0.05), seed).maximizers[0, 0]) for seed in range(20)}
    assert len(centres) > 2


def test_what_is_refused():
    for options, message in [
        ({"gap": 0.6}, "gap must be at most"),
        ({"dimension": 4}, "dimension must be at most 3"),
        ({"alpha": 0.0}, "alpha must lie"),
        ({"norm": 0.05}, "gap must be smaller"),
    ]:
        with pytest.raises(ValueError, match=message):
            draw(nr.RBF(0.1), **options)
    with pytest.raises(ValueError, match="one lengthscale"):
        draw(nr.Linear())
