"""noregret: find the best of many noisy choices, and know what is proved."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.algorithms import (
        ATAGPUCB,
        BBKB,
        BKB,
        GPBUCB,
        GPUCB,
        IGPUCB,
        TGPUCB,
        AsyncTS,
        ClippedGPUCB,
        EpsilonGreedy,
        HuberGPUCB,
        PiGPUCB,
        PlateUCB,
        RegularizedEvolution,
        RobustUCB,
        ThompsonSampling,
        TrustRegionUCB,
        Uniform,
        load,
        make,
    )
    from noregret.experiments.compare import compare
    from noregret.kernels import (
        RBF,
        Columns,
        Hamming,
        Kernel,
        Linear,
        Matern,
        Precomputed,
        Tanimoto,
    )
    from noregret.learning.fit import Fit, Priors, fit_kernel
    from noregret.optimizer import Optimizer
    from noregret.reporting import plot
    from noregret.results import Batch, BatchInfo, History, Recommendation
    from noregret.rewards.diagnosis import TailReport, diagnose_tails
    from noregret.spaces import Bool, Box, Candidates, Choice, Float, Int, Space
    from noregret.spaces import chem as chem
    from noregret.study import RunError, Study, StudyError
    from noregret.study.evaluating.progress import Progress
    from noregret.study.maximize import maximize, minimize
    from noregret.study.result import Result
    from noregret.widths.evidence import Evidence

__version__ = "0.2.0"

#: where each public name lives; a module is imported when one of its names is first used
_HOMES = {
    "experiments.compare": ("compare",),
    "algorithms": (
        "ATAGPUCB", "BBKB", "BKB", "GPBUCB", "GPUCB", "IGPUCB", "TGPUCB", "AsyncTS",
        "ClippedGPUCB", "EpsilonGreedy", "HuberGPUCB", "PiGPUCB", "PlateUCB",
        "RegularizedEvolution", "RobustUCB",
        "ThompsonSampling", "TrustRegionUCB", "Uniform", "load", "make",
    ),
    "kernels": (
        "RBF", "Columns", "Hamming", "Kernel", "Linear", "Matern", "Precomputed", "Tanimoto",
    ),
    "learning.fit": ("Fit", "Priors", "fit_kernel"),
    "optimizer": ("Optimizer",),
    "results": ("Batch", "BatchInfo", "History", "Recommendation"),
    "rewards.diagnosis": ("TailReport", "diagnose_tails"),
    "spaces": ("Bool", "Box", "Candidates", "Choice", "Float", "Int", "Space"),
    "study": ("RunError", "Study", "StudyError"),
    "study.evaluating.progress": ("Progress",),
    "study.maximize": ("maximize", "minimize"),
    "study.result": ("Result",),
    "widths.evidence": ("Evidence",),
}  # fmt: skip
#: the folders of modules that are public names
_MODULES = {"chem": "spaces", "plot": "reporting"}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

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
    "Bool",
    "Box",
    "Candidates",
    "Choice",
    "ClippedGPUCB",
    "Columns",
    "EpsilonGreedy",
    "Evidence",
    "Fit",
    "Float",
    "Hamming",
    "History",
    "HuberGPUCB",
    "Int",
    "Kernel",
    "Linear",
    "Matern",
    "Optimizer",
    "PiGPUCB",
    "PlateUCB",
    "Precomputed",
    "Priors",
    "Progress",
    "Recommendation",
    "RegularizedEvolution",
    "Result",
    "RobustUCB",
    "RunError",
    "Space",
    "Study",
    "StudyError",
    "TailReport",
    "Tanimoto",
    "ThompsonSampling",
    "TrustRegionUCB",
    "Uniform",
    "compare",
    "diagnose_tails",
    "fit_kernel",
    "load",
    "make",
    "maximize",
    "minimize",
    "plot",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"noregret.{_MODULES[name]}.{name}")
    if name not in _HOME_OF:
        # With these two Python itself adds the nearest name.
        raise AttributeError(
            f"module 'noregret' has no attribute {name!r}", name=name, obj=sys.modules[__name__]
        )
    value = getattr(import_module(f"noregret.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
