"""IGP-UCB and π-GP-UCB that learn kernel, noise and norm."""

import numpy as np
import pytest

import noregret as nr

AUTO = {"noise": "auto", "norm": "auto"}
BOX = nr.Box([(0, 1), (0, 100)])


def hill(points):
    """One hill, far from zero mean and unit scale."""
    return 500.0 + 40.0 * np.exp(-8 * np.square(points / [1, 100] - 0.53).sum(axis=1))


def play(opt, steps, seed=0):
    rng = np.random.default_rng(seed)
    while opt.t < steps:
        batch = opt.ask()
        opt.tell(batch, hill(batch.points) + rng.standard_normal(len(batch)))
    return opt


@pytest.mark.parametrize("name", ["igpucb", "pigpucb"])
@pytest.mark.parametrize(("on_box", "width"), [(False, 2.0), (True, "theory")])
def test_everything_learnt(name, on_box, width):
    opt = nr.make(name, BOX if on_box else BOX.grid(15), "auto", width=width, seed=1, **AUTO)
    play(opt, 60)
    fits = [event for event in opt.events if event["event"] == "fit"]
    # PiGPUCB learns from uniform draws when the data has doubled, IGPUCB from all evaluations
    often = [10, 20, 40] if name == "pigpucb" else [10, 13, 17, 22, 28, 35, 44, 55]
    assert [event["t"] for event in fits] == often
    best = opt.recommend()
    assert hill(best.point[None])[0] > 530
    assert best.lower <= best.mean <= best.upper
    mean, _ = opt.predict(best.point[None] if on_box else [best.id])
    assert mean[0] == pytest.approx(best.mean)
    assumed = opt.assumed
    assert assumed.noise * assumed.unit == pytest.approx(1.0, abs=1.0)
    assert assumed.lam == pytest.approx(assumed.noise**2)
    assert opt.alive is None  # nothing is proved


def test_predictions_are_those_of_an_exact_gp_on_standardised_rewards():
    opt = play(nr.PiGPUCB(BOX.grid(12), "auto", width=2.0, seed=0, horizon=100, **AUTO), 50)
    assumed, told = opt.assumed, opt.history
    mean, std = opt.predict()
    where = BOX.grid(12).points
    for cell in opt.cover:
        inside = np.all((told.points > cell.lower) & (told.points < cell.upper), axis=1)
        if cell.count and cell.count == inside.sum():  # nothing is on a face
            mine = np.all((where > cell.lower) & (where < cell.upper), axis=1)
            X, y = told.points[inside], (told.rewards[inside] - assumed.shift) / assumed.unit
            K, k = assumed.kernel(X, X), assumed.kernel(X, where[mine])
            solved = np.linalg.solve(K + assumed.lam * np.eye(len(X)), k)
            expected = assumed.shift + assumed.unit * (solved.T @ y)
            np.testing.assert_allclose(mean[mine], expected, rtol=1e-6)
            variance = assumed.kernel.diag(where[mine]) - np.einsum("ij,ij->j", k, solved)
            np.testing.assert_allclose(std[mine], assumed.unit * np.sqrt(variance), rtol=1e-5)


def test_the_cover_has_one_lengthscale_in_sides_of_its_box():
    opt = play(nr.PiGPUCB(BOX, "auto", nu=1.5, width=2.0, seed=0, **AUTO), 25)
    kernel = opt.assumed.kernel
    first, second = kernel.lengthscale
    assert second == pytest.approx(100.0 * first)
    assert kernel.nu == 1.5
    assert not any(event["event"] == "note" for event in opt.events)
    with pytest.raises(ValueError, match="nu"):
        nr.PiGPUCB(BOX, "auto", nu=0.5)


@pytest.mark.parametrize("name", ["igpucb", "pigpucb"])
@pytest.mark.parametrize("width", ["theory", "paper"])
def test_the_norm_is_doubled_when_rewards_contradict_the_bounds(name, width):
    grid = np.linspace(0, 1, 50)[:, None]
    opt = nr.make(name, grid, nr.Matern(0.1), noise=0.01, norm="auto", width=width, seed=0)
    rng = np.random.default_rng(0)
    while opt.t < 12:
        batch = opt.ask()
        opt.tell(batch, 0.01 * rng.standard_normal(len(batch)))
    before = opt.assumed.norm
    opt.tell([25], [50.0])
    opt.ask()
    (event,) = (event for event in opt.events if event["event"] == "norm doubled")
    assert opt.assumed.norm == event["norm"]
    assert np.log2(event["norm"] / before) == pytest.approx(round(np.log2(event["norm"] / before)))
    if width == "theory":  # |f(x)| ≤ ‖f‖, and a function through the rewards is allowed
        X, y = opt.history.points, opt.history.rewards
        through = y @ np.linalg.solve(nr.Matern(0.1)(X, X) + 1e-4 * np.eye(len(y)), y)
        assert 25.0 < event["norm"] < 2.0 * np.sqrt(through)


def test_lam_stays_the_papers_where_the_kernel_is_given():
    assert nr.PiGPUCB(BOX, nr.Matern(), horizon=100, width="paper", **AUTO).assumed.lam == 1.02
    assert nr.PiGPUCB(BOX, nr.Matern(), width=1.0, **AUTO).assumed.lam == 1.002
    assert nr.PiGPUCB(BOX, "auto", width=1.0, noise=0.5).assumed.lams == (0.25,)


def test_objects_need_a_kernel():
    for cls in (nr.IGPUCB, nr.PiGPUCB):
        with pytest.raises(ValueError, match=r"kernel 'auto'|box"):
            cls(["a", "b"], "auto")
