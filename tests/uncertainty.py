"""Algorithm 3 of BBKB, as the optimisers run it and with variances from scratch."""

import numpy as np
from reference import exact_posterior


def everything_explored(opt):
    """The ids of the first point, which is drawn at random, and of what Algorithm 3 adds to it."""
    return np.concatenate([opt.ask().ids, opt.ask().ids])


def uncertainty_sampling(kernel, X, lam, least, picks):
    """Algorithm 3 of BBKB with variances from scratch, after some first picks."""
    while True:
        _, leverage = exact_posterior(kernel, X, picks, np.zeros(len(picks)), lam)
        if leverage.max() <= 1 / least:
            return picks
        picks = [*picks, int(np.argmax(leverage))]
