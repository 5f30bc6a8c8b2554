"""The cover: which cells there are, what lies in them, when they split."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.kernels import RBF, Matern
from noregret.models.cover import Cover, cells_a_side, smoothness, smoothness_exponents


def unit_cover(d, per_side=2, b=0.5):
    return Cover(np.zeros(d), np.ones(d), per_side, b)


def naive_cells_of(cover, point):
    """Every cell whose closed cube holds the point, by walking down from the first cover."""
    found, open_ = [], cover.first()
    while open_:
        key = open_.pop()
        low, high = cover.bounds(key)
        if np.all(point >= low - 1e-9) and np.all(point <= high + 1e-9):
            if key in cover.splits:
                open_ += cover.children(key)
            else:
                found.append(key)
    return sorted(found)


def test_exponents_of_the_paper():
    # ν = 3/2: b = (d+1)/(d+3), q = d(d+1)/(d(d+2)+3).
    assert smoothness_exponents(1.5, 1) == (2 / 4, 2 / 6)
    assert smoothness_exponents(1.5, 2) == (3 / 5, 6 / 11)
    assert smoothness_exponents(1.5, 3) == (4 / 6, 12 / 18)


@pytest.mark.parametrize(("d", "cells"), [(1, 22), (2, 12), (3, 8)])
def test_first_cover_has_as_many_cells_as_the_horizon_asks_for(d, cells):
    q = smoothness_exponents(1.5, d)[1]
    assert cells_a_side(10_000**q, d) == cells


@given(st.integers(1, 10**6), st.integers(1, 12), st.floats(0.5, 5.0))
def test_first_cover_is_never_larger_than_its_order(horizon, d, nu):
    q = smoothness_exponents(nu, d)[1]
    k = cells_a_side(horizon**q, d)
    assert k >= 1
    assert k**d <= max(1.0, 2 * horizon**q)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_point_inside_is_in_one_cell_and_a_corner_in_all_around_it(d):
    cover = unit_cover(d)
    assert cover.cells_of(np.full(d, 0.3)) == [(0,) + (0,) * d]
    assert len(cover.cells_of(np.full(d, 0.5))) == 2**d
    face = np.full(d, 0.3)
    face[0] = 0.5
    assert len(cover.cells_of(face)) == 2
    assert len(cover.cells_of(np.zeros(d))) == len(cover.cells_of(np.ones(d))) == 1


def test_splitting_by_hand_in_one_dimension():
    cover = unit_cover(1)  # two cells of side 1/2, b = 1/2: split when 4 < n + 1
    left = (0, 0)
    assert not cover.is_full(left, 3)
    assert cover.is_full(left, 4)
    cover.splits.add(left)
    assert cover.children(left) == [(1, 0), (1, 1)]
    assert [tuple(np.concatenate(cover.bounds(key))) for key in ((1, 0), (1, 1), (0, 1))] == [
        (0.0, 0.25),
        (0.25, 0.5),
        (0.5, 1.0),
    ]
    assert cover.cells_of(np.array([0.25])) == [(1, 0), (1, 1)]
    assert cover.cells_of(np.array([0.5])) == [(0, 1), (1, 1)]
    assert not cover.is_full((1, 0), 15)
    assert cover.is_full((1, 0), 16)


def test_splitting_by_hand_in_two_dimensions():
    cover = Cover(np.array([0.0, 10.0]), np.array([1.0, 30.0]), 1, 0.6)
    root = (0, 0, 0)
    assert not cover.is_full(root, 0)
    assert cover.is_full(root, 1)  # 1 < 1 + 1
    cover.splits.add(root)
    points = np.array([[0.2, 11.0], [0.5, 11.0], [0.5, 20.0], [0.9, 29.0]])
    parts = {key: rows.tolist() for key, rows in cover.members(cover.unit(points)).items()}
    assert parts == {(1, 0, 0): [0, 1, 2], (1, 0, 1): [2], (1, 1, 0): [1, 2], (1, 1, 1): [2, 3]}


coordinate = st.one_of(
    st.floats(0.0, 1.0),
    st.integers(0, 24).map(lambda i: i / 24),
    st.integers(0, 29).map(lambda i: i / 29),
)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_members_and_cells_of_agree_with_the_closed_cubes(data, d, per_side):
    cover = unit_cover(d, per_side)
    rows = data.draw(
        st.lists(st.lists(coordinate, min_size=d, max_size=d), min_size=1, max_size=12)
    )
    points = np.array(rows)
    for _ in range(data.draw(st.integers(0, 4))):
        leaves = sorted(cover.members(points))
        cover.splits.add(leaves[data.draw(st.integers(0, len(leaves) - 1))])
    expected = [naive_cells_of(cover, point) for point in points]
    assert [cover.cells_of(point) for point in points] == expected
    members = cover.members(points)
    for i, keys in enumerate(expected):
        assert [key for key, inside in members.items() if i in inside] == keys
    assert all(len(inside) and np.all(np.diff(inside) > 0) for inside in members.values())


def test_cells_are_disjoint_inside_and_cover_the_box():
    cover = unit_cover(2, 3)
    for key in [(0, 1, 1), (1, 2, 2), (0, 0, 2), (2, 5, 4)]:
        cover.splits.add(key)
    rng = np.random.default_rng(0)
    for point in rng.random((500, 2)):
        assert len(cover.cells_of(point)) == 1
    leaves = set(itertools.chain.from_iterable(cover.cells_of(p) for p in rng.random((5000, 2))))
    volume = sum(cover.side(key) ** 2 for key in leaves)
    assert volume == pytest.approx(1.0)


def test_points_beyond_the_box_belong_to_the_nearest_cells():
    cover = unit_cover(2)
    assert cover.unit(np.array([[-3.0, 7.0]])).tolist() == [[0.0, 1.0]]


def test_a_dimension_without_extent():
    cover = Cover(np.array([0.0, 5.0]), np.array([1.0, 5.0]), 2, 0.5)
    assert list(cover.members(cover.unit(np.array([[0.1, 5.0], [0.9, 5.0]])))) == [
        (0, 0, 0),
        (0, 1, 0),
    ]


def most_splits(per_side, d, b, evaluations):
    """The relaxed problem in the proof of Lemma 2: buy the cheapest splits on a budget of 2ᵈT."""
    budget, splits = 2.0**d * evaluations, 0
    for level in range(60):
        threshold = (per_side * 2.0**level) ** (1 / b)
        cost = threshold * (1 - 2 ** (-1 / b)) - 2 if level else threshold - 1
        supply = per_side**d * 2 ** (d * level)
        if cost <= 0:
            splits += supply
            continue
        bought = min(supply, math.floor(budget / cost))
        splits += bought
        budget -= bought * cost
        if bought < supply:
            break
    return splits


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("spread", ["one point", "uniform", "faces", "near the corner"])
def test_cell_counts_of_lemmas_2_and_6(d, spread):
    b, q = smoothness_exponents(1.5, d)
    horizon = 3000
    cover = unit_cover(d, cells_a_side(horizon**q, d), b)
    first = cover.per_side**d
    rng = np.random.default_rng(d)
    counts: dict[tuple[int, ...], list[np.ndarray]] = {}
    created = first
    for t in range(1, horizon + 1):
        point = {
            "one point": np.full(d, 0.3),
            "uniform": rng.random(d),
            "faces": np.round(rng.random(d) * 8) / 8,
            "near the corner": rng.random(d) ** 6,
        }[spread]
        for key in cover.cells_of(point):
            counts.setdefault(key, []).append(point)
            if cover.is_full(key, len(counts[key])):
                inside = np.array(counts.pop(key))
                cover.splits.add(key)
                created += 2**d
                for child, rows in cover.divide(key, inside):
                    counts[child] = list(inside[rows])
        cells = first + (2**d - 1) * len(cover.splits)
        # Lemma 6 counts the cells that splitting can have made; the first ones are there anyway.
        assert cells - first <= 4 * (t + 1) ** (b * d)
    assert created == first + 2**d * len(cover.splits)
    assert len(cover.splits) <= most_splits(cover.per_side, d, b, horizon)


@pytest.mark.parametrize("points", [5, 40])  # few points are looked up in another way
def test_a_refined_cover_has_no_cell_of_a_lower_level(points):
    cover = unit_cover(2, 2)
    cover.splits.add((0, 1, 1))
    where = np.random.default_rng(0).random((points, 2))
    cover.least = 2
    assert {key[0] for key in cover.members(where)} == {2}
    assert len(cover.leaves()) == (2 * 2**2) ** 2
    for key, inside in cover.members(where).items():
        low, high = cover.bounds(key)
        assert np.all((where[inside] >= low) & (where[inside] <= high))


def test_a_copy_of_a_cover_splits_on_its_own():
    cover = unit_cover(1)
    other = cover.copy()
    other.splits.add((0, 0))
    assert cover.leaves() == [(0, 0), (0, 1)]
    assert other.leaves() == [(0, 1), (1, 0), (1, 1)]


def test_smoothness_of_kernels():
    kernel = Matern(0.2, nu=1.5)
    assert smoothness(kernel) == smoothness(2.0 * kernel) == 1.5
    assert smoothness(RBF(0.2)) is None
