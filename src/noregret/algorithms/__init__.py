"""The papers' algorithms, each a sentence made of the other layers' words."""

from noregret.algorithms.base import Optimizer, algorithms, make
from noregret.algorithms.bkb import BBKB, BKB
from noregret.algorithms.gpucb import GPBUCB, GPUCB
from noregret.algorithms.thompson import AsyncTS, ThompsonSampling
from noregret.algorithms.uniform import Uniform

__all__ = [
    "BBKB",
    "BKB",
    "GPBUCB",
    "GPUCB",
    "AsyncTS",
    "Optimizer",
    "ThompsonSampling",
    "Uniform",
    "algorithms",
    "make",
]
