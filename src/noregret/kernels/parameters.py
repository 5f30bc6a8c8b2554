"""The positive parameters of a kernel, and derivatives with respect to their logarithms."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels.base import Kernel
from noregret.kernels.columns import Columns
from noregret.kernels.composed import Product, Scaled, Sum
from noregret.kernels.distances import own_squares
from noregret.kernels.hamming import Hamming
from noregret.kernels.logs import WithLogs
from noregret.kernels.matern import Matern
from noregret.kernels.other import Linear
from noregret.kernels.profile import Stationary
from noregret.kernels.tanimoto import Tanimoto

#: see :func:`with_derivatives`
Contraction = Callable[[Floats], list[float]]


class Parameter(NamedTuple):
    """One parameter: ``"lengthscale"``, ``"weight"`` or ``"variance"``, and its column, if any.

    The column is one of those that :func:`noregret.kernels.logs.seen_by` gives.
    """

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
    if isinstance(kernel, WithLogs):
        return parameters(kernel.kernel)
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
    if isinstance(kernel, WithLogs):
        return WithLogs(_build(kernel.kernel, logs), kernel.columns, kernel.floors)
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


def with_derivatives(kernel: Kernel, X: Points) -> tuple[Floats, Contraction]:
    """The kernel matrix K of points (n × n), and its derivatives.

    These are a function of weights W (n × n, symmetric): it gives Σ_ij W_ij ∂k(x_i, x_j)/∂log θ for
    every parameter θ.
    """
    if isinstance(kernel, Stationary):
        return _stationary(kernel, X)
    if isinstance(kernel, (Columns, WithLogs)):
        return with_derivatives(kernel.kernel, kernel.of(X))
    if isinstance(kernel, Scaled):
        inner, along = with_derivatives(kernel.kernel, X)
        scaled = kernel.variance * inner
        return scaled, lambda W: [*along(kernel.variance * W), _inner(W, scaled)]
    if isinstance(kernel, (Sum, Product)):
        left, along_left = with_derivatives(kernel.left, X)
        right, along_right = with_derivatives(kernel.right, X)
        if isinstance(kernel, Sum):
            return left + right, lambda W: along_left(W) + along_right(W)
        return left * right, lambda W: along_left(W * right) + along_right(W * left)
    gram = kernel(X, X)
    if isinstance(kernel, Hamming):
        return gram, lambda W: kernel.contractions(X, W * gram)
    assert isinstance(kernel, (Linear, Tanimoto))
    return gram, lambda W: [_inner(W, gram)]


def _inner(left: Floats, right: Floats) -> float:
    """Σ_ij of the products of two matrices (n × n)."""
    return float(np.vdot(left, right))


def _stationary(kernel: Stationary, X: Points) -> tuple[Floats, Contraction]:
    from scipy.spatial.distance import squareform  # slow to import, and telling does not need it

    # Both matrices are symmetric: half of each is computed.
    squared = own_squares(X, kernel.lengthscale)
    values, slopes = kernel.with_slope(squared)
    gram, slope = squareform(values), squareform(slopes)
    np.fill_diagonal(gram, kernel.variance)

    def contract(W: Floats) -> list[float]:
        total, pulled = _inner(W, gram), W * slope
        if not isinstance(kernel.lengthscale, list):
            return [-2.0 * _inner(pulled, squareform(squared)), total]
        # Σ M_ab (x_a − x_b)² = 2 Σ x_a² (M1)_a − 2 xᵀMx, for all axes in one product.
        scaled = X / np.asarray(kernel.lengthscale)
        scaled = scaled - scaled.mean(axis=0)
        sums = np.square(scaled).T @ pulled.sum(axis=1)
        sums -= np.einsum("ij,ij->j", scaled, pulled @ scaled)
        return [*(-4.0 * sums).tolist(), total]

    return gram, contract
