"""The papers' algorithms, each a sentence made of the other layers' words."""

from noregret.algorithms.base import Optimizer, algorithms, make
from noregret.algorithms.bkb import BBKB, BKB
from noregret.algorithms.evolution import RegularizedEvolution
from noregret.algorithms.gpucb import GPBUCB, GPUCB
from noregret.algorithms.greedy import EpsilonGreedy
from noregret.algorithms.heavy import ATAGPUCB, TGPUCB
from noregret.algorithms.huber import HuberGPUCB
from noregret.algorithms.pigpucb import IGPUCB, PiGPUCB
from noregret.algorithms.robust import RobustUCB
from noregret.algorithms.thompson import AsyncTS, ThompsonSampling
from noregret.algorithms.trust_region import TrustRegionUCB
from noregret.algorithms.uniform import Uniform

__all__ = [
    "ATAGPUCB",
    "BBKB",
    "BKB",
    "GPBUCB",
    "GPUCB",
    "IGPUCB",
    "TGPUCB",
    "AsyncTS",
    "EpsilonGreedy",
    "HuberGPUCB",
    "Optimizer",
    "PiGPUCB",
    "RegularizedEvolution",
    "RobustUCB",
    "ThompsonSampling",
    "TrustRegionUCB",
    "Uniform",
    "algorithms",
    "make",
]
