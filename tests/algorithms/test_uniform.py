"""Uniform choice: every candidate is as likely, and the bounds are proved."""

import numpy as np
import pytest

import noregret as nr


def test_every_candidate_is_as_likely():
    opt = nr.Uniform(np.arange(20.0), nr.RBF(), seed=0)
    counts = np.bincount(opt.ask(20_000).ids, minlength=20)
    # χ² with 19 degrees of freedom is below 50.8 with probability 1 − 10⁻⁴.
    assert np.sum((counts - 1000) ** 2 / 1000) < 50.8


def test_a_box_is_covered_evenly():
    points = nr.Uniform(nr.Box([(-1, 1), (0, 10)]), nr.RBF(), seed=0).ask(20_000).points
    np.testing.assert_allclose(points.mean(axis=0), [0.0, 5.0], atol=0.1)
    np.testing.assert_allclose(points.std(axis=0), np.array([2.0, 10.0]) / np.sqrt(12), rtol=0.02)


@pytest.mark.parametrize("algorithm", [nr.Uniform, nr.EpsilonGreedy, nr.RegularizedEvolution])
def test_the_candidates_alive_are_counted_by_certify(algorithm):
    X = np.linspace(0, 1, 60)[:, None]
    opt = algorithm(X, nr.RBF(0.2), noise=0.1, norm=2.0, seed=0)
    batch = opt.ask(120)
    opt.tell(batch, np.exp(-np.square((batch.points[:, 0] - 0.3) / 0.2) / 2))
    assert opt.proved
    assert opt.alive is None  # as its docstring says
    assert 0 < opt.certify().alive < 60


def test_bounds_cover_the_function():
    """A member of the kernel's RKHS lies within mean ± β·std everywhere, at every look."""
    X = np.linspace(0, 1, 60)[:, None]
    kernel = nr.RBF(0.2)
    weights = np.array([1.0, -0.5])
    centres = np.array([[0.3], [0.8]])
    f = kernel(X, centres) @ weights
    norm = float(np.sqrt(weights @ kernel(centres, centres) @ weights))
    opt = nr.Uniform(X, kernel, noise=0.1, norm=norm, delta=0.01, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(15):
        batch = opt.ask(4)
        assert batch.uniform
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(4))
        mean, std = opt.predict(pending=False)
        assert np.all(np.abs(f - mean) <= opt.beta * std + 1e-9)
    best = opt.recommend()
    assert opt.proved
    assert f.max() - f[best.id] <= best.gap
