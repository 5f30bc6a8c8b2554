"""Picks by functions drawn from the sparse posterior."""

import numpy as np

import noregret as nr


def test_sparse_thompson_finds_the_best_of_a_list():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    f = np.exp(-4 * np.square(X - [0.7, 0.2]).sum(axis=1))
    opt = nr.BBKB(X, nr.RBF(0.3), noise=0.05, norm=3.0, acquisition="thompson", seed=1)
    while opt.t < 200:
        batch = opt.ask(200 - opt.t)
        opt.tell(batch, f[batch.ids] + 0.05 * rng.standard_normal(len(batch)))
    assert f[opt.recommend().id] > 0.97 * f.max()
    assert f[opt.history.ids[-50:]].mean() > f[opt.history.ids[:50]].mean()


def test_a_batch_ends_by_the_leverages_of_the_batch_start():
    """Lemma 1: 1 + Σσ̃²_fb(x_s) > C̃ with the last pick, and bounds of the picks are those of now."""
    X = np.random.default_rng(0).uniform(size=(300, 2))
    options = {"lam": 1.0, "width": 2.0, "ratio": 3.0, "acquisition": "thompson"}
    opt = nr.BBKB(X, nr.RBF(0.3), seed=1, **options)
    for _ in range(5):
        mean, std = opt.predict()
        batch = opt.ask()
        if opt.t:
            drift = 1 + np.cumsum(std[batch.ids] ** 2)
            assert np.all(drift[:-1] <= 3.0)
            assert drift[-1] > 3.0
            np.testing.assert_allclose(batch.info.upper, (mean + 2.0 * std)[batch.ids])
        opt.tell(batch, X[batch.ids, 0])
    assert len(batch) > 1
    assert len(opt.ask(1)) == 1
