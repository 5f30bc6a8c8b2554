"""The choice among separate arms: ties, order, recommendations."""

import numpy as np
import pytest

import noregret as nr

ARMS = np.arange(5.0)[:, None]


def robust(**options):
    return nr.RobustUCB(ARMS, nr.RBF(1.0), seed=0, v=1.0, **options)


def test_arms_without_an_evaluation_come_first_in_their_order():
    opt = robust()
    opt.tell([3], [0.1])
    np.testing.assert_array_equal(opt.ask(3).ids, [0, 1, 2])
    np.testing.assert_array_equal(opt.ask(2).ids[:1], [4])


def test_a_cancelled_arm_comes_first_again():
    opt = robust()
    opt.tell(np.arange(4), np.full(4, 0.1))
    opt.cancel(opt.ask())
    assert opt.ask().ids[0] == 4


def test_a_batch_is_what_one_by_one_would_be_without_answers():
    one, many = robust(width=1.0), robust(width=1.0)
    for opt in (one, many):
        opt.tell(np.repeat(np.arange(5), 4), np.tile(0.1 * np.arange(5), 4))
    singles = np.concatenate([one.ask().ids for _ in range(12)])
    np.testing.assert_array_equal(many.ask(12).ids, singles)
    assert len(np.unique(singles)) > 1


def test_the_best_lower_bound_is_recommended():
    opt = robust(width=0.5)
    first = opt.recommend()
    assert (first.id, first.lower, first.upper, first.gap) == (0, -0.5, 0.5, 1.0)
    opt.tell([1] * 9 + [2], [0.01] * 9 + [0.02])
    best, second = opt.top(5)
    assert (best.id, second.id) == (1, 2)
    assert best.upper - best.mean == pytest.approx(0.5 / 3)
    # Arms never evaluated may reach the width itself.
    assert best.gap == pytest.approx(max(0.5, second.upper) - best.lower)


def test_numbers_and_functions_as_widths():
    opt = robust(width=lambda e: 2.0 * e.t)
    opt.tell([0, 1], [0.1, 0.2])
    assert opt.beta == pytest.approx(4.0)


def test_what_has_no_meaning_is_refused():
    with pytest.raises(ValueError, match="bounds must be 'current'"):
        robust(bounds="intersected")
    with pytest.raises(TypeError, match="predict ids of the list"):
        robust().predict_points(ARMS)
    assert robust().alive is None
    assert robust().dictionary.size == 0
    assert robust().information_gain() == 0.0
