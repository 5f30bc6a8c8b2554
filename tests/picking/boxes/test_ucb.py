"""Picks in a box by the largest upper bound, and what is recommended there."""

import numpy as np
import pytest

import noregret as nr

BOX = nr.Box([(0, 1), (2, 4)])


def told(**options):
    """An optimiser after 24 rewards, and the 12 points that were told."""
    X = BOX.sample(12, np.random.default_rng(0))[1]
    opt = nr.GPUCB(BOX, nr.Matern([0.3, 0.6]), noise=0.5, seed=0, **options)
    for part in (X, X[:6], X[:6]):
        opt.tell(part, np.sin(5 * part[:, 0]) - np.square(part[:, 1] - 3))
    return opt, X


@pytest.mark.parametrize("width", [2.0, "theory"])
def test_the_pick_has_the_largest_bound_of_the_box(width):
    opt, _ = told(width=width, norm=3.0, lam=0.01)
    upper, batch = opt.situation().bounds.upper, opt.ask()
    assert batch.info.upper[0] == pytest.approx(upper(batch.points)[0])
    assert batch.info.upper[0] >= upper(BOX.grid(60).points).max() - 1e-9


def test_told_points_are_ranked_by_their_lower_bounds():
    opt, X = told(width=2.0)
    mean, std = opt.predict(X)
    order = np.argsort(-(mean - 2.0 * std))
    assert not np.array_equal(order, np.argsort(-mean))
    for best, i in zip(opt.top(12), order, strict=True):
        np.testing.assert_array_equal(best.point, X[i])
        interval = mean[i] - 2.0 * std[i], mean[i] + 2.0 * std[i]
        assert (best.lower, best.upper) == pytest.approx(interval)
    found = opt.top(12)
    grid = BOX.grid(60).points
    highest = np.add(*np.multiply(opt.predict(grid), [[1.0], [2.0]])).max()
    for best in found:
        assert best.gap >= highest - best.lower - 1e-9
        assert best.gap == pytest.approx(found[0].gap + found[0].lower - best.lower)


def test_before_the_first_reward_the_centre_is_recommended():
    opt = nr.GPUCB(BOX, nr.Matern([0.3, 0.6]), norm=1.5, width=2.0, seed=0)
    (best,) = opt.top(3)
    np.testing.assert_array_equal(best.point, [0.5, 3.0])
    assert (best.mean, best.lower, best.upper) == pytest.approx((0.0, -2.0, 2.0))


def test_a_box_has_no_candidates_to_count():
    opt, _ = told()
    assert opt.alive is None
    with pytest.raises(TypeError, match="this domain is a box"):
        opt.chooser.highest(opt.situation(), np.arange(2))


def test_constant_rewards_and_one_dimension():
    opt = nr.BBKB(nr.Box([(0, 1)]), nr.RBF(0.2), noise=0.1, seed=0)
    for _ in range(3):
        batch = opt.ask()
        opt.tell(batch, np.zeros(len(batch)))
    assert np.all(opt.predict([[0.5]])[0] == 0.0)
    assert opt.recommend().gap > 0


@pytest.mark.parametrize("name", ["gpucb", "bbkb"])
def test_finds_the_top_of_a_hill(name):
    box = nr.Box({"x": (0.0, 10.0), "y": (-1.0, 1.0)})
    opt = nr.make(name, box, nr.RBF([2.0, 0.5]), noise=0.05, norm=2.0, width=3.0, seed=0)
    rng = np.random.default_rng(0)
    while opt.t < 50:
        batch = opt.ask(min(8, 50 - opt.t)) if opt.adaptive else opt.ask()
        x, y = batch.points.T
        values = np.exp(-((x - 6.3) ** 2) / 4 - (y - 0.2) ** 2)
        opt.tell(batch, values + 0.05 * rng.standard_normal(len(batch)))
    best = opt.recommend()
    assert best.point["x"] == pytest.approx(6.3, abs=0.4)
    assert best.point["y"] == pytest.approx(0.2, abs=0.25)
    assert best.lower <= 1.0 <= best.lower + best.gap
    assert opt.dictionary_points.shape[1] == 2
