"""How alike are two choices? Kernels k(x, y), their sums and products, and adapters."""

from noregret.kernels.adapters import FunctionKernel, SklearnKernel, as_kernel
from noregret.kernels.base import Kernel, Product, Sum
from noregret.kernels.other import Linear, Precomputed
from noregret.kernels.stationary import RBF, Matern

__all__ = [
    "RBF",
    "FunctionKernel",
    "Kernel",
    "Linear",
    "Matern",
    "Precomputed",
    "Product",
    "SklearnKernel",
    "Sum",
    "as_kernel",
]
