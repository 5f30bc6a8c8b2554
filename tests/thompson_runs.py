"""Runs of Thompson sampling, as its tests need them."""

import numpy as np


def run(opt, f, sigma, rounds, seed):
    """Ask and tell; the mode of F_t after the first round and the last."""
    rng = np.random.default_rng(seed)
    modes = []
    for i in range(rounds):
        batch = opt.ask()
        opt.tell(batch, f(batch.points) + sigma * rng.standard_normal(len(batch)))
        if i in (0, rounds - 1):
            modes.append(opt.recommend().point)
    return np.array(modes)
