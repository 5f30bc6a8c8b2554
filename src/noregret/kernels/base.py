"""The kernel contract."""

import inspect
import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np

from noregret._types import Floats, Points

_PACKAGE = __name__.split(".")[0]


class Kernel(ABC):
    """A positive semi-definite function of two points.

    ``kernel(X, Y)`` is the n × m matrix of k(x, y), ``kernel.diag(X)`` the n values k(x, x).
    ``k1 + k2``, ``k1 * k2`` and ``3.0 * k`` are kernels again.
    """

    #: every kernel class by name, so that a saved run finds it again
    registry: ClassVar[dict[str, type["Kernel"]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        known = Kernel.registry.get(cls.__name__)
        if known is None or known.__module__.split(".")[0] != _PACKAGE:
            Kernel.registry[cls.__name__] = cls

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) and name in inspect.signature(type(self)).parameters:
            raise AttributeError(
                f"{name} of {type(self).__name__} cannot be changed: make another kernel, and an "
                "optimiser with it by opt.replace(kernel=...)"
            )
        object.__setattr__(self, name, value)

    @abstractmethod
    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y) for the rows of X (n × d) and Y (m × d)."""

    def diag(self, X: Points) -> Floats:
        """The n values k(x, x); a kernel without a :attr:`constant` has its own formula."""
        if self.constant is None:
            raise TypeError(f"{type(self).__name__} must define diag(X) or constant: k(x, x)")
        return np.full(len(X), self.constant)

    @property
    def constant(self) -> float | None:
        """k(x, x) where it is known to be the same for every x, else ``None``."""
        return None

    @property
    def takes_bits(self) -> bool:
        """Whether points may be packed bits (uint8 rows); other kernels read these as numbers."""
        return False

    def gradient(self, X: Points, Y: Points) -> Floats:
        """∂k(x, y)/∂x for the rows of X (n × d) and Y (m × d): n × m × d.

        A kernel that has no formula of its own gets central differences, with one warning.
        """
        if self not in _numerical:
            _numerical.add(self)
            warnings.warn(
                f"{type(self).__name__} has no gradient: numerical differences are used, which is "
                "slower and less exact",
                stacklevel=2,
            )
        return differences(self, X, Y)

    def pullback(self, X: Points, Y: Points, weights: Floats) -> Floats:
        """Σ_j weights_ij ∂k(x_i, y_j)/∂x_i (n × d) for weights (n × m)."""
        return np.asarray(np.einsum("ij,ijk->ik", weights, self.gradient(X, Y)))

    def diag_gradient(self, X: Points) -> Floats:
        """The gradients of k(x, x) (n × d)."""
        if self.constant is not None:
            return np.zeros(X.shape)
        # By symmetry d/dx k(x, x) is twice the gradient in the first argument.
        rows = [self.gradient(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(len(X))]
        return 2.0 * np.array(rows).reshape(X.shape)

    def params(self) -> dict[str, Any]:
        """The constructor's arguments: numbers, lists, arrays or kernels."""
        return dict(vars(self))

    def __deepcopy__(self, memo: Any) -> "Kernel":
        """A kernel never changes, so copies of its owner share it."""
        return self

    def __add__(self, other: Any) -> "Kernel":
        from noregret.kernels.composed import Sum  # which is made of kernels

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        from noregret.kernels.composed import Product

        return Product(self, other) if isinstance(other, Kernel) else self.__rmul__(other)

    def __rmul__(self, factor: Any) -> "Kernel":
        if not isinstance(factor, (int, float)):
            return NotImplemented
        from noregret.kernels.composed import Scaled

        return Scaled(self, variance=factor)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.params().items())
        return f"{type(self).__name__}({arguments})"


def differences(kernel: Kernel, X: Points, Y: Points) -> Floats:
    """∂k(x, y)/∂x by central differences, for the rows of X (n × d) and Y (m × d): n × m × d."""
    every = np.concatenate([X, Y])
    span = every.max(axis=0) - every.min(axis=0) if len(every) else np.ones(X.shape[1])
    step = _STEP * np.where(span > 0, span, 1.0)
    out = np.empty((len(X), len(Y), X.shape[1]))
    for i, h in enumerate(step):
        shift = np.zeros(X.shape[1])
        shift[i] = h
        out[:, :, i] = (kernel(X + shift, Y) - kernel(X - shift, Y)) / (2.0 * h)
    return out


#: kernel classes that have warned about their numerical gradients
_numerical: WeakSet[Kernel] = WeakSet()
#: step, as a share of the points' span: the cube root of the precision balances both errors
_STEP = float(np.finfo(float).eps ** (1 / 3))


def check_rows(needs: str, X: Any, Y: Any, of: str = "numbers") -> None:
    """Refuse points that are no arrays of rows (n × d and m × d); ``needs`` begins the error."""
    shapes: list[tuple[int, ...]] = [getattr(points, "shape", ()) for points in (X, Y)]
    if not len(shapes[0]) == len(shapes[1]) == 2 or shapes[0][1] != shapes[1][1]:
        given = [f"shape {shape}" if shape else "no array" for shape in shapes]
        raise TypeError(
            f"{needs} arrays of {of}, not objects: X is n × d and Y m × d; got {given[0]} and "
            f"{given[1]}"
        )
