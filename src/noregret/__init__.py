"""noregret: optimise noisy black boxes over long lists of choices, with guarantees."""

from noregret import plot
from noregret.algorithms import (
    ATAGPUCB,
    BBKB,
    BKB,
    GPBUCB,
    GPUCB,
    IGPUCB,
    TGPUCB,
    HuberGPUCB,
    Optimizer,
    PiGPUCB,
    RobustUCB,
    Uniform,
    make,
)
from noregret.domains import Box, Candidates
from noregret.kernels import RBF, Kernel, Linear, Matern, Precomputed
from noregret.results import Batch, BatchInfo, History, Recommendation
from noregret.serialization import load
from noregret.storage import StudyError
from noregret.study import Study
from noregret.tails import TailReport, diagnose_tails

__version__ = "0.1.0"

__all__ = [
    "ATAGPUCB",
    "BBKB",
    "BKB",
    "GPBUCB",
    "GPUCB",
    "IGPUCB",
    "RBF",
    "TGPUCB",
    "Batch",
    "BatchInfo",
    "Box",
    "Candidates",
    "History",
    "HuberGPUCB",
    "Kernel",
    "Linear",
    "Matern",
    "Optimizer",
    "PiGPUCB",
    "Precomputed",
    "Recommendation",
    "RobustUCB",
    "Study",
    "StudyError",
    "TailReport",
    "Uniform",
    "diagnose_tails",
    "load",
    "make",
    "plot",
]
