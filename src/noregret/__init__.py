"""noregret: optimise noisy black boxes over long lists of choices, with guarantees."""

from noregret.algorithms import (
    BBKB,
    BKB,
    GPBUCB,
    GPUCB,
    AsyncTS,
    Optimizer,
    ThompsonSampling,
    Uniform,
    make,
)
from noregret.domains import Box, Candidates
from noregret.kernels import RBF, Kernel, Linear, Matern, Precomputed
from noregret.models.hyper import Fit, Priors, fit_kernel
from noregret.optimize import Result, maximize, minimize
from noregret.results import Batch, BatchInfo, History, Recommendation
from noregret.serialization import load

__version__ = "0.1.0"

__all__ = [
    "BBKB",
    "BKB",
    "GPBUCB",
    "GPUCB",
    "RBF",
    "AsyncTS",
    "Batch",
    "BatchInfo",
    "Box",
    "Candidates",
    "Fit",
    "History",
    "Kernel",
    "Linear",
    "Matern",
    "Optimizer",
    "Precomputed",
    "Priors",
    "Recommendation",
    "Result",
    "ThompsonSampling",
    "Uniform",
    "fit_kernel",
    "load",
    "make",
    "maximize",
    "minimize",
]
