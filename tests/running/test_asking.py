"""The steps of an ask: plates that fail midway, batches that nothing ends, lists that end."""

import numpy as np

import noregret as nr

X = np.random.default_rng(0).normal(size=(2000, 2))


def test_a_plate_that_fails_midway_leaves_nothing_pending():
    """The model wants uniform draws first and then picks; the kernel fails on the latter."""
    opt = nr.BBKB(X, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    plate = opt.ask(40, fill=True)
    opt.tell(plate, np.sin(plate.points[:, 0]))
    opt.ask(1)  # fits, so that a share of what follows is drawn uniformly
    pending, chooser = opt.pending, opt.chooser

    def fail(now, limit):
        raise MemoryError("no room")

    chooser.choose = fail
    try:
        opt.ask(60, fill=True)
    except MemoryError:
        pass
    else:
        raise AssertionError("the chooser was not asked")
    assert opt.pending == pending


def test_a_batch_that_nothing_ends_is_cut():
    """With a tiny scale no pick teaches anything, and an adaptive batch would not end."""
    opt = nr.BBKB(X[:20], nr.RBF(0.5, variance=1e-9), noise=1.0, lam=1.0, width=2.0, seed=0)
    opt.tell([0], [0.0])
    batch = opt.ask()
    assert len(batch) == 10_000
    assert opt.events[-1] == {"t": 1, "event": "batch cut", "points": 10_000}


def test_a_plate_ends_with_the_list():
    """Where repeats leave fewer candidates than are asked for, the plate has all that are left."""
    xs = np.random.default_rng(2).uniform(size=(20, 2))
    optimizer = nr.BBKB(xs, "auto", noise="auto", norm="auto", width=2.0, repeats=1, seed=0)
    optimizer.tell([4, 7], [0.5, 1.0])
    assert sorted(optimizer.ask(30, fill=True).ids.tolist()) == sorted({*range(20)} - {4, 7})
    assert optimizer.exhausted


def test_told_and_pending_evaluations_count_and_candidates_set_aside_do_not_come():
    opt = nr.GPUCB(X[:6], nr.RBF(0.5), norm=2.0, repeats=2, seed=0)
    opt.tell([0, 0, 1], [0.1, 0.2, 0.3])
    opt.expect([1, 2])
    opt.set_aside([5])
    often = np.zeros(6, dtype=int)
    while not opt.exhausted:
        often[opt.ask(1).ids] += 1
    np.testing.assert_array_equal(often, [0, 0, 1, 2, 2, 0])


def test_an_ask_shows_the_picks_of_its_own_steps():
    """An adaptive ask in parts gives the picks of one ask; a plate is filled after the batch."""
    one, two = (nr.BBKB(X[:200], nr.RBF(0.5), noise=0.3, norm=2.0, seed=0) for _ in range(2))
    for opt in (one, two):
        opt.tell(np.arange(30), np.sin(X[:30, 0]))
    batch, plate = one.ask(), two.ask(60, fill=True)
    assert len(batch) < len(plate) == 60
    assert plate.ids[0] == batch.ids[0]
    assert len(set(plate.ids.tolist())) == 60


def often(noise, count=90):
    """How often each of 60 candidates is evaluated where the kernel is learnt."""
    rng, xs = np.random.default_rng(0), X[:60]
    opt = nr.BBKB(xs, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    for _ in range(count):
        batch = opt.ask(1)
        opt.tell(batch, np.sin(3.0 * batch.points[:, 0]) + noise * rng.standard_normal())
    return np.bincount(opt.history.ids, minlength=60)


def test_without_noise_candidates_are_evaluated_once_while_others_are_left():
    """The best one would be asked for again and again, which says nothing new."""
    first = often(0.0, 60)
    assert first.sum() - np.count_nonzero(first) <= 6
    assert np.all(often(0.0))  # after that, any of them
    assert often(0.5, 60).max() > 6


def test_without_noise_the_list_is_never_exhausted():
    opt = nr.BBKB(X[:8], "auto", noise="auto", norm="auto", width=2.0, seed=0)
    opt.tell(np.tile(np.arange(8), 3), np.tile(X[:8, 0], 3))
    assert not opt.exhausted
    assert len(opt.ask(1)) == 1
    assert len(opt.ask(8, fill=True)) == 8
