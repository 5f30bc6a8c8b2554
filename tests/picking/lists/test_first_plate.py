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
