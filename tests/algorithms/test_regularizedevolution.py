"""Regularised evolution: who is a parent, who is a neighbour, who dies."""

from itertools import product

import numpy as np
import pytest

import noregret as nr

BITS = np.array(list(product([0.0, 1.0], repeat=6)))


def evolution(X=BITS, **options):
    return nr.RegularizedEvolution(X, nr.RBF(1.0), norm=20.0, seed=0, **options)


def test_children_differ_from_the_winner_in_one_feature():
    """With one member the parent is the evaluation told last."""
    opt = evolution(population=1, tournament=1)
    opt.tell([0], [0.0])
    parent = 0
    for _ in range(50):
        batch = opt.ask()
        assert np.abs(BITS[batch.ids[0]] - BITS[parent]).sum() == 1
        parent = int(batch.ids[0])
        opt.tell(batch, [0.0])


def test_all_neighbours_are_equally_likely():
    opt = evolution(population=1, tournament=1)
    opt.tell([0], [0.0])
    counts = np.bincount(opt.ask(6000).ids, minlength=64)
    neighbours = np.flatnonzero(BITS.sum(axis=1) == 1)
    assert counts.sum() == counts[neighbours].sum()
    # χ² with 5 degrees of freedom is below 25.7 with probability 1 − 10⁻⁴.
    assert np.sum((counts[neighbours] - 1000) ** 2 / 1000) < 25.7


def test_the_start_is_uniform_and_then_all_are_children():
    opt = evolution(population=40, tournament=400)
    first = opt.ask(40)
    assert len(np.unique(first.ids)) > 20
    rewards = np.zeros(40)
    rewards[7] = 1.0
    opt.tell(first, rewards)
    # So large a tournament finds the best member.
    children = BITS[opt.ask(100).ids]
    np.testing.assert_array_equal(np.abs(children - first.points[7]).sum(axis=1), 1)


def test_an_ask_across_the_end_of_the_start_has_both():
    opt = evolution(population=10, tournament=50)
    opt.tell([0] * 8, np.zeros(8))
    ids = opt.ask(200).ids
    assert np.all(BITS[ids[2:]].sum(axis=1) == 1)
    draws = [evolution(population=10).ask(1).ids[0] for _ in range(2)]
    assert draws[0] == draws[1]  # the seed's


def test_the_oldest_dies_however_good():
    opt = evolution(population=3, tournament=100)
    opt.tell([0, 63, 63, 63], [9.0, 0.0, 0.0, 0.0])
    children = BITS[opt.ask(50).ids]
    assert np.all(children.sum(axis=1) == 5)
    opt = evolution(population=4, tournament=100)
    opt.tell([0, 63, 63, 63], [9.0, 0.0, 0.0, 0.0])
    assert np.all(BITS[opt.ask(50).ids].sum(axis=1) == 1)


def test_tournaments_prefer_the_better_with_the_right_chance():
    """Two members, drawn twice with replacement: the better one wins in 3 of 4."""
    opt = evolution(population=2, tournament=2)
    opt.tell([0, 63], [1.0, 0.0])
    share = np.mean(BITS[opt.ask(4000).ids].sum(axis=1) == 1)
    assert share == pytest.approx(0.75, abs=0.03)


def test_without_a_neighbour_the_fewest_changes_count():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    opt = evolution(X, population=1, tournament=1)
    opt.tell([0], [0.0])
    np.testing.assert_array_equal(opt.ask(20).ids, 1)
    same = evolution(np.ones((3, 2)), population=1, tournament=1)
    same.tell([0], [0.0])
    assert set(same.ask(50).ids) == {0, 1, 2}
    alone = evolution(np.ones((1, 1)), population=1, tournament=1)
    alone.tell([0], [0.0])
    assert alone.ask().ids[0] == 0


def test_features_decide_who_is_a_neighbour(tmp_path):
    """A table of its own: on a ring of points, bits of the number; also after save and load."""
    ids = np.arange(64)
    ring = np.column_stack([np.cos(ids), np.sin(ids)])
    opt = evolution(ring, population=1, tournament=1, features=BITS)
    opt.tell([0], [0.0])
    assert np.all(BITS[opt.ask(30).ids].sum(axis=1) == 1)
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(opt.ask(30).ids, again.ask(30).ids)
    with pytest.raises(ValueError, match="features"):
        opt.replace_candidates(ring[:5])
    assert len(opt.domain) == 64


def test_evolution_can_learn_its_kernel(tmp_path):
    """The start is as long as the fit needs, and a saved run goes on."""
    f = BITS.mean(axis=1)
    auto = {"noise": "auto", "norm": "auto", "population": 3}
    opt = nr.RegularizedEvolution(BITS, "auto", seed=0, **auto)
    uniform = []
    for _ in range(40):
        batch = opt.ask()
        uniform.append(batch.uniform)
        opt.tell(batch, f[batch.ids])
    assert any(event["event"] == "fit" for event in opt.events)
    assert uniform == [True] * 24 + [False] * 16  # four draws per dimension
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    for run in (opt, again):
        batch = run.ask(3)
        run.tell(batch, f[batch.ids])
    np.testing.assert_array_equal(opt.ask(5).ids, again.ask(5).ids)
    np.testing.assert_array_equal(opt.predict(), again.predict())


def test_objects_need_features():
    words = ["aa", "ab", "bb"]
    kernel = lambda a, b: np.array([[float(x == y) for y in b] for x in a])  # noqa: E731
    with pytest.raises(ValueError, match="features"):
        nr.RegularizedEvolution(words, kernel)
    table = [[0, 0], [0, 1], [1, 1]]
    opt = nr.RegularizedEvolution(words, kernel, features=table, population=1, seed=0)
    opt.tell([0], [0.0])
    assert list(opt.ask(5).points) == ["ab"] * 5


@pytest.mark.parametrize(
    "options",
    [
        {"population": 0},
        {"tournament": 0},
        {"features": np.zeros((3, 2))},
        {"features": np.full((64, 2), np.nan)},
        {"features": [["a"]] * 64},
        {"features": np.zeros(64)},
    ],
)
def test_bad_options_are_refused_by_name(options):
    (name,) = options
    with pytest.raises((ValueError, TypeError), match=name):
        evolution(**options)


def test_a_box_has_no_neighbours():
    with pytest.raises(TypeError, match="list of candidates"):
        nr.RegularizedEvolution(nr.Box([(0, 1)]), nr.RBF())


def test_it_beats_uniform_choice():
    """On ones counted with noise, averaged over seeds; a uniform choice loses half of the range."""
    f = BITS.mean(axis=1)
    regrets = []
    for seed in range(5):
        opt = nr.RegularizedEvolution(
            BITS, nr.RBF(2.0), noise=0.1, norm=5.0, population=15, tournament=5, seed=seed
        )
        rng = np.random.default_rng(seed)
        for _ in range(100):
            batch = opt.ask()
            opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(1))
        regrets.append(1.0 - f[opt.history.ids[50:]].mean())
    assert np.mean(regrets) < 0.3
