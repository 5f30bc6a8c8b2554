"""How alike are two choices? Kernels k(x, y), their sums and products, and adapters."""

from noregret.kernels.adapters import AnyKernel, FunctionKernel, SklearnKernel, as_kernel
from noregret.kernels.base import Kernel
from noregret.kernels.columns import Columns
from noregret.kernels.composed import Product, Sum
from noregret.kernels.hamming import Hamming
from noregret.kernels.logs import WithLogs
from noregret.kernels.matern import Matern
from noregret.kernels.other import Linear, Precomputed
from noregret.kernels.rbf import RBF
from noregret.kernels.tanimoto import Tanimoto

__all__ = [
    "RBF",
    "AnyKernel",
    "Columns",
    "FunctionKernel",
    "Hamming",
    "Kernel",
    "Linear",
    "Matern",
    "Precomputed",
    "Product",
    "SklearnKernel",
    "Sum",
    "Tanimoto",
    "WithLogs",
    "as_kernel",
]
