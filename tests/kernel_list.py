"""One kernel of every kind, for the laws that all of them keep."""

import numpy as np
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.kernels import WithLogs, as_kernel

KERNELS = [
    nr.RBF(0.7),
    nr.RBF([0.5, 1.0, 2.0], variance=3.0),
    nr.Matern(0.7, nu=0.5),
    nr.Matern(0.7, nu=1.5),
    nr.Matern([0.5, 1.0, 2.0], nu=2.5, variance=0.5),
    nr.Matern(0.7, nu=0.8),
    nr.Matern(0.7, nu=7.3),
    nr.Linear(2.0, offset=1.0),
    nr.Hamming(0.5),
    nr.Columns(nr.Matern([0.5, 2.0]), [2, 0]) * nr.Columns(nr.Hamming([0.3]), [1]),
    WithLogs(nr.Matern([0.5, 1.0, 2.0, 1.0]), [1], [0.05]),
    nr.RBF(0.7) + nr.Linear(),
    nr.RBF(0.7) * nr.Matern(2.0) + 0.5 * nr.Linear(),
    as_kernel(sk.RBF(0.7) + sk.DotProduct()),
    as_kernel(lambda xs, ys: np.exp(-np.abs(xs[:, None] - ys[None]).sum(-1))),
]

#: kernels of points of two coordinates whose parameters are fitted
FITTED = [
    nr.RBF(0.4, variance=2.0),
    nr.Matern([0.3, 0.9], nu=2.5),
    nr.Matern([0.3, 0.9], nu=1.7),
    nr.Linear(2.0, offset=0.5),
    nr.RBF(0.5) + 3.0 * nr.Linear(),
    nr.RBF([0.5, 1.0]) * (nr.Matern(1.0) + nr.Linear(offset=1.0)),
    WithLogs(nr.Matern([0.3, 0.9, 1.5]), [1], [0.01]),
]
