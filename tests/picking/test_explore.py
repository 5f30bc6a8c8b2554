"""Exploring first: Algorithm 3 of BBKB, and what it promises of the batches after it."""

import numpy as np
import pytest
from reference import exact_posterior, problem
from uncertainty import everything_explored, uncertainty_sampling

import noregret as nr

KERNEL = nr.RBF(0.3)


def test_min_batch_explores_first_and_then_keeps_its_promise():
    X, f, rng = problem(arms=120)
    least = 30
    opt = nr.BBKB(
        X,
        KERNEL,
        noise=0.1,
        lam=1.0,
        ratio=2.0,
        min_batch=least,
        width="practical",
        qbar="theory",
        norm=4.0,
        seed=0,
    )
    first = everything_explored(opt)
    _, leverage = exact_posterior(KERNEL, X, first, np.zeros(len(first)), 1.0)
    assert leverage.max() <= 1 / least
    _, before = exact_posterior(KERNEL, X, first[:-1], np.zeros(len(first) - 1), 1.0)
    assert before.max() > 1 / least
    opt.tell(first, f[first])
    for _ in range(15):
        batch = opt.ask()
        assert len(batch) >= least * (2.0 - 1) / 3
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))


@pytest.mark.parametrize(
    ("rule", "shortest"), [("product", 15 * np.log(2)), ("global", 15), ("local", 15)]
)
def test_min_batch_of_the_exact_gp(rule, shortest):
    X, f, rng = problem(arms=120)
    opt = nr.GPBUCB(X, KERNEL, noise=0.1, lam=1.0, norm=4.0, batch_rule=rule, min_batch=15, seed=0)
    first = everything_explored(opt)
    assert list(first) == uncertainty_sampling(KERNEL, X, 1.0, 15, [int(first[0])])
    opt.tell(first, f[first])
    for _ in range(5):
        batch = opt.ask()
        assert len(batch) >= shortest
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))


@pytest.mark.parametrize("width", ["practical", "theory"])
@pytest.mark.parametrize("dictionary", ["grow", "resample"])
def test_min_batch_keeps_its_promise_with_a_practical_dictionary(width, dictionary):
    """P(C̃ − 1)/3 = 8 points at least (A.5), though q̄ = 2 is far below the theorem's."""
    X, f, rng = problem(arms=120)
    options = {"min_batch": 24, "width": width, "dictionary": dictionary, "norm": 3.0}
    opt = nr.BBKB(X, KERNEL, noise=0.1, lam=1.0, seed=0, **options)
    first = everything_explored(opt)
    opt.tell(first, f[first])
    lengths = []
    for _ in range(20):
        batch = opt.ask()
        lengths.append(len(batch))
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
    assert min(lengths) >= 8


@pytest.mark.parametrize("listed", [True, False])
def test_exploring_goes_on_after_a_file(listed, tmp_path):
    """A list's plan is kept; a box is searched on."""
    X, _, _ = problem(arms=40)
    domain = X if listed else nr.Box([(0, 1)] * 2)
    opt = nr.GPBUCB(domain, KERNEL, lam=1.0, norm=4.0, min_batch=10, seed=0)
    for _ in range(2):
        opt.tell(batch := opt.ask(5), np.zeros(len(batch)))
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    for _ in range(3):
        picks, same = opt.ask(5), again.ask(5)
        np.testing.assert_array_equal(picks.points, same.points)
        opt.tell(picks, np.zeros(len(picks)))
        again.tell(same, np.zeros(len(same)))
    sampled = [event for event in again.events if event["event"].startswith("uncertainty")]
    assert len(sampled) == int(listed)
