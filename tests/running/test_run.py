"""Runs: evaluations that fail, batches told late, and runs that are told again."""

import numpy as np
import pytest

import noregret as nr


def test_only_what_is_pending_can_fail():
    opt = nr.GPUCB(np.arange(5.0)[:, None], nr.RBF(1.0), seed=0)
    with pytest.raises(ValueError, match=r"must be pending .* position 0 are not"):
        opt.fail([1])
    opt.expect([1, 2])
    with pytest.raises(ValueError, match="position 1, 2 are not"):
        opt.cancel([1, 4, 3])
    assert opt.pending == 2


X = np.random.default_rng(0).uniform(size=(80, 2))


@pytest.mark.parametrize(
    "domain",
    [X, X.astype(np.float32), nr.Box([(0, 1)] * 2), nr.Box({"a": (0, 1), "b": (0, 1)})],
    ids=["list", "float32", "box", "named box"],
)
def test_a_function_that_changes_its_argument_does_not_change_the_batch(domain):
    opt = nr.GPUCB(domain, nr.RBF(0.3), noise=0.1, seed=0)
    batch = opt.ask(3)
    asked = batch.points.copy()

    def halve(x):
        for name in x if isinstance(x, dict) else range(len(x)):
            x[name] /= 2
        return 0.0

    opt.tell(batch, [halve(x) for x in batch.values])
    assert opt.pending == 0
    np.testing.assert_array_equal(opt.history.points, asked)
    np.testing.assert_array_equal(batch.points, asked)
    for part in (batch, batch[:2]):
        with pytest.raises(ValueError, match="read-only"):
            part.points[0] = 0.5
        with pytest.raises(ValueError, match="read-only"):
            part.ids[0] = 5


def test_a_batch_of_another_optimiser_is_refused_after_the_list_was_replaced():
    own, other = (nr.GPUCB(X, nr.RBF(0.3), noise=0.1, seed=seed) for seed in (0, 1))
    mine, foreign = own.ask(4), other.ask(3)
    own.replace_candidates(X[:20])
    for call in (lambda: own.tell(foreign, [7.0, 8.0, 9.0]), lambda: own.cancel(foreign)):
        with pytest.raises(ValueError, match="another optimiser or another list"):
            call()
    assert (own.t, own.pending) == (0, 4)
    own.tell(mine[1:3], [1.0, 2.0])
    np.testing.assert_array_equal(own.history.points, mine.points[1:3])


def test_batches_of_words_are_told_after_the_list_was_replaced():
    def same(X, Y):
        return (X[:, None] == Y[None]).astype(float)

    own, other = (nr.GPUCB(list("abcdefgh"), same, noise=0.1, seed=seed) for seed in (0, 1))
    mine, foreign = own.ask(3), other.ask(3)
    assert mine.points.tolist() != foreign.points.tolist()
    own.replace_candidates(list("xyz"))
    with pytest.raises(ValueError, match="another optimiser or another list"):
        own.tell(foreign, [1.0, 2.0, 3.0])
    own.tell(mine, [1.0, 2.0, 3.0])
    assert own.history.points.tolist() == mine.points.tolist()


def test_pending_points_of_a_replaced_list_cannot_be_asked_for_again():
    opt = nr.GPUCB(X, nr.RBF(0.3), noise=0.1, seed=0)
    batch = opt.ask(2)
    opt.replace_candidates(X[:25])
    with pytest.raises(ValueError, match=r"a list that has been replaced are pending.*cancel them"):
        opt.replace(noise=0.2)
    opt.cancel(batch)
    assert opt.replace(noise=0.2).noise == 0.2


@pytest.mark.parametrize("listed", [True, False])
def test_a_failure_that_is_not_pending_any_more_is_told_again(listed):
    opt = nr.GPUCB(X if listed else nr.Box([(0, 1)] * 2), nr.RBF(0.3), width=2.0, seed=0)
    batch = opt.ask(1)
    opt.fail(batch)
    opt.cancel(batch)
    same = opt.replace(noise=0.2)
    assert same.pending == 0
    assert same.failing(1).tolist() == opt.failing(1).tolist() == (batch.ids.tolist() * listed)
    if listed:
        opt.replace_candidates(X[:25])
        assert opt.replace(noise=0.3).failing(1).tolist() == []


@pytest.mark.parametrize("name", ["bbkb", "tgpucb", "pigpucb"])
def test_uniform_draws_expected_after_a_look_are_known_to_the_next_fit(name):
    X = np.random.default_rng(0).uniform(size=(60, 2))

    def played(*, looks):
        opt = nr.make(name, X, "auto", noise="auto", norm="auto", seed=0)
        batch = opt.ask(4, fill=True)
        opt.tell(batch, np.sin(4 * batch.points[:, 0]))
        if looks:
            opt.recommend()
        again = np.resize(batch.ids, 8)
        opt.expect(again, uniform=True)
        opt.tell(opt.ask(3, fill=True), np.zeros(3))
        opt.tell(again, np.sin(4 * X[again, 0]))
        return opt.ask(3).ids.tolist(), list(opt.beliefs.learner.random)

    assert played(looks=True) == played(looks=False)
