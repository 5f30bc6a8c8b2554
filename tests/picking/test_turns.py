"""Wider bounds one time of three, while the kernel is learnt."""

import numpy as np
import pytest

import noregret as nr
from noregret.picking.turns import WideTurns

X, NOISE = np.random.default_rng(0).uniform(size=(80, 2)), np.random.default_rng(1)
LEARNT = {"kernel": "auto", "noise": "auto", "norm": "auto"}


def value(ids):
    return np.sin(5 * X[ids, 0]) + X[ids, 1] + 0.1 * NOISE.standard_normal(len(ids))


def started(**settings):
    opt = nr.BBKB(nr.Candidates(X), seed=0, **{**LEARNT, "width": 2.0, **settings})
    ids = opt.ask(10).ids  # the design
    opt.tell(ids, value(ids))
    return opt


def factors(opt, steps):
    """How many deviations the pick of every step had in its bound."""
    found = []
    for _ in range(steps):
        mean, std = opt.predict()
        batch = opt.ask(1)
        fits = [b for b in (2.0, 4.0) if (mean + b * std).max() - 1e-9 <= batch.info.upper[0]]
        found.append(fits[-1])
        assert (mean + fits[-1] * std)[batch.ids[0]] == pytest.approx(batch.info.upper[0])
        assert batch.info.beta == pytest.approx(2.0)
        opt.tell(batch, value(batch.ids))
    return found


def test_every_third_pick_has_bounds_twice_as_wide():
    assert factors(started(), 9) == [2.0, 2.0, 4.0] * 3


def test_whose_turn_it_is_stands_in_the_file(tmp_path):
    opt = started()
    assert factors(opt, 4) == [2.0, 2.0, 4.0, 2.0]
    opt.save(tmp_path / "run.npz")
    assert factors(nr.load(tmp_path / "run.npz"), 3) == [2.0, 4.0, 2.0]


@pytest.mark.parametrize(
    "settings",
    [{"kernel": nr.RBF(0.3)}, {"width": "theory"}, {"acquisition": "thompson"}],
)
def test_other_settings_have_no_turns(settings):
    opt = nr.BBKB(nr.Candidates(X), seed=0, **{**LEARNT, "width": 2.0, **settings})
    assert not isinstance(opt.chooser, WideTurns)


def test_looks_are_those_of_the_other_chooser():
    opt = started()
    assert opt.alive is None
    assert opt.chooser.follows_aim
    best = opt.recommend()
    assert best.mean - best.lower == pytest.approx(2.0 * opt.predict([best.id])[1][0])
