"""noregret: optimise noisy black boxes over long lists of choices, with guarantees."""

from noregret.algorithms import BBKB, BKB, GPBUCB, GPUCB, Optimizer, Uniform, make
from noregret.domains import Box, Candidates
from noregret.kernels import RBF, Kernel, Linear, Matern, Precomputed
from noregret.results import Batch, BatchInfo, History, Recommendation
from noregret.serialization import load
from noregret.storage import StudyError
from noregret.study import Study

__version__ = "0.1.0"

__all__ = [
    "BBKB",
    "BKB",
    "GPBUCB",
    "GPUCB",
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
    "Precomputed",
    "Recommendation",
    "Study",
    "StudyError",
    "Uniform",
    "load",
    "make",
]
