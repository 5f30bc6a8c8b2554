"""Shares of δ: all of them together are at most δ, and the paper's formula."""

import pytest

from noregret.widths import shares


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_shares_of_all_cells_that_can_exist_sum_to_delta(d):
    first, delta, depths = 3**d, 0.1, 100
    of_depth = [shares.by_depth(delta, first, d, depth) for depth in range(depths)]
    total = sum(first * 2.0 ** (d * depth) * share for depth, share in enumerate(of_depth))
    assert total == pytest.approx(delta * (1 - 1 / (depths + 1)))


def test_lemma_6_and_the_first_cells():
    assert shares.by_time(0.1, 1, 1.2, 9) == pytest.approx(0.1 / (4 * 10**1.2))
    assert shares.by_time(0.1, 500, 1.2, 9) == pytest.approx(0.1 / 500)


def test_horizons_share_delta():
    unknown = [shares.by_epoch(0.2, j, planned=False) for j in range(5000)]
    assert sum(unknown) == pytest.approx(0.2, rel=1e-3)
    assert unknown == sorted(unknown, reverse=True)
    planned = [shares.by_epoch(0.2, j, planned=True) for j in range(5000)]
    assert planned[0] == 0.2
    assert sum(planned[1:]) == pytest.approx(0.2, rel=1e-3)
