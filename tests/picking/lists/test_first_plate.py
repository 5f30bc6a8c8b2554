"""The first plate is spread over the list."""

import numpy as np

import noregret as nr

X = np.random.default_rng(0).normal(size=(2000, 2))


def nearest(points):
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return np.sort(apart + np.diag(np.full(len(points), np.inf)), axis=1)[:, 0]


def test_the_first_plate_has_fewer_near_neighbours_than_chance():
    opt = nr.BBKB(X, nr.RBF(0.5), noise=0.1, width=2.0, seed=0)
    plate = opt.ask(48, fill=True)
    assert plate.spread
    assert opt.events[-1]["event"] == "spread over the list"
    chance = [nearest(X[np.random.default_rng(s).choice(2000, 48)]).mean() for s in range(20)]
    assert nearest(plate.points).mean() > max(chance)


def test_a_second_plate_before_any_answer_keeps_away_from_the_first():
    opt = nr.GPUCB(X, nr.RBF(0.5), noise=0.1, width=2.0, seed=0)
    one, two = opt.ask(30, fill=True), opt.ask(30, fill=True)
    assert two.spread
    assert not set(one.ids) & set(two.ids)


def test_a_plate_larger_than_the_list_is_the_whole_list():
    opt = nr.PlateUCB(nr.Candidates(X[:5]), repeats=1, seed=0)
    assert sorted(opt.ask(96, fill=True).ids) == [0, 1, 2, 3, 4]
    assert opt.exhausted


def test_settings_are_fitted_to_a_first_plate():
    opt = nr.BBKB(X, "auto", noise="auto", norm="auto", width=2.0, repeats=1, seed=0)
    plate = opt.ask(40, fill=True)
    opt.tell(plate, np.sin(plate.points[:, 0]))
    assert not opt.ask(10, fill=True).spread
    assert "fit" in {event["event"] for event in opt.events}


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
