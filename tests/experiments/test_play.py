"""The loop of all regret experiments, against the history of its run."""

import numpy as np
import pytest

import noregret as nr
from noregret.experiments.play import AS_PRINTED, play


def test_regret_of_a_run_is_that_of_its_history():
    rng = np.random.default_rng(0)
    f, errors = rng.random(30), rng.standard_normal(40)
    X = rng.random((30, 2))
    opt = nr.BBKB(X, nr.RBF(0.5), noise=1.0, norm=9.0, seed=0)
    frame = play(opt, 40, lambda batch: f[batch.ids],
                 lambda value, t: value + errors[t : t + len(value)], f.max(),
                 marks=np.array([1, 17, 40]))  # fmt: skip
    history = opt.history
    assert len(history) == 40
    assert np.allclose(history.rewards, f[history.ids] + errors)
    regret = [np.sum(f.max() - f[history.ids[:t]]) for t in (1, 17, 40)]
    assert frame["regret"].to_numpy() == pytest.approx(regret)
    simple = [f.max() - f[history.ids[:t]].max() for t in (1, 17, 40)]
    assert frame["simple"].to_numpy() == pytest.approx(simple)
    assert opt.pending == 0
    assert frame["seconds"].is_sorted()


def test_batches_have_at_most_the_size_asked_for():
    opt = nr.GPUCB(np.arange(5.0)[:, None], nr.RBF(1.0), norm=9.0, seed=0)
    frame = play(opt, 10, lambda batch: batch.points[:, 0], lambda value, t: value, 4.0,
                 at_most=4, marks=np.arange(1, 11))  # fmt: skip
    assert frame["batch"].to_list() == [4] * 8 + [2] * 2
    assert frame["batches"].to_list() == [1] * 4 + [2] * 4 + [3] * 2


def test_a_run_without_choices_left_ends():
    opt = nr.GPUCB(np.arange(3.0)[:, None], nr.RBF(1.0), norm=9.0, repeats=1, seed=0)
    with pytest.raises(ValueError, match=r"nothing left to ask for after 3 of 10 .* repeats=1"):
        play(opt, 10, lambda batch: batch.points[:, 0], lambda value, t: value, 4.0,
             marks=np.array([10]))  # fmt: skip


def test_a_norm_that_the_paper_takes_too_small_does_not_warn():
    opt = nr.GPUCB(np.arange(5.0)[:, None], nr.RBF(1.0), noise=0.01, norm=0.1, seed=0, **AS_PRINTED)
    play(opt, 10, lambda batch: batch.points[:, 0], lambda value, t: value, 4.0,
         marks=np.array([10]))  # fmt: skip
    assert [event["event"] for event in opt.events] == ["refuted"]
