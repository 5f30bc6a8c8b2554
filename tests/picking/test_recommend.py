"""Predictions and recommendations in the units of the rewards, beside a GP written out."""

import numpy as np
import pytest
from reference import exact_posterior, problem

import noregret as nr

KERNEL = nr.RBF(0.3)
#: settings that are learnt, from rewards in another unit
LEARNT = {"kernel": "auto", "noise": "auto", "norm": "auto", "scale": 9.0}


def played(steps=40, scale=1.0, **options):
    """An optimiser that was told ``steps`` rewards, some candidates several times."""
    X, f, rng = problem(arms=50)
    opt = nr.GPUCB(X, **{"kernel": KERNEL, "noise": 0.1, "width": 2.0, "seed": 0, **options})
    ids = rng.integers(50, size=steps)
    opt.tell(ids, 70.0 + scale * (f[ids] + 0.1 * rng.standard_normal(steps)))
    opt.cancel(opt.ask())
    return opt


def written_out(opt, where):
    """Mean and deviation at points, from the assumptions in use."""
    assumed, history = opt.assumed, opt.history
    both = np.concatenate([where, history.points])
    rows = len(where) + np.arange(opt.t)
    y = (history.rewards - assumed.shift) / assumed.unit
    mean, leverage = exact_posterior(assumed.kernel, both, rows, y, assumed.lam)
    found = mean, np.sqrt(assumed.lam * np.maximum(leverage, 0))
    return assumed.shift + assumed.unit * found[0][: len(where)], assumed.unit * found[1][
        : len(where)
    ]


@pytest.mark.parametrize("options", [{}, LEARNT], ids=str)
def test_predictions_are_in_the_units_of_the_rewards(options):
    opt = played(**options)
    assert (opt.assumed.shift != 0) == bool(options)
    beside = np.random.default_rng(1).uniform(size=(9, 2))
    mean, std = written_out(opt, np.concatenate([opt.domain.points, beside]))
    np.testing.assert_allclose(opt.predict(), [mean[:50], std[:50]], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(opt.predict([4, 9]), [mean[[4, 9]], std[[4, 9]]], atol=1e-6)
    np.testing.assert_allclose(opt.predict_points(beside), [mean[50:], std[50:]], atol=1e-6)
    told = np.unique(opt.history.ids)
    order = told[np.argsort(-(mean - 2 * std)[told])]
    for best, id_ in zip(opt.top(5), order, strict=False):
        interval = mean[id_], mean[id_] - 2 * std[id_], mean[id_] + 2 * std[id_]
        assert (best.id, best.gap >= 0) == (id_, True)
        assert (best.mean, best.lower, best.upper) == pytest.approx(interval, abs=1e-5)
        others = np.delete((mean + 2 * std)[:50], id_).max()
        assert best.gap == pytest.approx(max(others - best.lower, 0.0), abs=1e-4)


def test_a_recommendation_says_what_was_measured():
    opt = played()
    ids, rewards = opt.history.ids, opt.history.rewards
    for best in opt.top(50):
        own = rewards[ids == best.id]
        assert best.evaluations == len(own) > 0
        assert best.measured == pytest.approx(own.mean())
        np.testing.assert_array_equal(best.point, opt.domain.points[best.id])


def test_rewards_in_place_of_failures_were_not_measured():
    opt = nr.GPUCB(np.arange(9.0)[:, None], nr.RBF(0.1), noise=0.05, width=2.0, seed=0)
    opt.tell([0, 1, 1], [0.5, 1.0, 3.0])
    for id_ in (8, 8, 1, 1, 1, 1):  # the last of each: it had failed more often than not
        opt.expect([id_])
        opt.fail([id_])
    assert opt.t == 5
    found = {best.id: (best.evaluations, best.measured) for best in opt.top(9)}
    assert found == {0: (1, 0.5), 1: (2, 2.0), 8: (0, None)}


def test_nothing_was_measured_before_the_first_reward():
    best = nr.GPUCB(np.eye(3), KERNEL, seed=0).recommend()
    assert (best.evaluations, best.measured) == (0, None)


@pytest.mark.parametrize("options", [{}, LEARNT], ids=str)
@pytest.mark.parametrize("k", [2, 5])
def test_how_much_better_than_the_worst_of_the_best_another_can_be(k, options):
    opt = played(**options)
    mean, std = written_out(opt, opt.domain.points)
    best = [one.id for one in opt.top(k)]
    highest = np.delete(mean + 2 * std, best).max()
    assert opt.top_gap(k) == pytest.approx(highest - (mean - 2 * std)[best].min(), abs=1e-5)


def test_without_enough_rewards_any_other_belongs_to_the_best():
    opt = played(steps=1)
    assert opt.top_gap(2) == np.inf
    every = nr.GPUCB(np.eye(2), KERNEL, seed=0)
    every.tell([0, 1], [0.0, 1.0])
    assert every.top_gap(2) == every.top_gap(3) == 0.0
    with pytest.raises(ValueError, match="a box has none to count"):
        nr.GPUCB(nr.Box([(0, 1)]), KERNEL, seed=0).top_gap(1)


@pytest.mark.parametrize("width", ["paper", "theory"])
def test_once_the_norm_is_refuted_intervals_are_wide_and_gaps_infinite(width):
    X, f, _ = problem(arms=50)
    opt = nr.GPUCB(X, KERNEL, noise=0.1, norm=0.01, width=width, lam=0.01, seed=0)
    opt.tell(np.arange(50), f)
    with pytest.warns(RuntimeWarning, match="contradict"):
        opt.cancel(opt.ask())
    mean, std = opt.predict()
    reach = max(opt.beta, 2.0) * std
    for best in opt.top(3):
        interval = [mean[best.id] - reach[best.id], mean[best.id] + reach[best.id]]
        assert [best.lower, best.upper] == pytest.approx(interval)
        assert best.gap == np.inf
    assert opt.top_gap(3) == np.inf
