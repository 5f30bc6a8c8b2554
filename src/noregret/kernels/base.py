"""The kernel contract, sums and products."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from noregret import _checks
from noregret._types import Floats, Points


class Kernel(ABC):
    """A positive semi-definite function of two points.

    ``kernel(X, Y)`` is the n × m matrix of k(x, y), ``kernel.diag(X)`` the n values k(x, x).
    ``k1 + k2``, ``k1 * k2`` and ``3.0 * k`` are kernels again.
    """

    #: every kernel class by name, so that a saved run finds it again
    registry: ClassVar[dict[str, type["Kernel"]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Kernel.registry[cls.__name__] = cls

    @abstractmethod
    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix of k(x, y) for the rows of X (n × d) and Y (m × d)."""

    @abstractmethod
    def diag(self, X: Points) -> Floats:
        """The n values k(x, x)."""

    def params(self) -> dict[str, Any]:
        """The constructor's arguments: numbers, lists, arrays or kernels."""
        return dict(vars(self))

    def __add__(self, other: Any) -> "Kernel":
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        return Product(self, other) if isinstance(other, Kernel) else self.__rmul__(other)

    def __rmul__(self, factor: Any) -> "Kernel":
        if not isinstance(factor, (int, float)):
            return NotImplemented
        return Scaled(self, variance=factor)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.params().items())
        return f"{type(self).__name__}({arguments})"


class Scaled(Kernel):
    """``variance`` times a kernel."""

    def __init__(self, kernel: Kernel, variance: float) -> None:
        self.kernel = kernel
        self.variance = _checks.positive("variance", variance)

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix."""
        return self.variance * self.kernel(X, Y)

    def diag(self, X: Points) -> Floats:
        """The n values on the diagonal."""
        return self.variance * self.kernel.diag(X)


class Sum(Kernel):
    """k1(x, y) + k2(x, y)."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix."""
        return self.left(X, Y) + self.right(X, Y)

    def diag(self, X: Points) -> Floats:
        """The n values on the diagonal."""
        return self.left.diag(X) + self.right.diag(X)


class Product(Kernel):
    """k1(x, y) · k2(x, y)."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def __call__(self, X: Points, Y: Points) -> Floats:
        """The n × m matrix."""
        return self.left(X, Y) * self.right(X, Y)

    def diag(self, X: Points) -> Floats:
        """The n values on the diagonal."""
        return self.left.diag(X) * self.right.diag(X)
