"""The model that the options of ``noregret create`` describe: kernel, noise, norm and width."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noregret.cli.create_options import CreateOptions, KernelName

if TYPE_CHECKING:
    from noregret._types import Floats
    from noregret.kernels import Kernel
    from noregret.spaces import Space


@dataclass(frozen=True)
class GivenModel:
    """What is known of the model before anything has been measured.

    Attributes
    ----------
    kernel
        The kernel's name; ``auto`` if it is learnt.
    noise, norm, width
        As :class:`~noregret.Optimizer` takes them.
    scale
        The standard deviation of the values that is expected; 1 if it is learnt.
    """

    kernel: KernelName
    noise: float | str
    norm: float | str
    width: float | str
    scale: float

    @classmethod
    def of(cls, given: CreateOptions) -> "GivenModel":
        """The model of some options; contradictions are refused."""
        from noregret import _checks

        by_hand = given.lengthscale is not None or given.scale is not None
        kernel = given.kernel or (KernelName.RBF if by_hand else KernelName.AUTO)
        learnt = kernel is KernelName.AUTO
        if learnt and by_hand:
            raise ValueError("--kernel auto learns the lengthscale and the scale: leave them out")
        if given.lengthscale is not None:
            _checks.positive("--lengthscale", given.lengthscale)
        scale = 1.0 if given.scale is None else _checks.positive("--scale", given.scale)
        noise = _number("--noise", given.noise, ("heavy", "auto"))
        if noise is None:
            noise = "auto" if learnt else 0.1 * scale
        norm: float | str = "auto" if learnt else 1.0
        width = given.width or ("2" if learnt else "practical")
        return cls(kernel, noise, norm if given.norm is None else given.norm, _width(width), scale)

    @property
    def learnt(self) -> bool:
        """Whether the kernel is learnt."""
        return self.kernel is KernelName.AUTO

    @property
    def settings(self) -> dict[str, Any]:
        """The options of an algorithm."""
        return {"noise": self.noise, "norm": self.norm, "width": self.width}

    @property
    def notes(self) -> list[str]:
        """What people should know about it."""
        notes = []
        if self.learnt:
            what = "The kernel is" if isinstance(self.noise, float) else "Kernel and noise are"
            notes.append(f"{what} learnt from the values that you tell.")
        if self.noise == "heavy":
            notes.append("Outliers are expected: values far from the model count only a little.")
        return notes

    def known(self, kernel: Any) -> str:
        """A few words on what is given, for one line; ``kernel`` as people read it."""
        return "" if self.learnt else f"{kernel}, noise {self.noise}; "

    def of_candidates(self, lengthscale: float | None) -> "Kernel | str":
        """The kernel of a list; ``lengthscale`` is ``None`` if it is learnt."""
        return "auto" if lengthscale is None else self._stationary(lengthscale)

    def of_parameters(self, space: "Space", lengthscale: float | None) -> "Kernel | str":
        """The kernel of a space; ``lengthscale`` is a share of each range, ``None`` if learnt.

        Two different choices are as unlike as numbers that are √2 lengthscales apart.
        """
        import numpy as np

        from noregret.kernels import Columns, Hamming

        if lengthscale is None:
            return "auto"
        ranges = np.ptp(space.corners, axis=0)
        choices = space.categories
        numbers = [i for i in range(len(ranges)) if i not in choices]
        if not numbers:
            return self.scale**2 * Hamming(1.0)
        scales = lengthscale * np.where(ranges > 0.0, ranges, 1.0)[numbers]
        if not choices:
            return self._stationary(scales)
        return Columns(self._stationary(scales), numbers) * Columns(Hamming(1.0), choices)

    def _stationary(self, lengthscale: "float | Floats") -> "Kernel":
        from noregret.kernels import RBF, Matern

        if self.kernel is KernelName.RBF:
            return RBF(lengthscale, variance=self.scale**2)
        return Matern(lengthscale, nu=2.5, variance=self.scale**2)


def _number(option: str, text: str | None, words: tuple[str, ...]) -> str | float | None:
    if text is None or text in words:
        return text
    try:
        return float(text)
    except ValueError:
        allowed = ", ".join(("a number", *words[:-1])) + f" or {words[-1]}"
        raise ValueError(f"{option} must be {allowed}, got {text!r}") from None


def _width(text: str) -> str | float:
    """A number of deviations, or the name of a width, which the algorithm checks."""
    try:
        return float(text)
    except ValueError:
        return text
