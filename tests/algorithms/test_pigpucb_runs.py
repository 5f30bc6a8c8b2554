"""Runs of π-GP-UCB: pending points, looks, files, other lists, odd and bad input."""

import copy

import numpy as np
import pytest
from covers import KERNEL, bumps, play, textbook, within
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.models.sparse import SparseGP

#: two of the three settings in all combinations
KINDS = pytest.mark.parametrize(
    ("on", "local", "width"),
    [
        ("list", "exact", "theory"),
        ("list", "sparse", "paper"),
        ("box", "exact", "paper"),
        ("box", "sparse", "theory"),
    ],
)


@KINDS
def test_pending_points_shrink_deviations_and_never_move_means(on, local, width):
    rng = np.random.default_rng(6)
    function, norm = bumps(2, rng)
    box = nr.Box([(0, 1), (0, 1)])
    domain = box.grid(9) if on == "list" else box
    options = {"noise": 0.3, "norm": norm, "horizon": 100, "local": local, "width": width}
    opt = nr.PiGPUCB(domain, KERNEL, seed=0, **options)
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


@KINDS
def test_a_loaded_run_continues_bit_for_bit(tmp_path, on, local, width):
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
        return nr.PiGPUCB(
            domain, KERNEL, noise=0.3, norm=norm, horizon=20, local=local, width=width, seed=2
        )

    whole = make()
    expected = steps(whole, 0, 24)
    opt = make()
    first = steps(opt, 0, 13)
    opt.save(tmp_path / "run.npz")
    opt = nr.load(tmp_path / "run.npz")
    second = steps(opt, 13, 24)
    assert np.array_equal(np.concatenate([first, second]), expected)
    assert opt.horizon_now == whole.horizon_now > 20
    points = np.arange(5) if on == "list" else np.full((1, 2), 0.3)
    for ours, theirs in zip(opt.predict(points), whole.predict(points), strict=True):
        assert np.array_equal(ours, theirs)


@settings(max_examples=4, deadline=None)
@given(st.lists(st.booleans(), min_size=12, max_size=12), st.sampled_from(["theory", "paper", 1.0]))
def test_looking_changes_nothing(looks, width):
    function, norm = bumps(2, np.random.default_rng(7))
    grid = nr.Box([(0, 1), (0, 1)]).grid(9)
    options = {"noise": 0.3, "norm": norm, "horizon": 8, "local": "sparse", "width": width}
    plain, seen = (nr.PiGPUCB(grid, KERNEL, seed=1, **options) for _ in range(2))
    for t, look in enumerate(looks):
        batches = [opt.ask(1 + t % 3) for opt in (plain, seen)]
        assert np.array_equal(batches[0].ids, batches[1].ids)
        for opt, batch in zip((plain, seen), batches, strict=True):
            for part in (batch[:1], batch[1:]):
                opt.tell(part, function(part.points))
                if look and opt is seen:
                    opt.predict([0])
                    opt.recommend()
                    assert len(opt.cover) > 0
                    assert opt.upper().shape == (81,)
                    assert opt.beta > 0
                    assert opt.horizon_now >= 8
                    assert opt.alive is None or opt.alive > 0


def test_a_copy_for_a_look_shares_the_cells():
    opt = nr.PiGPUCB(nr.Box([(0, 1), (0, 1)]).grid(17), KERNEL, norm="auto", horizon=200, seed=0)
    play(opt, bumps(2, np.random.default_rng(0))[0], 30, np.random.default_rng(0))
    opt.ask()
    beliefs = opt._run.beliefs
    copied = copy.deepcopy(beliefs)
    assert all(copied.cells[key] is cell for key, cell in beliefs.cells.items())
    assert copied.learner is not beliefs.learner


@pytest.mark.parametrize("local", ["exact", "sparse"])
def test_replaced_candidates_get_the_cells_data(tmp_path, local):
    rng = np.random.default_rng(10)
    function, norm = bumps(2, rng)
    old, new = rng.random((60, 2)), rng.random((80, 2)) * 1.2 - 0.1
    opt = nr.PiGPUCB(
        old, KERNEL, noise=0.3, norm=norm, width="paper", horizon=100, local=local, seed=0
    )
    play(opt, function, 30, rng)
    late = opt.ask(2)
    smallest = min(cell.side for cell in opt.cover)
    opt.replace_candidates(new)
    opt.save(tmp_path / "run.npz")
    other = nr.load(tmp_path / "run.npz")
    opt.tell(late, function(late.points))
    assert min(cell.side for cell in opt.cover) <= smallest
    mean, std = opt.predict()
    assert mean.shape == (80,)
    if local == "exact":
        told = opt.history
        low, high = old.min(axis=0), old.max(axis=0)
        variances = np.full(80, np.inf)
        for cell in opt.cover:
            mine = within(np.clip(new, low, high), cell)
            _, variance, gain = textbook(
                told, within(told.points, cell), new[mine], opt.assumed.lam
            )
            assert cell.gain == pytest.approx(gain, abs=1e-9)
            variances[mine] = np.minimum(variances[mine], variance)
        assert np.allclose(std**2, variances, atol=1e-9)
    assert (other.t, other.pending) == (30, 2)  # the file was written before the late rewards
    play(opt, function, 5, rng)
    assert opt.ask().ids[0] < 80


def test_an_interrupted_update_changes_nothing(monkeypatch):
    rng = np.random.default_rng(13)
    function, norm = bumps(2, rng)
    grid = nr.Box([(0, 1), (0, 1)]).grid(17)
    opt = nr.PiGPUCB(grid, KERNEL, noise=0.3, norm=norm, horizon=200, seed=0)
    play(opt, function, 20, rng)
    ids = rng.integers(len(grid), size=30)
    opt.tell(ids, function(grid.points[ids]))
    expected = opt.replace()
    whole, left = SparseGP.rebuild, [5]

    def broken(self, *evaluations):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        whole(self, *evaluations)

    monkeypatch.setattr(SparseGP, "rebuild", broken)
    with pytest.raises(KeyboardInterrupt):
        opt.ask()
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


def test_cells_without_data_are_chosen_in_no_order():
    """A sweep through the cells would spend a short run on one side of the box."""
    grid = nr.Box([(0, 1), (0, 1)]).grid(30)
    opt = nr.PiGPUCB(grid, KERNEL, noise=0.3, horizon=10_000, seed=0)
    chosen = play(opt, lambda points: np.zeros(len(points)), 40, np.random.default_rng(0))
    assert np.all(np.abs(chosen.mean(axis=0) - 0.5) < 0.15)


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
    kernel = nr.Matern(lengthscale, nu=1.5)
    opt = nr.PiGPUCB(X, kernel, noise=0.1, norm=20.0, horizon=20, seed=0)
    for _ in range(20):
        batch = opt.ask(2)
        opt.tell(batch, [1.0, 1.0])
    mean, std = opt.predict()
    assert np.all(np.isfinite(mean))
    assert np.all(std >= 0)
    assert opt.recommend().gap >= 0


@pytest.mark.parametrize("on", ["list", "box"])
def test_planted_wrong_norms_are_found_and_right_ones_are_not_refuted(on):
    box = nr.Box([(0, 1), (0, 1)])
    rng = np.random.default_rng(3)
    function, norm = bumps(2, rng)
    for factor in (1.0, 0.05):
        domain = box.grid(12) if on == "list" else box
        opt = nr.PiGPUCB(domain, KERNEL, noise=0.05, norm=factor * norm, horizon=60, seed=0)
        if factor == 1.0:
            play(opt, function, 40, rng, noise=0.05)
            assert not opt.events
        else:
            with pytest.warns(RuntimeWarning, match="contradict"):
                play(opt, function, 40, rng, noise=0.05)
            (event,) = opt.events
            assert event["event"] == "refuted"
            assert factor * norm < event["smallest_norm"] <= norm
            assert opt.alive is None


def test_bad_input_is_refused():
    X = np.random.default_rng(0).random((10, 2))
    with pytest.raises(ValueError, match="Theorem 3"):
        nr.PiGPUCB(X, nr.Matern(0.3, nu=0.5))
    nr.PiGPUCB(X, nr.Matern(0.3, nu=0.5), strict=False).ask()
    for name in ("horizon", "first_cells"):
        for value in (0, -5):
            with pytest.raises(ValueError, match=name):
                nr.PiGPUCB(X, KERNEL, **{name: value})
        with pytest.raises(TypeError, match=name):
            nr.PiGPUCB(X, KERNEL, **{name: 1.5})
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
    for name in ("local", "split"):
        with pytest.raises(ValueError, match=name):
            nr.PiGPUCB(X, KERNEL, **{name: "other"})
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
        assert nr.PiGPUCB(X, kernel).events == []


def test_made_by_name():
    X = np.random.default_rng(0).random((10, 2))
    assert isinstance(nr.make("pigpucb", X, KERNEL, horizon=50), nr.PiGPUCB)
