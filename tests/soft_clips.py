"""The soft clip of Theorem 8, and its expectations over a Gaussian by a fine sum."""

import numpy as np

from noregret.widths import soft_clip

NODES = np.linspace(-9, 9, 6001)


def clip(w, order=2.0):
    return soft_clip.odd(w, order) + soft_clip.even(w, order)


def expected(function, z, c):
    """E function(z(c + ξ)) for a standard Gaussian ξ, by a fine sum."""
    weights = np.exp(-0.5 * NODES**2)
    return float(function(z * (c + NODES)) @ weights / weights.sum())
