"""ATA-GP-UCB against its algorithm box, reward by reward."""

import numpy as np
import pytest
from heavy_runs import GRID, KERNEL, heavy_run, ridge
from scipy.linalg import sqrtm

import noregret as nr
from noregret.models.fourier import QuadratureFourier
from noregret.widths import heavy


def algorithm_2(phi, ids, rewards, lam, level, projection=None):
    """The mean as the paper writes it, with one row of Φ an evaluation."""
    Phi = phi[ids]
    V = Phi.T @ Phi + lam * np.eye(phi.shape[1])
    inverse_root = np.real(sqrtm(np.linalg.inv(V)))
    u = inverse_root @ Phi.T
    products = u * rewards
    r = np.where(np.abs(products) <= level, products, 0.0).sum(axis=1)
    return phi @ inverse_root @ (r if projection is None else projection @ r)


def test_with_quadrature_features_it_is_algorithm_2():
    opt = heavy_run("atagpucb", alpha=0.5, v=2.0, lam=0.5, width=2.0, features="qff", nodes=8)
    phi = QuadratureFourier(0.2, 1.0, 8).features(GRID)
    level = heavy.ata_level(0.5, 2.0, 60, np.log(17 * 1024))
    history = opt.history
    expected = algorithm_2(phi, history.ids, history.rewards, 0.5, level)
    mean, std = opt.predict()
    np.testing.assert_allclose(mean, expected, atol=1e-7)
    assert np.abs(mean - ridge(KERNEL, history.ids, history.rewards, 0.5)).max() > 0.01
    V = phi[history.ids].T @ phi[history.ids] + 0.5 * np.eye(16)
    variance = 0.5 * np.einsum("ij,ij->i", phi, np.linalg.solve(V, phi.T).T)  # choice (i)
    np.testing.assert_allclose(std**2, variance, atol=1e-9)


def test_on_a_box_it_is_algorithm_2_anywhere():
    """Quadrature features of the whole box, the paper's own setting.

    Of 72 directions 30 evaluations know at most 30, and r̂ is projected onto those.
    """
    box = nr.Box([(0, 1), (2, 4)])
    kernel = nr.RBF([0.5, 1.1])
    options = {"alpha": 0.5, "v": 2.0, "lam": 0.5, "width": 2.0, "nodes": 6, "seed": 0}
    opt = nr.ATAGPUCB(box, kernel, features="qff", **options)
    assert opt.feature_count == 72
    rng = np.random.default_rng(0)
    _, X = box.sample(30, rng)
    opt.tell(X, np.sin(5 * X[:, 0]) + rng.standard_t(1.5, 30))
    (_, tests), fourier = box.sample(20, rng), QuadratureFourier([0.5, 1.1], 1.0, 6)
    history = opt.history
    phi = fourier.features(np.concatenate([history.points, tests]))
    assert opt.feature_count == phi.shape[1] == 72
    level = heavy.ata_level(0.5, 2.0, 30, np.log(73 * 1024))
    known, _ = np.linalg.qr(fourier.features(opt.dictionary_points).T)
    expected = algorithm_2(phi, np.arange(30), history.rewards, 0.5, level, known @ known.T)[30:]
    mean, std = opt.predict(tests)
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    V = phi[:30].T @ phi[:30] + 0.5 * np.eye(72)
    variance = 0.5 * np.einsum("ij,ij->i", phi[30:], np.linalg.solve(V, phi[30:].T).T)
    np.testing.assert_allclose(std**2, variance, atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.9])
def test_with_a_dictionary_it_is_algorithm_2(epsilon):
    # A rough kernel keeps the dictionary's matrix well conditioned for sqrtm.
    rng = np.random.default_rng(0)
    kernel = nr.Matern(0.3, nu=0.5)
    opt = nr.ATAGPUCB(GRID, kernel, alpha=1.0, v=1.0, width=2.0, epsilon=epsilon, seed=1)
    for _ in range(60):
        batch = opt.ask()
        opt.tell(batch, np.sin(5 * GRID[batch.ids, 0]) + rng.standard_t(1.5, 1))
    inducing = GRID[opt.dictionary]
    assert opt.feature_count == len(inducing)
    phi = kernel(GRID, inducing) @ np.real(np.linalg.inv(sqrtm(kernel(inducing, inducing))))
    level = heavy.ata_level(1.0, 1.0, 60, np.log((len(inducing) + 1) * 1024))
    history = opt.history
    mean, std = opt.predict()
    expected = algorithm_2(phi, history.ids, history.rewards, 1.0, level)
    np.testing.assert_allclose(mean, expected, atol=1e-7)
    V = phi[history.ids].T @ phi[history.ids] + np.eye(phi.shape[1])
    quadratic = np.einsum("ij,ij->i", phi, np.linalg.solve(V, phi.T).T)
    variance = 1.0 - np.square(phi).sum(axis=1) + quadratic  # choice (ii)
    np.testing.assert_allclose(std**2, variance, atol=1e-9)


def test_theory_and_paper_are_lemma_1_and_theorem_4():
    options = {"t": 30, "alpha": 0.5, "v": 3.0, "lam": 0.5, "norm": 2.0, "horizon": 100}
    by_name = {
        (features, width): heavy_run("atagpucb", features=features, width=width, **options)
        for features in ("qff", "nystrom")
        for width in ("theory", "paper")
    }
    for features in ("qff", "nystrom"):
        assert by_name[features, "theory"].beta == by_name[features, "paper"].beta
    shared = (0.5, 3.0, 2.0, 0.5)
    qff, nystrom = by_name["qff", "theory"], by_name["nystrom", "theory"]
    m = qff.feature_count
    expected = heavy.ata(*shared, m, 30, np.log(2 * m * 100 / 0.1))
    assert qff.beta == pytest.approx(expected / np.sqrt(0.5))
    m = nystrom.feature_count
    expected = heavy.ata(*shared, m, 30, np.log(4 * m * 100 / 0.1), bias=1 + 0.9**-0.5)
    assert nystrom.beta == pytest.approx(expected / np.sqrt(0.5))


def test_batches_told_in_parts_end_where_they_would_in_one():
    one = nr.ATAGPUCB(GRID, KERNEL, v=4.0, width=2.0, seed=0, ratio=3.0)
    two = nr.ATAGPUCB(GRID, KERNEL, v=4.0, width=2.0, seed=0, ratio=3.0)
    rng = np.random.default_rng(0)
    for _ in range(6):
        batch, other = one.ask(), two.ask()
        assert np.array_equal(batch.ids, other.ids)
        y = rng.standard_t(2, len(batch))
        one.tell(batch, y)
        two.tell(other[:1], y[:1])
        two.tell(other[1:], y[1:])
    np.testing.assert_allclose(one.predict()[0], two.predict()[0], atol=1e-12)


def test_the_horizon_doubles_when_passed():
    opt = nr.ATAGPUCB(GRID, KERNEL, v=4.0, horizon=10, seed=0, features="qff", nodes=6)
    opt.tell(np.zeros(10, dtype=int), np.ones(10))
    before = opt.beta
    opt.tell([0], [1.0])
    # T is twice as large and δ half: log(2·12·10/0.1) becomes log(2·12·20/0.05), more by log 4.
    logs = np.log(2400.0), np.log(9600.0)
    assert (opt.beta - 1.0) / (before - 1.0) == pytest.approx(np.sqrt(logs[1] / logs[0]))


@pytest.mark.parametrize("features", ["exact", "nystrom", "qff"])
def test_adaptive_batches_grow_and_obey_the_ratio(features):
    rng = np.random.default_rng(0)
    opt = nr.ATAGPUCB(GRID, KERNEL, v=4.0, width=2.0, features=features, ratio=2.0, seed=0)
    sizes = []
    for _ in range(12):
        before = opt.predict()[1]
        batch = opt.ask()
        after = opt.predict()[1]
        assert np.all(before**2 <= 2.0 * (1 + 1.0) * after**2 + 1e-12)  # the last pick crosses 2
        opt.tell(batch, rng.standard_t(3, len(batch)))
        sizes.append(len(batch))
    assert sizes[-1] > 5 > sizes[0]
    assert len(opt.ask(3)) <= 3


def test_another_list_keeps_what_is_known():
    opt = heavy_run("atagpucb", v=4.0, width=2.0, features="qff", nodes=10)
    middle = opt.predict()[0][10:20]
    opt.replace_candidates(GRID[10:20])
    np.testing.assert_allclose(opt.predict()[0], middle, atol=1e-9)
    opt.tell(opt.ask(), [0.3])
    with pytest.raises(ValueError, match="box spanned by the old ones"):
        opt.replace_candidates(GRID + 5.0)
    opt.replace_candidates(GRID)  # the box is that of the first list


def test_a_shorter_list_keeps_its_features_in_a_file(tmp_path):
    """By default the nodes are those that the first list needs, and so is the box."""
    opt = heavy_run("atagpucb", t=20, v=4.0, width=2.0, features="qff")
    opt.replace_candidates(GRID[10:14])
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.assumed.kernel.nodes == opt.assumed.kernel.nodes
    np.testing.assert_array_equal(again.predict(), opt.predict())
    again.replace_candidates(GRID)
    with pytest.raises(ValueError, match="box spanned by the old ones"):
        again.replace_candidates(GRID + 0.1)


def test_quadrature_nodes_stop_at_double_precision():
    """T⁻⁶ of a long horizon is far below what the kernel's values can show."""
    X = np.linspace(0, 1, 30)[:, None]
    short, long, longer = (
        nr.ATAGPUCB(X, nr.RBF(0.2), v=4.0, features="qff", horizon=horizon).assumed.kernel
        for horizon in (100, 1000, 10**6)
    )
    assert short.nodes < long.nodes == longer.nodes
    np.testing.assert_allclose(long(X, X), nr.RBF(0.2)(X, X), atol=1e-14)
