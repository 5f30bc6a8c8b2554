"""Beliefs on a cover: cells are replaced, never written to."""

import numpy as np
import pytest
from covers import KERNEL

import noregret as nr


def beliefs_of(opt):
    return opt._run.beliefs


def test_what_was_believed_stays_as_it_was_when_more_is_taken_in():
    rng = np.random.default_rng(0)
    X = rng.random((80, 2))
    opt = nr.PiGPUCB(X, KERNEL, norm=5.0, noise=0.3, horizon=100, seed=0)
    opt.tell(np.arange(20), rng.standard_normal(20))
    opt.ask()
    beliefs = beliefs_of(opt)
    old = dict(beliefs.cells)
    before = {key: cell.model.posterior().evaluate(X) for key, cell in old.items()}
    for _ in range(30):
        opt.tell(rng.integers(80, size=3), rng.standard_normal(3))
        opt.ask()
    assert any(beliefs.cells.get(key) is not cell for key, cell in old.items())
    for key, cell in old.items():
        after = cell.model.posterior().evaluate(X)
        assert np.array_equal(before[key], after)


def test_cells_that_changed_last_come_last():
    X = np.linspace(0, 1, 33)
    opt = nr.PiGPUCB(X, KERNEL, norm=5.0, noise=0.3, first_cells=4, seed=0)
    for ids in ([1], [30], [12], [1]):
        opt.tell(ids, [0.1])
        opt.ask()
    cells = list(beliefs_of(opt).cells.values())
    assert [cell.key for cell in cells] == [(0, 3), (0, 1), (0, 0)]
    assert [cell.stamp for cell in cells] == [2, 3, 4]


def test_sums_over_the_cells():
    rng = np.random.default_rng(1)
    X = np.linspace(0.01, 0.99, 40)
    opt = nr.PiGPUCB(X, KERNEL, norm=5.0, noise=0.3, width="paper", horizon=200, seed=0)
    opt.tell(rng.integers(40, size=60), rng.standard_normal(60))
    cells = opt.cover
    assert sum(cell.count for cell in cells) >= 60
    assert opt.information_gain() == pytest.approx(sum(cell.gain for cell in cells))
    assert set(opt.dictionary) == set(opt.history.ids)
    opt.ask()
    assert beliefs_of(opt).size == sum(c.model.size for c in beliefs_of(opt).cells.values())
    assert 0 < opt.effective_dimension() < 60


def test_sparse_cells_have_small_dictionaries_and_leave_little_out():
    rng = np.random.default_rng(2)
    box = nr.Box([(0.0, 1.0)])
    X = rng.random((1500, 1))
    # With a large ν cells split late, so that each holds hundreds of different arms.
    shared = {"norm": 5.0, "noise": 1.0, "first_cells": 2, "nu": 20.0, "seed": 0}
    opts = [nr.PiGPUCB(box, KERNEL, local=local, **shared) for local in ("exact", "sparse")]
    rewards = rng.standard_normal(1500)
    for opt in opts:
        opt.tell(X, rewards)
    exact, sparse = (opt.predict(np.linspace(0, 1, 50)[:, None]) for opt in opts)
    assert len(opts[1].dictionary) < 0.6 * len(opts[0].dictionary)
    assert np.allclose(exact[0], sparse[0], atol=0.02)
    assert np.allclose(exact[1], sparse[1], rtol=0.02)
    for cell in opts[1].cover:
        assert cell.beta < 1.15 * max(other.beta for other in opts[0].cover)
