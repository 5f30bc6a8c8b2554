"""Leaders of cells: looked at again only where they may have changed."""

import numpy as np
import pytest

from noregret.picking.covers.bounds import Leader, Leaders


class Hills:
    """Cells that each hold a few choices with a mean and a √leverage."""

    def __init__(self, cells, rng):
        self.mean = rng.standard_normal((cells, 5))
        self.root = rng.random((cells, 5))
        self.width = 1.0
        self.looks = 0

    def look(self, key, width):
        self.looks += 1
        mean, root = self.mean[key[1]], self.root[key[1]]
        upper = mean + self.width * root
        at = int(np.argmax(upper))
        found = float(upper[at]), float(mean[at]), float(root[at])
        return Leader(at, *found, float(root.max()), self.width)

    def log_det(self, key):
        return 0.0

    def widths_now(self, log_dets):
        return np.full(len(log_dets), self.width)

    def largest(self):
        return float((self.mean + self.width * self.root).max())


def test_growing_widths_give_the_choice_of_a_full_look_with_few_looks():
    rng = np.random.default_rng(0)
    hills = Hills(200, rng)
    leaders = Leaders([(0, i) for i in range(200)])
    leaders.best(hills.look, hills, rng)
    assert hills.looks == 200
    for _ in range(300):
        hills.width *= 1.01
        key, leader = leaders.best(hills.look, hills, rng)
        assert leader.upper == pytest.approx(hills.largest(), rel=1e-12)
        assert leader.upper == pytest.approx(
            hills.mean[key[1]][leader.choice] + hills.width * hills.root[key[1]][leader.choice]
        )
    assert hills.looks < 200 + 300  # a full look each time would be 60,000


def test_only_cells_that_changed_are_looked_at_again():
    rng = np.random.default_rng(1)
    hills = Hills(50, rng)
    leaders = Leaders([(0, i) for i in range(50)])
    leaders.best(hills.look, None, rng)
    hills.mean[7] += 10.0
    hills.mean[8] += 20.0
    leaders.look_again([(0, 7), (9, 9)])  # the latter is no cell here
    hills.looks = 0
    key, _ = leaders.best(hills.look, None, rng)
    assert (key, hills.looks) == ((0, 7), 1)


def test_a_copy_goes_its_own_way():
    rng = np.random.default_rng(2)
    hills = Hills(6, rng)
    leaders = Leaders([(0, i) for i in range(5)])
    first, _ = leaders.best(hills.look, None, rng)
    copied = leaders.copy()
    copied.split(first, [(1, 5)])
    hills.mean[5] += 100.0
    assert copied.best(hills.look, None, rng)[0] == (1, 5)
    assert leaders.best(hills.look, None, rng)[0] == first


def test_equal_bounds_are_drawn_at_random():
    def look(key, width):
        return Leader(None, 1.0, 0.0, 1.0, 1.0, 1.0)

    rng = np.random.default_rng(3)
    leaders = Leaders([(0, i) for i in range(4)])
    drawn = [leaders.best(look, None, rng)[0][1] for _ in range(400)]
    assert np.all(np.bincount(drawn) > 60)
