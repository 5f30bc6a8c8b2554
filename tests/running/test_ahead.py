"""What a look has computed is used until more is told."""

import io

import numpy as np

import noregret as nr
from noregret.running.ahead import LookedAhead

X = np.random.default_rng(0).uniform(size=(30, 2))
F = np.sin(5 * X).sum(axis=1)


def test_it_is_current_until_more_is_told():
    opt = nr.GPUCB(X, nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
    opt.tell(np.arange(10), F[:10])
    now = opt.situation()
    ahead = LookedAhead(opt.t, now.beliefs, now.rng, [])
    assert ahead.is_current(now.observations)
    opt.tell([20], F[20:21])
    assert not ahead.is_current(opt.situation().observations)


def test_only_fits_are_worth_a_file():
    for kernel, fitted in ((nr.RBF(0.3), False), ("auto", True)):
        opt = nr.PlateUCB(X, kernel, noise=0.1, norm=2.0, seed=0)
        opt.tell(np.arange(20), F[:20])
        opt.recommend()
        assert opt.save_look(io.BytesIO()) is fitted
