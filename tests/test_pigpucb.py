"""π-GP-UCB and IGP-UCB: the papers' widths and rules, against naive computations."""

import math

import numpy as np
import pytest

import noregret as nr
from noregret.models.cover import Cover, smoothness_exponents
from noregret.models.local import LocalGP
from noregret.testing import AlgorithmSuite

KERNEL = nr.Matern(0.3, nu=1.5)


def bumps(d, rng, count=12):
    """A function in the kernel's RKHS, and its norm."""
    centres, heights = rng.random((count, d)), rng.uniform(-1, 1, count)
    norm = math.sqrt(heights @ KERNEL(centres, centres) @ heights)
    return lambda points: KERNEL(np.atleast_2d(points), centres) @ heights, norm


def play(opt, function, steps, rng, noise=0.3, size=1):
    """Ask and tell for some steps; the points chosen."""
    chosen = []
    for _ in range(steps):
        batch = opt.ask(size)
        chosen.append(batch.points.copy())
        opt.tell(batch, function(batch.points) + noise * rng.uniform(-1, 1, len(batch)))
    return np.concatenate(chosen)


def textbook(history, inside, where, lam):
    """Mean, variance and ½ log det(I + K/λ) of the evaluations inside a cell."""
    X, y = history.points[inside], history.rewards[inside]
    if not len(X):
        return np.zeros(len(where)), KERNEL.diag(where), 0.0
    K, k = KERNEL(X, X), KERNEL(X, where)
    solved = np.linalg.solve(K + lam * np.eye(len(X)), k)
    gain = 0.5 * np.linalg.slogdet(np.eye(len(X)) + K / lam)[1]
    return solved.T @ y, KERNEL.diag(where) - np.einsum("ij,ij->j", k, solved), gain


def within(points, cell):
    return np.all((points >= cell.lower - 1e-9) & (points <= cell.upper + 1e-9), axis=1)


def naive_leaves(cover, points, b):
    """Keys of all cells, split wherever ρ^(−1/b) < n + 1, by counting every point in every cube."""
    leaves, open_ = [], cover.first()
    while open_:
        key = open_.pop()
        low, high = cover.bounds(key)
        n = int(np.all((points >= low - 1e-9) & (points <= high + 1e-9), axis=1).sum())
        if cover.side(key) ** (-1 / b) * (1 + 1e-12) < n + 1:
            open_ += cover.children(key)
        else:
            leaves.append(key)
    return sorted(leaves)


# -- IGP-UCB -------------------------------------------------------------------------------


def test_igp_width_is_eq_2_with_the_exact_information_gain():
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    function, norm = bumps(2, rng)
    opt = nr.IGPUCB(X, KERNEL, noise=0.5, norm=norm, delta=0.05, seed=1)
    assert opt.lam == 1.0
    play(opt, function, 40, rng)
    K = KERNEL(opt.history.points, opt.history.points)
    gain = 0.5 * np.linalg.slogdet(np.eye(40) + K)[1]
    assert opt.information_gain() == pytest.approx(gain, rel=1e-12)
    width = norm + 0.5 * math.sqrt(2 * (gain + 1 + math.log(1 / 0.05)))
    assert opt.beta == pytest.approx(width, rel=1e-12)


def test_igp_chooses_the_largest_bound_of_an_exact_gp():
    rng = np.random.default_rng(1)
    X = rng.random((60, 2))
    function, norm = bumps(2, rng)
    opt = nr.IGPUCB(X, KERNEL, noise=0.3, norm=norm, seed=0)
    for _ in range(30):
        batch = opt.ask()
        told = opt.history
        mean, variance, gain = textbook(told, slice(None), X, 1.0)
        beta = norm + 0.3 * math.sqrt(2 * (gain + 1 + math.log(10)))
        upper = mean + beta * np.sqrt(np.maximum(variance, 0))
        assert upper[batch.ids[0]] == pytest.approx(upper.max(), rel=1e-9)
        opt.tell(batch, function(batch.points) + 0.3 * rng.uniform(-1, 1, 1))


def test_igp_takes_any_list(tmp_path):
    words = ["a", "bb", "ccc", "dddd"]

    def similar(xs, ys):
        return np.array([[math.exp(-abs(len(x) - len(y))) for y in ys] for x in xs])

    opt = nr.IGPUCB(nr.Candidates(words), similar, noise=0.1, seed=0)
    for _ in range(8):
        batch = opt.ask()
        opt.tell(batch, [float(len(word)) for word in batch.points])
    assert opt.recommend().point == "dddd"
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz", kernel=similar)
    assert again.ask().ids == opt.ask().ids
    opt.replace_candidates(nr.Candidates(["ee", "f" * 9]))
    assert opt.ask().points[0] in ("ee", "f" * 9)


def test_igp_on_a_box_finds_the_peak():
    def f(points):
        return -4 * np.square(points - [0.3, 0.6]).sum(axis=1)

    opt = nr.IGPUCB(
        nr.Box([(0, 1), (0, 1)]), nr.Matern(0.5, nu=2.5), noise=0.02, width=1.0, lam=4e-4, seed=0
    )
    for _ in range(25):
        batch = opt.ask()
        opt.tell(batch, f(batch.points))
    assert np.allclose(opt.recommend().point, [0.3, 0.6], atol=0.05)


def test_small_lam_widens_eq_2():
    X = np.linspace(0, 1, 10)
    wide = nr.IGPUCB(X, KERNEL, noise=0.5, lam=0.25).beta
    assert wide == pytest.approx(1 + 0.5 / 0.5 * math.sqrt(2 * (1 + math.log(10))))


# -- the cover -----------------------------------------------------------------------------


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


# -- ask and tell --------------------------------------------------------------------------


@pytest.mark.parametrize("on", ["list", "box"])
@pytest.mark.parametrize("local", ["exact", "sparse"])
def test_pending_points_shrink_deviations_and_never_move_means(on, local):
    rng = np.random.default_rng(6)
    function, norm = bumps(2, rng)
    box = nr.Box([(0, 1), (0, 1)])
    domain = box.grid(9) if on == "list" else box
    opt = nr.PiGPUCB(domain, KERNEL, noise=0.3, norm=norm, horizon=100, local=local, seed=0)
    play(opt, function, 20, rng)
    where = None if on == "list" else rng.random((50, 2))
    mean, std = opt.predict(where)
    batch = opt.ask(7)
    assert len(batch) == 7
    assert len(np.unique(batch.points, axis=0)) > 1
    pending_mean, pending_std = opt.predict(where)
    assert np.allclose(pending_mean, mean, atol=1e-10)
    assert np.all(pending_std <= std + 1e-7)
    before = opt.predict(batch.ids if on == "list" else batch.points)[1]
    opt.cancel(batch)
    after = opt.predict(batch.ids if on == "list" else batch.points)[1]
    assert np.all(before < after)
    assert np.allclose(opt.predict(where)[1], std, atol=1e-10)


@pytest.mark.parametrize("local", ["exact", "sparse"])
@pytest.mark.parametrize("on", ["list", "box"])
def test_a_loaded_run_continues_bit_for_bit(tmp_path, on, local):
    function, norm = bumps(2, np.random.default_rng(7))
    domain = np.random.default_rng(8).random((90, 2)) if on == "list" else nr.Box([(0, 1), (0, 1)])

    def steps(opt, start, stop):
        chosen = []
        for t in range(start, stop):
            rng = np.random.default_rng(t)
            batch = opt.ask(1 + t % 3)
            chosen.append(batch.points)
            if t % 4 == 1:  # told in part
                batch = batch[:1]
            if t % 7 == 5:
                opt.cancel(batch)
            else:
                opt.tell(batch, function(batch.points) + 0.3 * rng.uniform(-1, 1, len(batch)))
        return np.concatenate(chosen)

    def make():
        return nr.PiGPUCB(domain, KERNEL, noise=0.3, norm=norm, horizon=20, local=local, seed=2)

    whole = make()
    expected = steps(whole, 0, 24)
    opt = make()
    first = steps(opt, 0, 13)
    opt.save(tmp_path / "run.npz")
    opt = nr.load(tmp_path / "run.npz")
    second = steps(opt, 13, 24)
    assert np.array_equal(np.concatenate([first, second]), expected)
    assert opt.horizon == whole.horizon > 20
    points = np.arange(5) if on == "list" else np.full((1, 2), 0.3)
    for ours, theirs in zip(opt.predict(points), whole.predict(points), strict=True):
        assert np.array_equal(ours, theirs)


def test_a_loaded_igp_run_continues_bit_for_bit(tmp_path, monkeypatch):
    monkeypatch.setattr("noregret.models.local._LARGE", 500)  # products computed ahead as well
    rng = np.random.default_rng(9)
    function, norm = bumps(2, rng)
    X = rng.random((70, 2))
    whole, opt = (nr.IGPUCB(X, KERNEL, noise=0.3, norm=norm, seed=3) for _ in range(2))
    expected = play(whole, function, 60, np.random.default_rng(0))
    noise = np.random.default_rng(0)
    first = play(opt, function, 31, noise)
    opt.save(tmp_path / "run.npz")
    second = play(nr.load(tmp_path / "run.npz"), function, 29, noise)
    assert np.array_equal(np.concatenate([first, second]), expected)


@pytest.mark.parametrize("local", ["exact", "sparse"])
def test_replaced_candidates_get_the_cells_data(tmp_path, local):
    rng = np.random.default_rng(10)
    function, norm = bumps(2, rng)
    old, new = rng.random((60, 2)), rng.random((80, 2)) * 1.2 - 0.1
    opt = nr.PiGPUCB(old, KERNEL, noise=0.3, norm=norm, horizon=100, local=local, seed=0)
    play(opt, function, 30, rng)
    late = opt.ask(2)
    cells = sorted(opt._model.cover.splits)
    opt.replace_candidates(new)
    opt.save(tmp_path / "run.npz")
    other = nr.load(tmp_path / "run.npz")
    assert set(cells) <= opt._model.cover.splits
    opt.tell(late, function(late.points))
    mean, std = opt.predict()
    assert mean.shape == (80,)
    if local == "exact":
        told = opt.history
        smallest = np.full(80, np.inf)
        unit = opt._model.cover.unit
        lower, extent = opt._model.cover.lower, opt._model.cover.extent
        for cell in opt.cover:
            mine = within(lower + extent * unit(new), cell)
            _, variance, gain = textbook(told, within(told.points, cell), new[mine], opt.lam)
            assert cell.gain == pytest.approx(gain, abs=1e-9)
            smallest[mine] = np.minimum(smallest[mine], variance)
        assert np.allclose(std**2, smallest, atol=1e-9)
    other.tell(other.ask(2)[:0], [])
    assert (other.t, other.pending) == (30, 4)  # the file was written before the late rewards
    play(opt, function, 5, rng)
    assert opt.ask().ids[0] < 80


def test_an_interrupted_update_is_made_good(monkeypatch):
    rng = np.random.default_rng(13)
    function, norm = bumps(2, rng)
    grid = nr.Box([(0, 1), (0, 1)]).grid(17)
    opt = nr.PiGPUCB(grid, KERNEL, noise=0.3, norm=norm, horizon=200, seed=0)
    play(opt, function, 20, rng)
    expected = nr.PiGPUCB(grid, KERNEL, noise=0.3, norm=norm, horizon=200, seed=0)
    ids = rng.integers(len(grid), size=30)
    rewards = function(grid.points[ids])
    opt.tell(ids, rewards)
    expected.tell(opt.history.ids, opt.history.rewards)
    whole, left = LocalGP.condition, [5]

    def broken(self, *evaluations):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        whole(self, *evaluations)

    monkeypatch.setattr(LocalGP, "condition", broken)
    with pytest.raises(KeyboardInterrupt):
        opt.predict()
    monkeypatch.undo()
    for ours, theirs in zip(opt.predict(), expected.predict(), strict=True):
        assert np.allclose(ours, theirs, atol=1e-9)
    assert sum(cell.count for cell in opt.cover) == sum(cell.count for cell in expected.cover)


# -- plain and odd input -------------------------------------------------------------------


def test_the_same_seed_gives_the_same_run():
    function, norm = bumps(2, np.random.default_rng(11))
    grid = nr.Box([(0, 1), (0, 1)]).grid(10)
    runs = [
        play(nr.PiGPUCB(grid, KERNEL, norm=norm, seed=seed), function, 30, np.random.default_rng(0))
        for seed in (1, 1, 2)
    ]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0.5]]),
        np.zeros((4, 2)),
        np.array([[0.0, 3.0], [1.0, 3.0], [2.0, 3.0]]),
        np.repeat(np.linspace(0, 1, 5), 3)[:, None],
        np.random.default_rng(0).random((40, 7)),
    ],
    ids=["one point", "equal points", "flat", "duplicates", "seven dimensions"],
)
@pytest.mark.parametrize("lengthscale", [1e-4, 0.3, 1e4])
def test_odd_lists_and_constant_rewards(X, lengthscale):
    opt = nr.PiGPUCB(X, nr.Matern(lengthscale, nu=1.5), noise=0.1, horizon=20, seed=0)
    for _ in range(30):
        batch = opt.ask(2)
        opt.tell(batch, [1.0, 1.0])
    mean, std = opt.predict()
    assert np.all(np.isfinite(mean))
    assert np.all(std >= 0)
    assert opt.recommend().gap >= 0


def test_bad_input_is_refused():
    X = np.random.default_rng(0).random((10, 2))
    with pytest.raises(ValueError, match="Theorem 3"):
        nr.PiGPUCB(X, nr.Matern(0.3, nu=0.5))
    nr.PiGPUCB(X, nr.Matern(0.3, nu=0.5), strict=False).ask()
    for horizon in (0, -5):
        with pytest.raises(ValueError, match="horizon"):
            nr.PiGPUCB(X, KERNEL, horizon=horizon)
    with pytest.raises(TypeError, match="horizon"):
        nr.PiGPUCB(X, KERNEL, horizon=1.5)
    with pytest.raises(ValueError, match="box"):
        nr.PiGPUCB(nr.Candidates(["a", "b"]), lambda xs, ys: np.ones((len(xs), len(ys))))
    with pytest.raises(ValueError, match="box must contain"):
        nr.PiGPUCB(X, KERNEL, box=[(0, 0.1), (0, 1)])
    with pytest.raises(ValueError, match="dimensions"):
        nr.PiGPUCB(X, KERNEL, box=[(0, 1)])
    with pytest.raises(ValueError, match="box must not"):
        nr.PiGPUCB(nr.Box([(0, 1)]), KERNEL, box=[(0, 1)])
    with pytest.raises(ValueError, match="at most 10 dimensions"):
        nr.PiGPUCB(nr.Box([(0, 1)] * 11), KERNEL)
    with pytest.raises(ValueError, match="local"):
        nr.PiGPUCB(X, KERNEL, local="other")
    with pytest.raises(ValueError, match="width"):
        nr.PiGPUCB(X, KERNEL, width="srinivas")
    with pytest.raises(ValueError, match="nu"):
        nr.PiGPUCB(X, KERNEL, nu=-1.0)
    boxed = nr.PiGPUCB(X, KERNEL, box=[(0, 1), (0, 1)])
    with pytest.raises(ValueError, match="box must contain"):
        boxed.replace_candidates(X + 1)
    assert len(boxed.domain) == 10
    with pytest.raises(ValueError, match="points must be given"):
        nr.PiGPUCB(nr.Box([(0, 1)]), KERNEL).upper()


def test_other_kernels_are_allowed_with_a_note():
    X = np.random.default_rng(0).random((10, 2))
    opt = nr.PiGPUCB(X, nr.RBF(0.3))
    assert "Matérn" in opt.events[0]["text"]
    opt.ask()
    for kernel in (KERNEL, 2.0 * KERNEL):
        opt = nr.PiGPUCB(X, kernel)
        assert opt.events == []
        assert opt.nu == 1.5


class TestIGPUCB(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.IGPUCB(domain, kernel, **options)


class TestPiGPUCB(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.PiGPUCB(domain, kernel, **options)


class TestPiGPUCBSparse(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.PiGPUCB(domain, kernel, local="sparse", horizon=5, width=1.0, **options)


def test_made_by_name():
    X = np.random.default_rng(0).random((10, 2))
    assert isinstance(nr.make("pigpucb", X, KERNEL, horizon=50), nr.PiGPUCB)
    assert isinstance(nr.make("igpucb", X, KERNEL), nr.IGPUCB)
