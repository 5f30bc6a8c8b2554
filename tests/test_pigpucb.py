"""π-GP-UCB: cells, splits, widths and choices against naive computations."""

import math

import numpy as np
import pytest
from covers import KERNEL, bumps, naive_leaves, play, textbook, within

import noregret as nr
from noregret.models.cover import Cover, smoothness_exponents


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("on", ["grid", "box"])
def test_cells_hold_exact_gps_of_their_own_data_and_split_by_the_rule(d, on):
    rng = np.random.default_rng(d)
    function, norm = bumps(d, rng)
    box = nr.Box([(0, 1)] * d)
    # 17 = 2⁴ + 1 points a side lie on the faces of halved cells.
    domain = box.grid({1: 17, 2: 17, 3: 9}[d]) if on == "grid" else box
    options = {"noise": 0.3, "norm": norm, "delta": 0.1, "horizon": 200, "width": 0.4, "seed": 0}
    opt = nr.PiGPUCB(domain, KERNEL, **options)
    play(opt, function, 120, rng)
    assert opt.lam == 1 + 2 / 200
    told, cells = opt.history, opt.cover
    b, _ = smoothness_exponents(1.5, d)
    per_side = opt._model.cover.per_side
    fresh = Cover(np.zeros(d), np.ones(d), per_side, b)
    leaves = naive_leaves(fresh, told.points, b)
    if on == "grid":
        leaves = [key for key in leaves if any(within_key(fresh, key, domain.points))]
    assert sorted(opt._model.slot_of) == leaves
    assert len(opt._model.cover.splits) > 0
    where = domain.points if on == "grid" else rng.random((200, d))
    believed = [[] for _ in where]  # by each of the cells a point lies in
    for cell in cells:
        inside = within(told.points, cell)
        assert cell.count == inside.sum()
        mine = within(where, cell)
        mean, variance, gain = textbook(told, inside, where[mine], opt.lam)
        assert cell.gain == pytest.approx(gain, abs=1e-9)
        for i, pair in zip(np.flatnonzero(mine), zip(variance, mean, strict=True), strict=True):
            believed[i].append(pair)
    means, stds = opt.predict() if on == "grid" else opt.predict(where)
    for pairs, mean, std in zip(believed, means, stds, strict=True):
        smallest = min(variance for variance, _ in pairs)
        assert std**2 == pytest.approx(smallest, abs=1e-9)
        assert any(
            abs(mean - other) < 1e-9 for variance, other in pairs if variance < smallest + 1e-9
        )


def within_key(cover, key, points):
    low, high = cover.bounds(key)
    return np.all((points >= low - 1e-9) & (points <= high + 1e-9), axis=1)


@pytest.mark.parametrize("d", [1, 2])
def test_choices_maximise_the_largest_bound_over_cells(d):
    """UCB_t, all cells from scratch at every step, although most are never looked at again."""
    rng = np.random.default_rng(10 + d)
    function, norm = bumps(d, rng)
    X = np.round(rng.random((150, d)) * 32) / 32  # many points on faces
    opt = nr.PiGPUCB(X, KERNEL, noise=0.3, norm=norm, horizon=300, box=[(0, 1)] * d, seed=0)
    b, _ = smoothness_exponents(1.5, d)
    for t in range(1, 151):
        batch = opt.ask()
        told = opt.history
        upper = np.full(len(X), -np.inf)
        for cell in opt.cover:
            mine = within(X, cell)
            mean, variance, gain = textbook(told, within(told.points, cell), X[mine], opt.lam)
            delta = 0.1 / (4 * (t + 1) ** (b * d))
            beta = norm + 0.3 * math.sqrt(2 * (gain + 1 + math.log(1 / delta)))
            assert cell.beta == pytest.approx(beta, rel=1e-9)
            bound = mean + beta * np.sqrt(np.maximum(variance, 0))
            upper[mine] = np.maximum(upper[mine], bound)
        assert upper[batch.ids[0]] == pytest.approx(upper.max(), rel=1e-9)
        assert batch.info.upper[0] == pytest.approx(upper.max(), rel=1e-9)
        opt.tell(batch, function(batch.points) + 0.3 * rng.uniform(-1, 1, 1))
    assert np.allclose(opt.upper().max(), opt.ask().info.upper[0], rtol=1e-12)


def test_one_unsplit_cell_chooses_as_igp_ucb():
    rng = np.random.default_rng(3)
    X = rng.random((80, 2)) / 2  # in one of 2 × 2 cells, which a smooth kernel never splits
    function, norm = bumps(2, rng)
    kernel = nr.Matern(0.2, nu=30.0)
    shared = {"noise": 0.3, "norm": norm, "lam": 1.0, "width": 0.8, "seed": 5}
    one = nr.PiGPUCB(X, kernel, box=[(0, 1), (0, 1)], horizon=10**7, **shared)
    assert len(one.cover) == 1
    igp = nr.IGPUCB(X, kernel, **shared)
    picks = [play(opt, function, 60, np.random.default_rng(0)) for opt in (one, igp)]
    assert len(one.cover) == 1
    assert np.array_equal(*picks)
    theory = {**shared, "width": "theory"}
    one = nr.PiGPUCB(X, kernel, box=[(0, 1), (0, 1)], horizon=10**7, **theory)
    shift = (
        math.sqrt(2 * (1 + math.log(10))),
        math.sqrt(2 * (1 + math.log(10 * 4 * 2 ** one_bd(30.0)))),
    )
    assert one.beta == pytest.approx(
        nr.IGPUCB(X, kernel, **theory).beta + 0.3 * (shift[1] - shift[0])
    )


def one_bd(nu):
    return smoothness_exponents(nu, 2)[0] * 2


def test_history_in_bulk_gives_the_same_cover_as_one_by_one():
    rng = np.random.default_rng(4)
    function, norm = bumps(2, rng)
    grid = nr.Box([(0, 1), (0, 1)]).grid(17)
    slow = nr.PiGPUCB(grid, KERNEL, noise=0.3, norm=norm, horizon=400, seed=0)
    play(slow, function, 150, rng)
    told = slow.history
    bulk = nr.PiGPUCB(grid, KERNEL, noise=0.3, norm=norm, horizon=400, seed=0)
    bulk.tell(told.ids, told.rewards)
    assert len(bulk.cover) == len(slow.cover) > 16
    assert sorted(bulk._model.slot_of) == sorted(slow._model.slot_of)
    assert np.allclose(bulk.upper(), slow.upper(), atol=1e-9)
    for ours, theirs in zip(bulk.predict(), slow.predict(), strict=True):
        assert np.allclose(ours, theirs, atol=1e-9)
    assert bulk.recommend().lower == pytest.approx(slow.recommend().lower)


@pytest.mark.parametrize("local", ["exact", "sparse"])
def test_the_horizon_is_doubled_and_the_cover_only_refines(local):
    rng = np.random.default_rng(5)
    function, norm = bumps(1, rng)
    opt = nr.PiGPUCB(nr.Box([(0, 1)]).grid(33), KERNEL, norm=norm, horizon=4, local=local, seed=0)
    cells = opt.cover
    for _ in range(70):
        play(opt, function, 1, rng)
        finer = opt.cover
        for cell in finer:
            assert any(
                old.lower[0] <= cell.lower[0] and cell.upper[0] <= old.upper[0] for old in cells
            )
        cells = finer
    assert opt.horizon == 128
    assert opt.lam == 1 + 2 / 128
    assert [e["horizon"] for e in opt.events if e["event"] == "horizon doubled"] == [
        8,
        16,
        32,
        64,
        128,
    ]


def test_bounds_hold_over_many_seeds():
    """Lemma 5: all bounds in all cells at all times, with probability 1 − δ."""
    delta, broken, broken_narrow = 0.2, 0, 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        function, norm = bumps(1, rng)
        grid = np.linspace(0, 1, 33)[:, None]
        truth = function(grid)
        opt = nr.PiGPUCB(grid, KERNEL, noise=1.0, norm=norm, delta=delta, horizon=100, seed=seed)
        worst = 0.0
        for _ in range(12):
            play(opt, function, 8, rng, noise=1.0)
            for cell in opt.cover:
                mine = within(grid, cell)
                told = opt.history
                mean, variance, _ = textbook(told, within(told.points, cell), grid[mine], opt.lam)
                error = np.abs(mean - truth[mine]) / (cell.beta * np.sqrt(variance))
                worst = max(worst, float(error.max()))
            best = opt.recommend()
            assert best.lower <= best.mean <= best.upper
            worst = max(worst, (truth.max() - truth[best.id]) / best.gap)
        broken += worst > 1
        broken_narrow += worst > 0.1
    assert broken <= delta * 25
    assert broken_narrow > 0  # a tenth of the width would have been noticed


def test_on_a_box_no_point_of_a_fine_grid_has_a_larger_bound():
    rng = np.random.default_rng(12)
    function, norm = bumps(2, rng)
    box = nr.Box([(0, 1), (0, 1)])
    opt = nr.PiGPUCB(box, KERNEL, noise=0.3, norm=norm, horizon=100, seed=0)
    grid = box.grid(61).points
    for _ in range(40):
        play(opt, function, 1, rng)
        bound = opt.upper(grid).max()
        batch = opt.ask()
        opt.cancel(batch)
        assert batch.info.upper[0] > bound - 0.01 * abs(bound)
        assert batch.info.upper[0] == pytest.approx(opt.upper(batch.points)[0], rel=1e-9)


@pytest.mark.slow
def test_regret_is_well_below_that_of_uniform_choice():
    """A third of the run of the paper's Table 1 at d = 1, where it ends at 0.09."""
    regrets = []
    kernel = nr.Matern(0.2, nu=1.5)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        grid = nr.Box([(0, 1)]).grid(30)
        centres, heights = rng.random((30, 1)), rng.uniform(-1, 1, 30)
        values = kernel(grid.points, centres) @ heights
        norm = math.sqrt(heights @ kernel(centres, centres) @ heights)
        opt = nr.PiGPUCB(grid, kernel, noise=1.0, norm=norm, lam=1.0, horizon=3000, seed=seed)
        chosen = 0.0
        for _ in range(3000):
            batch = opt.ask()
            chosen += values[batch.ids[0]]
            opt.tell(batch, values[batch.ids] + rng.uniform(-1, 1, 1))
        regrets.append((values.max() - chosen / 3000) / (values.max() - values.mean()))
    assert np.mean(regrets) < 0.5
