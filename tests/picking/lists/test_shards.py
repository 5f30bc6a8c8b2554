"""Picks from a list in parts: those of one machine, bit for bit."""

import numpy as np
import pytest
from clusters import kill_the_worker_of
from reference import problem

import noregret as nr
from noregret.picking.lists import following
from noregret.picking.lists.prior import PriorRoot
from noregret.picking.lists.shards import fresh_uppers

KERNEL = nr.RBF(0.4)

#: algorithm and its settings, under bounds that only fall and under current ones
CASES = {
    "bbkb": (nr.BBKB, {}),
    "gpucb": (nr.GPUCB, {}),
    "bbkb current": (nr.BBKB, {"width": 2.0}),
    "gpucb current": (nr.GPUCB, {"width": 2.0}),
    "bbkb resampled": (nr.BBKB, {"width": 2.0, "dictionary": "resample", "qbar": 1.0}),
    "bbkb explores": (nr.BBKB, {"min_batch": 2}),
    "bkb linear": (nr.BKB, {"kernel": KERNEL + nr.Linear()}),
    "bbkb once": (nr.BBKB, {"repeats": 1}),
    "bbkb once current": (nr.BBKB, {"repeats": 1, "width": 2.0}),
    "gpucb best few": (nr.GPUCB, {"repeats": 2, "aim": 3, "width": 2.0}),
    "learnt": (nr.BBKB, {"kernel": "auto", "noise": "auto", "norm": "auto"}),
}


def pair(client, case, X, parts=3):
    """The same optimiser on one machine and on a list in parts."""
    cls, own = CASES[case]
    options = {"kernel": KERNEL, "noise": 0.1, "norm": 10.0, "seed": 3, **own}
    return cls(X, **options), cls(nr.Candidates.on(client, X, parts=parts), **options)


def play(one, many, f, batches, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(batches):
        batch, other = one.ask(30), many.ask(30)
        np.testing.assert_array_equal(batch.ids, other.ids)
        np.testing.assert_array_equal(batch.points, other.points)
        np.testing.assert_array_equal(batch.info.upper, other.info.upper)
        rewards = f[batch.ids] + 0.1 * rng.standard_normal(len(batch))
        one.tell(batch, rewards)
        many.tell(other, rewards)


def assert_alike(one, many):
    assert many.alive == one.alive
    best, other = one.recommend(), many.recommend()
    assert (best.id, best.lower, best.upper, best.gap) == (
        other.id,
        other.lower,
        other.upper,
        other.gap,
    )
    np.testing.assert_array_equal(one.predict(), many.predict())
    np.testing.assert_array_equal(one.predict([5, 700]), many.predict([5, 700]))
    assert many.events == one.events


@pytest.mark.parametrize("case", ["bbkb", "gpucb current", "bbkb once", "gpucb best few"])
def test_picks_of_a_short_run_are_those_of_one_machine(dask_client, case):
    X, f, _ = problem(1, arms=900)
    one, many = pair(dask_client, case, X.astype(np.float32))
    play(one, many, f, 6)
    assert_alike(one, many)


def test_picks_by_logarithms_of_columns_are_those_of_one_machine(dask_client):
    X, f, _ = problem(1, arms=900)
    one, many = pair(dask_client, "learnt", 10.0 ** (5.0 * X - 5.0))
    assert one.assumed.kernel.columns == [0, 1]
    play(one, many, f, 4)
    assert_alike(one, many)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_picks_are_those_of_one_machine(dask_client, case):
    X, f, _ = problem(1, arms=6000)
    one, many = pair(dask_client, case, X.astype(np.float32))
    play(one, many, f, 20)
    assert_alike(one, many)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["bbkb", "bbkb current"])
def test_ties_between_parts_go_to_the_smaller_id(dask_client, case):
    X, f, _ = problem(1, arms=40)
    one, many = pair(dask_client, case, np.tile(X, (20, 1)), parts=7)
    play(one, many, np.tile(f, 20), 10)
    assert_alike(one, many)


def test_a_run_moves_between_one_machine_and_parts(dask_client, tmp_path):
    X, f, _ = problem(1, arms=900)
    for case in ("bbkb", "bbkb current"):
        one, many = pair(dask_client, case, X)
        play(one, many, f, 4)
        many.save(tmp_path / "many.npz")
        one.save(tmp_path / "one.npz")
        here = nr.load(tmp_path / "many.npz", domain=X)
        there = nr.load(tmp_path / "one.npz", domain=nr.Candidates.on(dask_client, X, parts=2))
        play(here, there, f, 2, seed=1)
        play(one, many, f, 2, seed=1)
        np.testing.assert_array_equal(here.history.ids, one.history.ids)
        np.testing.assert_array_equal(there.history.ids, one.history.ids)
    with pytest.raises(ValueError, match="domain=list"):
        nr.load(tmp_path / "many.npz")


@pytest.mark.parametrize("case", ["bbkb", pytest.param("bbkb current", marks=pytest.mark.slow)])
def test_a_run_goes_on_when_a_worker_dies(dask_client, case, monkeypatch):
    monkeypatch.setattr(following, "_MOST", 1)  # where all are followed no part is asked
    X, f, _ = problem(1, arms=900)
    one, many = pair(dask_client, case, X, parts=2)
    play(one, many, f, 3)
    kill_the_worker_of(dask_client, many.domain, 1)
    for _ in range(4):
        batch = many.ask(30)
        many.tell(batch, f[batch.ids])
    assert {"t": one.t, "event": "part lost", "part": 1} in many.events
    assert many.recommend().id >= 0


@pytest.mark.slow
def test_a_worker_that_dies_within_a_batch(dask_client):
    """What its part has given already does not come twice, and all the rest comes."""
    many = nr.Candidates.on(dask_client, np.arange(900.0), parts=2)
    column = fresh_uppers(PriorRoot(KERNEL), many)
    values = np.random.default_rng(0).permutation(900) / 1000.0
    column.put(np.arange(900), values)
    queue = column.read(many.at)
    first = queue.take(100)
    np.testing.assert_array_equal(first.ids, np.argsort(-values)[:100])
    np.testing.assert_array_equal(first.points[:, 0], first.ids)
    kill_the_worker_of(dask_client, many, 1)
    rest = [queue.take(300) for _ in range(4)]
    assert queue.floor == -np.inf
    taken = np.concatenate([first.ids, *(some.ids for some in rest)])
    assert sorted(taken) == list(range(900))
    stale = np.concatenate([some.stale for some in rest])
    assert (stale >= values[taken[100:]]).all()
    assert (stale == 1.0).any()  # the prior's bound
    assert 1 in column.lost()
    assert column.lost() == []
