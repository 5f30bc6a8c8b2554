"""Maximisers in a box of functions drawn from the sparse posterior."""

import numpy as np

import noregret as nr

BOX = nr.Box([(0, 1), (0, 1)])


def test_draws_of_a_known_function_are_its_maximiser():
    """Where nearly all is known draws are the mean: every pick is its top, between Sobol points."""
    opt = nr.BBKB(
        BOX, nr.RBF(0.6), noise=1e-3, acquisition="thompson", ratio=1e9, width=2.0, qbar=50, seed=3
    )
    grid = BOX.grid(12).points
    opt.tell(grid, np.exp(-2.0 * np.square(grid - [0.37, 0.61]).sum(axis=1)))
    picks = opt.ask(8).points
    assert picks.shape == (8, 2)
    apart = np.sqrt(np.square(picks - [0.37, 0.61]).sum(axis=1))
    assert apart.max() < 0.01


def test_draws_of_an_unknown_function_are_spread_over_the_box():
    """One evaluation of a corner says little: picks are all over the box."""
    opt = nr.BBKB(BOX, nr.RBF(0.1), acquisition="thompson", ratio=1e9, width=2.0, seed=4)
    opt.tell([[0.0, 0.0]], [0.0])
    picks = opt.ask(40).points
    assert len(np.unique(picks, axis=0)) > 35
    assert np.all(np.abs(picks.mean(axis=0) - 0.5) < 0.2)
    assert np.all(picks.std(axis=0) > 0.2)
