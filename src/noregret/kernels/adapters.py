"""Kernels from elsewhere: plain callables and scikit-learn's kernel objects."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from noregret._types import Floats, Points
from noregret.kernels.base import Kernel, differences
from noregret.spaces import Domain

#: how many points a kernel is tried on
PROBE = 256
#: on how many points its matrix must have no negative eigenvalue and its gradient must be right
_TRIED = 64
#: eigenvalues above minus this share of the largest one may be round-off of 32-bit numbers
_ROUND_OFF = 1e-5
#: the share of derivatives that may differ from differences, and the narrowest range, as a share of
#: the largest number in it, in which they are compared
_KINKS, _NARROW = 0.05, 1e-8
#: what users may give as kernel: one of ours, one of scikit-learn, a callable ``k(xs, ys)``, "auto"
AnyKernel = Kernel | Callable[[Any, Any], Any] | Literal["auto"]


class FunctionKernel(Kernel):
    """Any callable ``k(xs, ys) -> matrix``, for points of any kind.

    The callable gets two sequences (arrays of rows, or vectors of objects) and returns the matrix
    of their similarities. If the callable has a method ``diag(xs)``, it is used. A callable cannot
    be stored in a file: pass it to ``load`` again.
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        if not callable(function):
            raise TypeError(
                "kernel must be a kernel such as nr.RBF(0.3), 'auto' or a callable k(xs, ys), got "
                f"{function!r}"
            )
        self.function = function

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        if not len(X) or not len(Y):
            return np.empty((len(X), len(Y)))
        try:
            matrix = np.asarray(self.function(X, Y), dtype=np.float64)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(
                f"kernel must take n and m points and return an n × m matrix; on {len(X)} and "
                f"{len(Y)} points it failed: {error!r}"
            ) from error
        if matrix.shape != (len(X), len(Y)):
            raise ValueError(
                f"kernel must return a matrix of shape {(len(X), len(Y))} for that many points, "
                f"got {matrix.shape}"
            )
        if not np.all(np.isfinite(matrix)):
            raise ValueError("kernel must return finite numbers")
        return matrix

    def diag(self, X: Points) -> Floats:
        """The n values k(x, x)."""
        own = getattr(self.function, "diag", None)
        if callable(own):
            values = np.asarray(own(X), dtype=np.float64)
            if values.shape != (len(X),):
                raise ValueError(f"kernel.diag must return {len(X)} values, got {values.shape}")
            return values
        if not len(X):
            return np.empty(0)
        # Small blocks need few calls and compute few entries beside the diagonal.
        step = 16
        blocks = [self(X[i : i + step], X[i : i + step]) for i in range(0, len(X), step)]
        return np.concatenate([block.diagonal() for block in blocks])


class SklearnKernel(Kernel):
    """A kernel object of ``sklearn.gaussian_process.kernels``."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y)."""
        if not len(X) or not len(Y):  # scikit-learn refuses empty arrays
            return np.empty((len(X), len(Y)))
        return np.asarray(self.kernel(X, Y), dtype=np.float64)

    def diag(self, X: Points) -> Floats:
        """The n values k(x, x)."""
        return np.asarray(self.kernel.diag(X), dtype=np.float64)


def as_kernel(kernel: Any) -> Kernel:
    """A :class:`Kernel` made from one of ours, one of scikit-learn's, or any callable."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type):
        raise TypeError(f"kernel must be an object, not the class {kernel.__name__}: call it first")
    if hasattr(kernel, "get_params") and hasattr(kernel, "diag") and callable(kernel):
        return SklearnKernel(kernel)
    return FunctionKernel(kernel)


def largest_prior(kernel: Kernel, space: Domain) -> float:
    """The largest k(x, x) of some points of a space, after trying the kernel on them."""
    some = space.spread(PROBE, np.random.default_rng(0))
    largest = float(check_kernel(kernel, some).max())
    if space.size is None and not space.categories:
        _check_gradient(kernel, some[:_TRIED], largest)
    return largest


def check_kernel(kernel: Kernel, points: Points) -> Floats:
    """Try the kernel on a few points, then return k(x, x) of all of them (n).

    Raises ``ValueError`` where the kernel returns the wrong shape, is not symmetric, not positive
    on its diagonal, or not positive semi-definite.
    """
    few = points[:3]
    matrix = np.asarray(kernel(few, points[:2]), dtype=np.float64)
    if matrix.shape != (len(few), len(points[:2])):
        raise ValueError(
            f"kernel must return shape {(len(few), len(points[:2]))} for that many points, "
            f"got {matrix.shape}"
        )
    square = np.asarray(kernel(few, few), dtype=np.float64)
    diagonal = np.asarray(kernel.diag(points), dtype=np.float64)
    if diagonal.shape != (len(points),):
        raise ValueError(f"kernel.diag must return {len(points)} values, got {diagonal.shape}")
    if not np.all(np.isfinite(square)) or not np.all(np.isfinite(diagonal)):
        raise ValueError("kernel must return finite numbers")
    if np.any(diagonal < 0) or not np.any(diagonal > 0):
        worst = int(np.argmin(diagonal))
        raise ValueError(
            f"kernel must be positive on its diagonal, got k(x, x) = {diagonal[worst]} "
            f"for candidate {worst}"
        )
    scale = diagonal.max()
    if not np.allclose(square, square.T, rtol=1e-6, atol=1e-9 * scale):
        raise ValueError("kernel must be symmetric: k(x, y) = k(y, x)")
    if not np.allclose(square.diagonal(), diagonal[: len(few)], rtol=1e-6, atol=1e-9 * scale):
        raise ValueError(
            "kernel.diag(X) must be the diagonal of kernel(X, X). Noise is no part of a kernel: "
            "give noise=... instead of a WhiteKernel"
        )
    _check_definite(kernel, points[:_TRIED])
    return diagonal


def _check_definite(kernel: Kernel, points: Points) -> None:
    """Refuse a kernel with a negative eigenvalue on these points, beyond round-off."""
    matrix = np.asarray(kernel(points, points), dtype=np.float64)
    if not np.all(np.isfinite(matrix)):
        raise ValueError("kernel must return finite numbers")
    values = np.linalg.eigvalsh(matrix)
    if values[0] < -_ROUND_OFF * values[-1]:
        raise ValueError(
            "kernel must be positive semi-definite: its matrix must have no eigenvalue below 0. On "
            f"{len(points)} points it has {values[0]:.3g} (the largest is {values[-1]:.3g}), so it "
            "is no covariance"
        )


def _check_gradient(kernel: Kernel, points: Points, largest: float) -> None:
    """Refuse a ``gradient`` of a kernel that is not its derivative at some of these points."""
    if type(kernel).gradient is Kernel.gradient:
        return
    X, Y = points[::2], points[1::2]
    given = np.asarray(kernel.gradient(X, Y), dtype=np.float64)
    if given.shape != (len(X), len(Y), X.shape[1]):
        raise ValueError(
            f"kernel.gradient must return shape {(len(X), len(Y), X.shape[1])}, n × m × d, for "
            f"that many points, got {given.shape}"
        )
    steps = differences(kernel, X, Y)
    # Differences are wrong across a kink, so a few of them may disagree.
    span = np.ptp(points, axis=0)
    limit = 0.01 * (np.abs(given) + np.abs(steps)) + 1e-4 * largest / span.clip(min=1e-300)
    # Steps in a narrow range far from 0 are round-off.
    wrong = (np.abs(given - steps) > limit) & (span > _NARROW * np.abs(points).max(axis=0))
    if wrong.mean() > _KINKS:
        i, j, k = np.argwhere(wrong)[0]
        raise ValueError(
            f"kernel.gradient must be the derivative of k(x, y) in x: for x = {X[i]}, y = {Y[j]} "
            f"it gives {given[i, j, k]:.3g} in coordinate {k}, and differences of the kernel give "
            f"{steps[i, j, k]:.3g}"
        )
