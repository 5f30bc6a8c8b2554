"""Thompson sampling: the suites, the paper's examples, the maximiser's posterior."""

import numpy as np
import pytest
from thompson_runs import run

import noregret as nr


def bimodal(X):
    """f¹ and f² of the paper, eqs. 11 and 12."""
    d = X.shape[1]
    scale = (2 * np.pi) ** (-d / 2)
    low = np.exp(-0.5 * np.square(X - 2).sum(axis=1))
    return scale * (5 * low + 10 * np.exp(-0.5 * np.square(X - 5).sum(axis=1)))


def squared_errors(domain, sigma, rounds, seeds):
    """Of the mode after the first round and the last, kernel and noise given (seeds × 2)."""
    variance = 4.0 if domain.dimension == 1 else 0.6
    errors = []
    for seed in range(seeds):
        kernel = nr.RBF(1.0, variance=variance)  # in which f¹ and f² have norms below 3
        opt = nr.ThompsonSampling(domain, kernel, noise=sigma, norm=3.0, batch_size=30, seed=seed)
        modes = run(opt, bimodal, sigma, rounds, seed)
        errors.append(np.square(modes - 5.0).sum(axis=1))
    return np.array(errors)


def test_the_papers_example_in_one_dimension():
    """x_t converges to the global maximum, not to the local one at 2."""
    errors = squared_errors(nr.Box([(0, 8)]), 0.1, 4, seeds=5)
    assert np.sum(errors[:, -1] < 0.25) >= 4


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "sigma"), [(1, 0.1), (1, 1.0), (1, 5.0), (2, 0.1), (2, 1.0)])
def test_the_papers_examples(dimension, sigma):
    """Most seeds end at the global maximum, and the squared error falls or is small at once."""
    box = nr.Box([(0, 8)] * dimension)
    errors = squared_errors(box, sigma, 10 if sigma < 5 else 40, seeds=6)
    assert np.median(errors[:, -1]) <= max(np.median(errors[:, 0]), 0.01)
    assert np.sum(errors[:, -1] < 1.0) >= 4


@pytest.mark.slow
def test_the_papers_noisiest_example():
    """f² with σ = 5, three times its maximum, takes thousands of evaluations: here 6,000.

    On a grid of the box, where a draw's maximiser costs nothing; on the box itself the same seeds
    take a minute each.
    """
    errors = squared_errors(nr.Box([(0, 8)] * 2).grid(17), 5.0, 200, seeds=8)
    assert np.sum(errors[:, 0] < 1.0) <= 3
    assert np.sum(errors[:, -1] < 1.0) >= 6
    assert np.median(errors[:, -1]) < 0.1 * np.median(errors[:, 0])


def test_flatter_functions_take_longer():
    """f_β of Section 5.2, σ = 0.1: the squared error falls with t, and the slower the smaller β is.

    The mean squared error of draws from F_t, median over 4 seeds, after 30, 60, 120 and 300
    evaluations.
    """
    grid = nr.Box([(0, 10)]).grid(201)
    errors = []
    for beta in (10.0, 1.0, 0.3, 0.1):
        runs = []
        for seed in range(4):
            kernel = nr.RBF(2.0, variance=beta**2)
            opt = nr.ThompsonSampling(grid, kernel, noise=0.1, batch_size=10, seed=seed)
            rng, f = np.random.default_rng(seed), beta * np.exp(-np.square(grid.points - 5) / 8)
            found = []
            while opt.t < 300:
                batch = opt.ask()
                opt.tell(batch, f[batch.ids, 0] + 0.1 * rng.standard_normal(len(batch)))
                if opt.t in (30, 60, 120, 300):
                    draws = grid.points[opt.maximizer_samples(100)]
                    found.append(float(np.square(draws - 5.0).mean()))
            runs.append(found)
        errors.append(np.median(runs, axis=0))
    errors = np.array(errors)
    assert np.all(errors[1:] > 2.0 * errors[:-1])
    assert np.all(errors[:, -1] < 0.5 * errors[:, 0])


def test_objects_and_bad_options():
    kernel = lambda a, b: np.array([[np.exp(-abs(len(x) - len(y))) for y in b] for x in a])  # noqa: E731
    opt = nr.ThompsonSampling(["a", "bb", "cccc"], kernel, norm=9.0, n_init=1, seed=0)
    for _ in range(8):
        batch = opt.ask()
        opt.tell(batch, [float(len(x)) for x in batch.points])
    assert opt.recommend().point == "cccc"
    assert isinstance(opt.converged(0.9), bool)
    box = nr.Box([(0, 1)])
    for options in ({"xi": 1.5}, {"n_init": 0}, {"batch_size": 0}, {"features": "wavelets"}):
        (name,) = options
        with pytest.raises(ValueError, match=name):
            nr.ThompsonSampling(box, nr.RBF(), **options)
    with pytest.raises(ValueError, match="mercer"):
        nr.ThompsonSampling(np.eye(3), nr.RBF(), features="mercer")
    with pytest.raises(ValueError, match="rff"):
        nr.ThompsonSampling(box, nr.Linear(offset=1.0), features="rff")


def test_quadrature_says_where_it_cannot_be_used():
    with pytest.raises(ValueError, match=r"qff.*RBF"):
        nr.ThompsonSampling(nr.Box([(0, 1)]), nr.Matern(0.3), features="qff")
    with pytest.raises(ValueError, match=r"qff.*features"):
        nr.ThompsonSampling(nr.Box([(0, 1)] * 3), nr.RBF(0.05), features="qff")
    with pytest.raises(ValueError, match="qff"):
        nr.ThompsonSampling(["a", "b"], lambda a, b: np.ones((len(a), len(b))), features="qff")
    opt = nr.ThompsonSampling(np.eye(2), nr.RBF(1.0), features="qff", n_init=1, seed=0)
    opt.tell([0, 1], [0.0, 1.0])
    with pytest.raises(ValueError, match="qff"):
        opt.replace_candidates(1e4 * np.eye(2))
    assert opt.predict()[0][1] == pytest.approx(1.0, abs=0.1)
    assert opt.recommend().id == 1
