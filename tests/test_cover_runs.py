"""Runs of π-GP-UCB and IGP-UCB: pending points, files, other lists, odd and bad input."""

import numpy as np
import pytest
from covers import KERNEL, bumps, play, textbook, within

import noregret as nr
from noregret.models.local import LocalGP
from noregret.testing import AlgorithmSuite


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
