"""The positive parameters of a kernel, and derivatives with respect to their logarithms."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels.base import Kernel, Product, Scaled, Sum
from noregret.kernels.columns import Columns
from noregret.kernels.hamming import Hamming
from noregret.kernels.other import Linear
from noregret.kernels.stationary import Matern, Stationary, scaled_squares
from noregret.kernels.tanimoto import Tanimoto


class Parameter(NamedTuple):
    """One parameter: ``"lengthscale"``, ``"weight"`` or ``"variance"``, and its column, if any."""

    kind: str
    log: float
    axis: int | None = None


def parameters(kernel: Kernel) -> list[Parameter]:
    """The parameters in a fixed order."""
    if isinstance(kernel, Stationary):
        scales = kernel.lengthscale
        if isinstance(scales, list):
            own = [Parameter("lengthscale", math.log(s), i) for i, s in enumerate(scales)]
        else:
            own = [Parameter("lengthscale", math.log(scales))]
        return [*own, Parameter("variance", math.log(kernel.variance))]
    if isinstance(kernel, Hamming):
        if isinstance(kernel.weight, list):
            return [Parameter("weight", math.log(w), i) for i, w in enumerate(kernel.weight)]
        return [Parameter("weight", math.log(kernel.weight))]
    if isinstance(kernel, Columns):
        return [
            one if one.axis is None else one._replace(axis=kernel.columns[one.axis])
            for one in parameters(kernel.kernel)
        ]
    if isinstance(kernel, (Linear, Tanimoto)):
        return [Parameter("variance", math.log(kernel.variance))]
    if isinstance(kernel, Scaled):
        return [*parameters(kernel.kernel), Parameter("variance", math.log(kernel.variance))]
    if isinstance(kernel, (Sum, Product)):
        return parameters(kernel.left) + parameters(kernel.right)
    raise TypeError(
        "kernel must be made of RBF, Matern, Linear, Hamming and Tanimoto for its parameters to be "
        f"fitted, got {kernel!r}"
    )


def with_parameters(kernel: Kernel, logs: Floats) -> Kernel:
    """The same kernel with other parameters, in the order of :func:`parameters`."""
    return _build(kernel, iter(logs))


def _build(kernel: Kernel, logs: Iterator[float]) -> Kernel:
    if isinstance(kernel, Stationary):
        count = len(kernel.lengthscale) if isinstance(kernel.lengthscale, list) else 1
        scales = [math.exp(next(logs)) for _ in range(count)]
        variance = math.exp(next(logs))
        if isinstance(kernel, Matern):
            return Matern(scales, kernel.nu, variance)
        return type(kernel)(scales, variance)
    if isinstance(kernel, Hamming):
        count = len(kernel.weight) if isinstance(kernel.weight, list) else 1
        return Hamming([math.exp(next(logs)) for _ in range(count)])
    if isinstance(kernel, Columns):
        return Columns(_build(kernel.kernel, logs), kernel.columns)
    if isinstance(kernel, Linear):
        return Linear(math.exp(next(logs)), kernel.offset)
    if isinstance(kernel, Tanimoto):
        return Tanimoto(math.exp(next(logs)))
    if isinstance(kernel, Scaled):
        inner = _build(kernel.kernel, logs)
        return Scaled(inner, math.exp(next(logs)))
    assert isinstance(kernel, (Sum, Product))
    left = _build(kernel.left, logs)
    return type(kernel)(left, _build(kernel.right, logs))


def contractions(kernel: Kernel, X: Points, weights: Floats) -> list[float]:
    """Σ_ij weights_ij ∂k(x_i, x_j)/∂log θ for every parameter θ; weights (n × n) symmetric."""
    if isinstance(kernel, Stationary):
        return _stationary(kernel, X, weights)
    if isinstance(kernel, Hamming):
        return kernel.contractions(X, weights)
    if isinstance(kernel, Columns):
        return contractions(kernel.kernel, kernel.of(X), weights)
    if isinstance(kernel, (Linear, Tanimoto)):
        return [float(np.sum(weights * kernel(X, X)))]
    if isinstance(kernel, Scaled):
        inner = contractions(kernel.kernel, X, kernel.variance * weights)
        return [*inner, float(np.sum(weights * kernel(X, X)))]
    if isinstance(kernel, Sum):
        return contractions(kernel.left, X, weights) + contractions(kernel.right, X, weights)
    assert isinstance(kernel, Product)
    left = contractions(kernel.left, X, weights * kernel.right(X, X))
    return left + contractions(kernel.right, X, weights * kernel.left(X, X))


def _stationary(kernel: Stationary, X: Points, weights: Floats) -> list[float]:
    squared = scaled_squares(X, X, kernel.lengthscale)
    slope = weights * kernel.slope(squared)
    if not isinstance(kernel.lengthscale, list):
        by_scale = -2.0 * float(np.sum(slope * squared))
        return [by_scale, float(np.sum(weights * kernel.of_squared(squared)))]
    total = float(np.sum(weights * kernel.of_squared(squared)))
    # Σ M_ab (x_a − x_b)² = 2 Σ x_a² (M1)_a − 2 xᵀMx, for all axes in one product.
    scaled = X / np.asarray(kernel.lengthscale)
    scaled = scaled - scaled.mean(axis=0)
    sums = np.square(scaled).T @ slope.sum(axis=1) - np.einsum("ij,ij->j", scaled, slope @ scaled)
    return [*(-4.0 * sums).tolist(), total]
