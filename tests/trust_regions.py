"""Runs with a trust region, for the tests of its moves and of the algorithm."""

import numpy as np

import noregret as nr

AUTO = {"noise": "auto", "norm": "auto"}


def cone(points, centre=0.7):
    """A sharp top, 1, at (centre, …)."""
    return 1.0 - np.abs(points - centre).max(axis=1)


def known(dimension=2, **options):
    """A run with a known kernel."""
    settings = {"noise": 0.05, "norm": 10.0, "width": 2.0, "seed": 0, **options}
    return nr.TrustRegionUCB(nr.Box([(0, 1)] * dimension), nr.Matern(0.3), **settings)


def learnt_run(f, count=40, **options):
    """A run that learns its settings from values of f at points spread over a square."""
    settings = {**AUTO, "width": 2.0, "seed": 0, **options}
    opt = nr.TrustRegionUCB(nr.Box([(0, 1)] * 2), "auto", **settings)
    X = nr.Box([(0, 1)] * 2).spread(count, np.random.default_rng(0))
    opt.tell(X, f(X))
    return opt, X
