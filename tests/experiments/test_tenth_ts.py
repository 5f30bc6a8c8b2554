"""Draws that lie a tenth of the width from the mean."""

import numpy as np
import pytest

import noregret as nr
from noregret.experiments.tenth_ts import TenthTS


@pytest.fixture
def told():
    """Makes an optimiser that knows a fifth of a list."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.0, 1.0, (80, 2))
    f = np.sin(3 * X[:, 0]) + X[:, 1]
    ids = np.arange(0, 80, 5)

    def make(kind, **options):
        opt = kind(X, nr.RBF(1.0), noise=0.1, seed=0, **options)
        opt.tell(ids, f[ids])
        return opt

    return make


def shares(opt, draws=2000):
    """How often each candidate is picked."""
    return np.bincount(opt.ask(draws).ids, minlength=80) / draws


def test_with_a_width_of_ten_draws_are_those_of_the_posterior(told):
    ours = shares(told(TenthTS, width=10.0))
    theirs = shares(told(nr.AsyncTS, width=10.0))
    assert (theirs > 0).sum() > 2
    assert np.abs(ours - theirs).sum() < 0.15  # two samples of 2,000: about 0.06


def test_with_no_width_draws_are_the_mean(told):
    opt = told(TenthTS, width=0.0)
    mean, _ = opt.predict()
    assert set(opt.ask(50).ids) == {int(mean.argmax())}


def test_the_first_draws_are_uniform():
    opt = TenthTS(np.arange(30.0)[:, None], nr.RBF(1.0), n_init=10, seed=0)
    batch = opt.ask(10)
    assert batch.uniform
    opt.tell(batch, np.zeros(10))
    assert not opt.ask(5).uniform
