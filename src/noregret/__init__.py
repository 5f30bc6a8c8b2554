"""noregret: optimise noisy black boxes over long lists of choices, with guarantees."""

from noregret.algorithms import (
    ATAGPUCB,
    BBKB,
    BKB,
    GPBUCB,
    GPUCB,
    IGPUCB,
    TGPUCB,
    AsyncTS,
    EpsilonGreedy,
    HuberGPUCB,
    Optimizer,
    PiGPUCB,
    RegularizedEvolution,
    RobustUCB,
    ThompsonSampling,
    TrustRegionUCB,
    Uniform,
    make,
)
from noregret.kernels import RBF, Kernel, Linear, Matern, Precomputed
from noregret.learning.fit import Fit, Priors, fit_kernel
from noregret.optimize import Result, maximize, minimize
from noregret.reporting import plot
from noregret.results import Batch, BatchInfo, History, Recommendation
from noregret.rewards.diagnosis import TailReport, diagnose_tails
from noregret.spaces import Box, Candidates
from noregret.state import load
from noregret.study import Study, StudyError

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
    "AsyncTS",
    "Batch",
    "BatchInfo",
    "Box",
    "Candidates",
    "EpsilonGreedy",
    "Fit",
    "History",
    "HuberGPUCB",
    "Kernel",
    "Linear",
    "Matern",
    "Optimizer",
    "PiGPUCB",
    "Precomputed",
    "Priors",
    "Recommendation",
    "RegularizedEvolution",
    "Result",
    "RobustUCB",
    "Study",
    "StudyError",
    "TailReport",
    "ThompsonSampling",
    "TrustRegionUCB",
    "Uniform",
    "diagnose_tails",
    "fit_kernel",
    "load",
    "make",
    "maximize",
    "minimize",
    "plot",
]
