"""noregret: optimise noisy black boxes over long lists of choices, with guarantees."""

from noregret import plot
from noregret.algorithms import (
    BBKB,
    BKB,
    GPBUCB,
    GPUCB,
    IGPUCB,
    Optimizer,
    PiGPUCB,
    Uniform,
    make,
)
from noregret.domains import Box, Candidates
from noregret.kernels import RBF, Kernel, Linear, Matern, Precomputed
from noregret.results import Batch, BatchInfo, History, Recommendation
from noregret.serialization import load

__version__ = "0.1.0"

__all__ = [
    "BBKB",
    "BKB",
    "GPBUCB",
    "GPUCB",
    "IGPUCB",
    "RBF",
    "Batch",
    "BatchInfo",
    "Box",
    "Candidates",
    "History",
    "Kernel",
    "Linear",
    "Matern",
    "Optimizer",
    "PiGPUCB",
    "Precomputed",
    "Recommendation",
    "Uniform",
    "load",
    "make",
    "plot",
]
