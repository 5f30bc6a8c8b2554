"""Graphs as dicts of neighbours: arbitrary Python objects for the tests."""

import numpy as np


def path(n):
    return {i: {j for j in (i - 1, i + 1) if 0 <= j < n} for i in range(n)}


def star(n):
    return {0: set(range(1, n)), **{i: {0} for i in range(1, n)}}


def largest_degree(graph):
    return max(map(len, graph.values()))


def degree_kernel(xs, ys):
    """Gaussian kernel on the largest degree and the size."""
    left, right = (
        np.array([[largest_degree(g), len(g)] for g in graphs], dtype=float) for graphs in (xs, ys)
    )
    return np.exp(-((left[:, None] - right[None]) ** 2).sum(-1) / 20)
