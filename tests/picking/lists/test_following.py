"""Candidates followed from batch to batch: what is kept of them, and how many there are."""

import numpy as np
import pytest
from dense import beside, play
from reference import problem

import noregret as nr
from noregret.models.followed import Followed
from noregret.models.sparse import SparseGP
from noregret.picking.lists import following
from noregret.picking.lists.following import FollowedQueue, Following

KERNEL = nr.Matern(0.3, nu=1.5)
LAM = 0.1


def followed_list(monkeypatch, size=60):
    """A model of one arm, and a list that is followed whole and is too long for files."""
    monkeypatch.setattr(following, "_SAVED", 0)
    X = np.random.default_rng(0).random((size, 2))
    model = SparseGP(KERNEL, (LAM,), X[:0], 1.0)
    counts, sums = np.zeros(size, dtype=np.int64), np.zeros(size)
    counts[0] = 1
    model.rebuild(X, counts, sums, np.arange(1))
    followed = Following(X[:0])
    followed.take_all(size, model, lambda ids: X[ids])
    return X, model, counts, sums, followed


@pytest.mark.parametrize(("told", "exact"), [(1, True), (5, False)])
def test_leverages_wait_only_if_computing_them_costs_more(monkeypatch, told, exact):
    X, model, counts, sums, followed = followed_list(monkeypatch)
    for step in range(4):
        rows = np.arange(1 + step * told, 1 + (step + 1) * told)
        counts[rows] += 1
        model.advance(X, counts, sums, rows[:1])
        followed.catch_up(model, lambda ids: X[ids], lazily=True)
        assert model.updates[-1].falls_cost_nothing == exact
    assert followed._followed.exact == exact
    assert len(followed._followed.late) == 4 * exact
    _, leverage = model.posterior().evaluate(X)
    followed._followed.settle(KERNEL)
    kept = followed._followed.leverage(LAM)
    assert (kept >= leverage - 1e-9).all()
    assert np.allclose(kept, leverage, atol=1e-9) == exact


def test_the_more_inducing_points_the_more_candidates_are_followed_at_the_most():
    few, many = following._most(10), following._most(10_000)
    assert few * 10 <= following._MOST  # a small model: half a gigabyte
    assert many >= 27_000  # the grid of 30 × 30 × 30 points, with nearly every evaluation an arm
    assert many * 10_000 * 8 <= 4 << 30
    sizes = [following._most(m) for m in (500, 1_000, 2_048, 4_000, 8_000)]
    assert min(sizes) >= 1 << 15


def test_a_queue_gives_candidates_in_falling_order_of_their_bounds(monkeypatch):
    X, model, counts, sums, followed = followed_list(monkeypatch)
    counts[1:6] += 1
    sums[1:6] = [0.5, -1.0, 0.2, 0.9, 0.0]
    model.advance(X, counts, sums, np.arange(1, 2))
    followed.catch_up(model, lambda ids: X[ids], lazily=True)
    mean, leverage = model.posterior().evaluate(X)
    upper = mean + 2.0 * np.sqrt(leverage)
    values = followed._followed.mean + 2.0 * np.sqrt(followed._followed.leverage(LAM))

    def exactly(rows):
        return upper[rows]

    queue = FollowedQueue(values, followed.ids, followed._followed, exactly, with_features=False)
    taken = [int(i) for _ in range(4) for i in queue.take(3).ids]
    assert taken == np.argsort(-upper, kind="stable")[:12].tolist()


def test_updates_by_single_evaluations_are_applied_many_at_a_time(monkeypatch):
    monkeypatch.setattr(following, "_SAVED", 0)  # every list counts as long
    passes, apply = [], Followed._apply
    monkeypatch.setattr(
        Followed,
        "_apply",
        lambda self, kernel, updates, *, falls: (
            passes.append(len(updates)),
            apply(self, kernel, updates, falls=falls),
        ),
    )
    X, f, rng = problem(3, arms=800)
    opt = nr.IGPUCB(X, KERNEL, noise=0.1, norm=1.0, width=50.0, seed=0)
    for _ in range(100):
        mean, std = opt.predict()
        upper = mean + 50.0 * std
        batch = opt.ask()
        assert upper[batch.ids[0]] >= upper.max() - 1e-6
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(1))
    assert sum(passes) > 60
    assert len(passes) < 0.3 * sum(passes)


def test_looks_and_files_do_not_matter_while_updates_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(following, "_SAVED", 0)  # every list counts as long
    X, f, rng = problem(3, arms=800)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, norm=1.0, width=50.0, seed=0)
    again = nr.GPUCB(X, KERNEL, noise=0.1, norm=1.0, width=50.0, seed=0)
    waited = 0
    for step in range(60):
        one, two = opt.ask(), again.ask()
        np.testing.assert_array_equal(one.ids, two.ids)
        np.testing.assert_array_equal(one.info.upper, two.info.upper)
        y = f[one.ids] + 0.1 * rng.standard_normal(1)
        opt.tell(one, y)
        again.tell(two, y)
        if step % 7 == 3:
            again.predict()
            again.top_gap(1)
        if step % 20 == 19:
            again.save(tmp_path / "run.npz")
            again = nr.load(tmp_path / "run.npz")
        sleepers = opt._run.chooser._sleepers
        waited += sleepers is not None and bool(sleepers._following._followed.late)
    assert waited > 30


@pytest.mark.parametrize("case", ["gpucb", "bbkb", "gpbucb product"])
@pytest.mark.parametrize("options", [{}, {"repeats": 1}, {"repeats": 1, "aim": 3}], ids=str)
def test_leverages_of_long_lists_are_computed_only_on_top(case, options, monkeypatch):
    monkeypatch.setattr(following, "_SAVED", 0)  # every list counts as long
    computed = []
    make_exact = Followed.make_exact

    def counted(self, root, rows=None):
        computed.append(len(self) if rows is None else len(rows))
        make_exact(self, root, rows)

    monkeypatch.setattr(Followed, "make_exact", counted)
    X, f, _ = problem(3, arms=800)
    dense = play(beside(case, X, width=2.0, **options), f)
    assert dense.clear > 8
    assert 0 < np.mean(computed) < 0.7 * len(X)


def test_files_of_long_lists_hold_no_features(tmp_path, monkeypatch):
    X, f, rng = problem(4, arms=3000)

    def played(saved):
        monkeypatch.setattr(following, "_SAVED", saved)
        opt = nr.BBKB(X, nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
        rewards = np.random.default_rng(0)
        for _ in range(12):
            batch = opt.ask(5)
            opt.tell(batch, f[batch.ids] + 0.1 * rewards.standard_normal(len(batch)))
        opt.save(tmp_path / "run.npz")
        again = nr.load(tmp_path / "run.npz")
        for _ in range(6):
            one, two = opt.ask(5), again.ask(5)
            np.testing.assert_array_equal(one.ids, two.ids)
            y = f[one.ids] + 0.1 * rewards.standard_normal(len(one))
            opt.tell(one, y)
            again.tell(two, y)
        return (tmp_path / "run.npz").stat().st_size

    assert played(100) < 0.6 * played(1 << 30)


def test_candidates_are_followed_through_several_updates(monkeypatch):
    X, f, rng = problem(4, arms=300)
    opt = nr.BKB(X, nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
    opt.tell(opt.ask(5), f[:5])
    opt.ask()
    added, computed = [], []
    append, all_of = Followed.append, Followed.all_of
    monkeypatch.setattr(
        Followed, "append", lambda self, *what: (added.append(1), append(self, *what))
    )
    monkeypatch.setattr(Followed, "all_of", lambda *what: (computed.append(1), all_of(*what))[1])
    for i in range(6):  # the model is updated, and nobody picks
        opt.tell([i], [f[i]])
        opt._run.take_in(opt._setup.rules)
    opt.ask()
    assert len(added) <= 1  # what is new
    assert not computed  # not all of them again
