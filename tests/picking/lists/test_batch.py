"""Lists that sleep: pick for pick the same as looking at every candidate."""

import numpy as np
import pytest
from dense import CASES, KERNEL, beside, play
from reference import exact_posterior, problem

import noregret as nr


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lam": 0.05},
        {"width": 2.0},
        {"width": 2.0, "bounds": "intersected"},
        {"bounds": "current"},
    ],
    ids=str,
)
def test_every_pick_has_the_largest_bound_of_the_list(case, options):
    X, f, _ = problem(3, arms=150)
    dense = play(beside(case, X, **options), f)
    assert dense.clear > 8  # picks that no tie leaves open


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("width", "repeats"), [("theory", 1), (2.0, 2)])
def test_candidates_that_may_not_be_repeated_are_passed_over(case, width, repeats):
    X, f, _ = problem(3, arms=150)
    dense = play(beside(case, X, width=width, repeats=repeats), f)
    assert dense.clear > 8


@pytest.mark.parametrize("case", ["gpucb", "bbkb", "gpbucb product"])
@pytest.mark.parametrize("options", [{}, {"width": 2.0}, {"width": 2.0, "repeats": 2}], ids=str)
def test_looking_for_the_best_few(case, options):
    X, f, _ = problem(3, arms=150)
    dense = play(beside(case, X, aim=4, **options), f, rounds=20)
    assert dense.clear > 8
    assert dense.led  # picks of the best few, where they are less certain


def test_the_whole_list_is_measured_and_no_more():
    X, f, _ = problem(3, arms=70)
    dense = beside("bbkb", X, width=2.0, repeats=1)
    seen = []
    while not dense.opt.exhausted:
        batch = dense.ask(30, fill=True)
        seen += batch.ids.tolist()
        dense.tell(batch, f[batch.ids])
    assert sorted(seen) == list(range(70))


@pytest.mark.parametrize("case", ["gpucb", "bbkb"])
@pytest.mark.parametrize("width", ["theory", 2.0])
@pytest.mark.parametrize("arms", [1, 2, 63, 64, 65])
def test_short_lists(case, width, arms):
    X, f, _ = problem(3, arms=arms)
    assert play(beside(case, X, width=width), f).checked > 12


@pytest.mark.parametrize("case", ["gpucb", "bkb", "bbkb"])
@pytest.mark.parametrize("width", ["theory", 2.0])
def test_a_longer_list_is_looked_at_in_pieces(case, width):
    X, f, _ = problem(4, arms=5000)
    dense = play(beside(case, X, width=width), f, rounds=5)
    assert dense.clear > 5


@pytest.mark.parametrize("case", ["gpucb", "bkb resample", "gpbucb product", "bbkb"])
@pytest.mark.parametrize("width", ["theory", 2.0])
def test_equal_candidates_are_picked_as_in_the_dense_run(case, width):
    X, f, _ = problem(3, arms=30)
    dense = play(beside(case, np.repeat(X, 4, axis=0), width=width), np.repeat(f, 4))
    assert dense.checked > 12
    assert dense.clear < dense.checked  # ties there were


@pytest.mark.parametrize("case", ["gpucb", "bkb", "bbkb", "gpbucb global"])
@pytest.mark.parametrize(
    "learnt",
    [
        {"kernel": "auto", "noise": "auto", "norm": "auto"},
        {"noise": "auto", "norm": 60.0},
        {"norm": "auto", "bounds": "intersected"},
    ],
    ids=str,
)
def test_picks_with_learnt_settings_have_the_largest_bound(case, learnt):
    X, f, _ = problem(5, arms=100)
    dense = play(beside(case, X, **learnt), 3.0 + 5.0 * f, rounds=20)
    assert "fit" in {event["event"] for event in dense.opt.events}
    assert dense.clear > 5


def with_rewards(batch, f):
    return batch, f[batch.ids]


def test_a_dictionary_that_is_drawn_afresh():
    """The weights of the past say nothing of another dictionary: candidates wake up."""
    X, f, rng = problem(arms=400)
    dense = beside("bbkb", X, nr.RBF(0.1), lam=0.3, width=2.0, qbar=1.0)
    for part in np.split(rng.permutation(400)[:300], 10):
        dense.tell(part, f[part])
        dense.tell(*with_rewards(dense.ask(2), f))
    for _ in range(10):
        dense.tell(*with_rewards(dense.ask(5), f))
    assert "compact" in {event["event"] for event in dense.opt.events}
    assert dense.clear > 15


def test_ties_go_to_the_smaller_id():
    X = np.repeat(np.arange(6.0), 3)[:, None]
    for width in (1.0, "theory"):
        opt = nr.GPUCB(X, nr.RBF(0.01), lam=0.1, width=width, norm=3.0, seed=0)
        opt.tell([0], [-1.0])
        assert opt.ask(5).ids.tolist() == [3, 6, 9, 12, 15]


@pytest.mark.parametrize("width", ["theory", 2.0])
def test_few_candidates_of_a_long_list_are_looked_at(width):
    """That is what sleeping is for. Every look computes the kernel of the candidate."""
    X, f, rng = problem(arms=20_000)
    rows = []

    def kernel(xs, ys):
        rows.append(max(len(xs), len(ys)))
        return nr.RBF(0.5)(xs, ys)

    opt = nr.BBKB(X, kernel, noise=0.1, norm=4.0, width=width, seed=0)
    for i in range(60):
        batch = opt.ask(20)
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
        if i == 29:
            rows.clear()
    assert sum(rows) < 0.15 * 30 * len(X)


@pytest.mark.parametrize("width", ["theory", 2.0])
def test_a_kernel_that_fails_now_and_then_changes_no_rule(width):
    calls = {"left": 10**9}

    def kernel(xs, ys):
        calls["left"] -= 1
        if calls["left"] < 0:
            raise ConnectionError
        return KERNEL(xs, ys)

    X, f, rng = problem(3, arms=100)
    dense = beside("bkb", X, kernel, width=width)
    failed = 0
    for i in range(40):
        dense.tell([i], [f[i]])
        calls["left"] = i % 6
        try:
            dense.opt.cancel(dense.opt.ask(1))
        except ConnectionError:
            failed += 1
        calls["left"] = 10**9
        if dense.intersected:
            continue  # what a batch that nobody saw has brought up to date is not known
        dense.tell(*with_rewards(dense.ask(1), f))
    assert failed > 10
    mean, _ = exact_posterior(KERNEL, X, dense.opt.history.ids, dense.opt.history.rewards, 0.01)
    assert np.abs(dense.opt.predict()[0] - mean).max() < 0.2


def test_of_equal_bounds_the_largest_mean_is_picked():
    X = np.linspace(0.0, 1.0, 40)[:, None]
    opt = nr.GPUCB(X, nr.RBF(0.2), noise=0.3, norm=1.0, lam=0.1, delta=0.1, seed=0)
    opt.tell([30, 3], [0.7, -0.5])
    mean, std = opt.predict()
    bound = np.minimum(1.0, mean + opt.beta * std)  # the prior bound is F√k(x, x) = 1
    ties = np.flatnonzero(bound == bound.max())
    assert len(ties) > 5
    assert opt.ask().ids.tolist() == [ties[np.argmax(mean[ties])]]
