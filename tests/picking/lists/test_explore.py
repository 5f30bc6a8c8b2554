"""Uncertainty sampling on a list, which is planned before any of it is evaluated."""

import numpy as np
from reference import exact_posterior, problem
from uncertainty import everything_explored, uncertainty_sampling

import noregret as nr

KERNEL = nr.RBF(0.3)


def test_min_batch_can_be_asked_for_in_parts():
    X, f, _ = problem(arms=40)
    whole = everything_explored(nr.BBKB(X, KERNEL, lam=1.0, norm=4.0, min_batch=10, seed=0))
    opt = nr.BBKB(X, KERNEL, lam=1.0, norm=4.0, min_batch=10, seed=0)
    parts = []
    while sum(map(len, parts)) < len(whole):
        batch = opt.ask(7)
        parts.append(batch.ids)
        opt.tell(batch, f[batch.ids])
    np.testing.assert_array_equal(np.concatenate(parts)[: len(whole)], whole)
    by_hand = uncertainty_sampling(KERNEL, X, 1.0, 10, whole[:1].tolist())
    np.testing.assert_array_equal(whole, by_hand)


def test_min_batch_explores_a_list_that_replaces_the_first():
    """What is left of the first plan is forgotten; the new list is explored with what is known."""
    X, f, _ = problem(arms=40)
    opt = nr.BBKB(X, KERNEL, lam=1.0, norm=4.0, min_batch=10, seed=0)
    batch = opt.ask(7)
    opt.tell(batch, f[batch.ids])
    opt.replace_candidates(X[:5])
    picks = opt.ask().ids
    arms = np.concatenate([X[batch.ids], X[:5][picks]])
    both, told = np.concatenate([X[:5], arms]), 5 + np.arange(len(arms))
    _, leverage = exact_posterior(KERNEL, both, told, np.zeros(len(told)), 1.0)
    assert leverage[:5].max() <= 1 / 10
    _, before = exact_posterior(KERNEL, both, told[:-1], np.zeros(len(told) - 1), 1.0)
    assert before[:5].max() > 1 / 10


def test_candidates_without_room_are_left_out_of_the_plan():
    X, f, _ = problem(arms=40)
    opt = nr.GPBUCB(X, KERNEL, lam=1.0, norm=4.0, min_batch=8, repeats=1, seed=0)
    aside = np.arange(0, 40, 4)
    opt.set_aside(aside)
    first = everything_explored(opt)
    picks, free = first[:1].tolist(), np.setdiff1d(np.arange(40), aside)
    while len(free := np.setdiff1d(free, picks)):
        _, leverage = exact_posterior(KERNEL, X, picks, np.zeros(len(picks)), 1.0)
        if leverage[free].max() <= 1 / 8:
            break
        picks.append(int(free[np.argmax(leverage[free])]))
    assert first.tolist() == picks


def test_candidates_that_are_set_aside_later_are_passed_over():
    X, _, _ = problem(arms=40)
    opts = [nr.GPBUCB(X, KERNEL, lam=1.0, norm=4.0, min_batch=8, seed=0) for _ in range(2)]
    whole = everything_explored(opts[0])[1:]
    opts[1].ask()
    assert opts[1].ask(4).ids.tolist() == whole[:4].tolist()
    rest, aside = whole[4:], np.unique(whole[4::3])
    opts[1].set_aside(aside)
    assert opts[1].ask().ids.tolist() == rest[~np.isin(rest, aside)].tolist()
