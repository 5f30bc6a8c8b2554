"""ε-greedy: how often it explores, and what it chooses otherwise."""

import numpy as np
import pytest

import noregret as nr

LINE = np.linspace(0, 1, 50)


def told(**options):
    """ε-greedy on 50 points, of which some are known."""
    opt = nr.EpsilonGreedy(LINE, nr.RBF(0.2), noise=0.1, norm=3.0, seed=0, **options)
    opt.tell([5, 20, 40], [0.1, 1.0, 0.3])
    return opt


def test_without_exploration_the_largest_mean_is_chosen():
    opt = told(epsilon=0.0)
    best = int(np.argmax(opt.predict()[0]))
    np.testing.assert_array_equal(opt.ask(7).ids, best)


def test_before_the_first_reward_choices_are_uniform():
    opt = nr.EpsilonGreedy(LINE, nr.RBF(0.2), epsilon=0.0, seed=0)
    assert len(np.unique(np.concatenate([opt.ask(10).ids, opt.ask(10).ids]))) > 10


def test_on_a_box_too():
    opt = nr.EpsilonGreedy(nr.Box([(0, 1)]), nr.RBF(0.2), noise=0.1, norm=3.0, epsilon=0.0, seed=0)
    opt.tell([[0.1], [0.4], [0.8]], [0.1, 1.0, 0.3])
    where = np.linspace(0, 1, 2001)[:, None]
    assert opt.predict(opt.ask().points)[0][0] >= opt.predict(where)[0].max() - 1e-9


def test_with_full_exploration_choices_are_uniform():
    counts = np.bincount(told(epsilon=1.0).ask(20_000).ids, minlength=50)
    # χ² with 49 degrees of freedom is below 94.6 with probability 1 − 10⁻⁴.
    assert np.sum((counts - 400) ** 2 / 400) < 94.6


@pytest.mark.parametrize("epsilon", [0.3, None])
def test_the_share_of_exploration_is_epsilon(epsilon):
    opt = told(epsilon=epsilon)
    best = int(np.argmax(opt.predict()[0]))
    ids = opt.ask(20_000).ids
    t = 4.0 + np.arange(20_000)
    expected = np.full(20_000, 0.3) if epsilon else t ** (-1 / 3)
    # A uniform draw hits the best itself once in 50.
    assert np.mean(ids != best) == pytest.approx(expected.mean() * 49 / 50, abs=0.01)
    late = slice(15_000, None)
    assert np.mean(ids[late] != best) == pytest.approx(expected[late].mean() * 0.98, abs=0.015)


@pytest.mark.parametrize("size", [1, 3])
def test_only_uniform_draws_teach_the_kernel(size):
    """Without exploration of its own, whatever was not drawn for the fits is the largest mean."""
    auto = {"noise": "auto", "norm": "auto"}
    opt = nr.EpsilonGreedy(LINE, "auto", **auto, epsilon=0.0, seed=0)
    rng = np.random.default_rng(0)
    chosen = 0
    for _ in range(45):
        best = int(np.argmax(opt.predict()[0]))
        batch = opt.ask(size)
        if not batch.uniform:
            np.testing.assert_array_equal(batch.ids, best)
            chosen += size
        opt.tell(batch, np.sin(3 * batch.points[:, 0]) + 0.1 * rng.standard_normal(size))
    assert chosen > 0.6 * (opt.t - 10)


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan"), "often"])
def test_epsilon_must_be_a_probability(epsilon):
    with pytest.raises((ValueError, TypeError), match="epsilon"):
        nr.EpsilonGreedy(LINE, nr.RBF(), epsilon=epsilon)


def test_it_beats_uniform_choice():
    """On a hill with noise, averaged over seeds."""
    f = np.exp(-20 * np.square(LINE - 0.7))
    regrets = []
    for seed in range(5):
        opt = nr.EpsilonGreedy(LINE, nr.RBF(0.2), noise=0.1, norm=3.0, seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(100):
            batch = opt.ask()
            opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(1))
        regrets.append(1.0 - f[opt.history.ids[50:]].mean())
    assert np.mean(regrets) < 0.6 * (1.0 - f.mean())
