"""Which settings fit better, in closed form.

Everything here is the exact GP over some arms, with counts n and means ȳ.

Likelihoods for other lengthscales, noises and amplitudes come from one eigendecomposition for each
lengthscale: with D = diag(n) and D^½ K D^½ = U diag(l) Uᵀ, the data U ᵀD^½ȳ are independent with
variances c·l + b·λ. A constant mean and the amplitude c are fitted throughout, so that only the
lengthscale and the noise are compared.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from noregret._types import Floats, Ints, Points
from noregret.kernels import Kernel
from noregret.kernels.parameters import parameters, with_parameters

#: factors of the lengthscale, and of the noise's deviation, that are tried
FACTORS = np.array([0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
_AMPLITUDES = np.logspace(-4, 8, 49)


@dataclass(frozen=True)
class Arms:
    """Evaluations by arm, as the model sees them.

    Attributes
    ----------
    points
        u × d, or u objects.
    counts, means
        Evaluations and their means (u each).
    scatter
        Σ (reward − mean of its arm)² over all evaluations.
    """

    points: Points
    counts: Ints
    means: Floats
    scatter: float

    @property
    def repeats(self) -> int:
        """How many evaluations are beyond the first of their arm."""
        return int(self.counts.sum()) - len(self.counts)


@dataclass(frozen=True)
class Gains:
    """How much more likely the evaluations are with other settings, as logarithms.

    Attributes
    ----------
    lengthscale, noise
        Gain with the best other lengthscale alone, or the best other noise alone.
    lengthscale_factor, noise_factor
        That lengthscale and that noise, divided by the ones in use.
    both
        Gain with the best lengthscale and noise together.
    level
        Gain with the best constant mean and amplitude, against mean 0 and amplitude 1.
    mean, amplitude
        That mean and that amplitude, which multiplies the kernel.
    kernel, lam, constant
        Kernel, λ and constant mean of the best lengthscale and noise together.
    """

    lengthscale: float
    lengthscale_factor: float
    noise: float
    noise_factor: float
    both: float
    level: float
    mean: float
    amplitude: float
    kernel: Kernel
    lam: float
    constant: float


def gains(kernel: Kernel, lam: float, arms: Arms) -> Gains:
    """What other lengthscales and noises would gain; O(u³) for each lengthscale."""
    kernels = _scaled(kernel)
    table = np.full((len(FACTORS), len(FACTORS)), -np.inf)
    levels = np.zeros((*table.shape, 2))
    asis = -np.inf
    same = list(FACTORS).index(1.0)
    for i, scaled in enumerate(kernels):
        if scaled is None:
            continue
        spectrum = _Spectrum(scaled, arms)
        found = [spectrum.likelihood(lam * noise**2) for noise in FACTORS]
        table[i] = [one[0] for one in found]
        levels[i] = [one[1:] for one in found]
        if i == same:
            asis = spectrum.likelihood_as_is(lam)
    now = table[same, same]
    best_length, best_noise = int(table[:, same].argmax()), int(table[same].argmax())
    length, noise = divmod(int(table.argmax()), len(FACTORS))
    best = kernels[length]
    assert best is not None
    return Gains(
        lengthscale=float(table[best_length, same] - now),
        lengthscale_factor=float(FACTORS[best_length]),
        noise=float(table[same, best_noise] - now),
        noise_factor=float(FACTORS[best_noise]),
        both=float(table.max() - now),
        level=float(now - asis),
        mean=float(levels[same, same, 0]),
        amplitude=float(levels[same, same, 1]),
        kernel=float(levels[length, noise, 1]) * best,
        lam=lam * float(FACTORS[noise]) ** 2,
        constant=float(levels[length, noise, 0]),
    )


def _scaled(kernel: Kernel) -> list[Kernel | None]:
    """The kernel with its lengthscales times each factor; the kernel alone if it has none."""
    try:
        found = parameters(kernel)
    except TypeError:
        found = []
    if not any(one.kind == "lengthscale" for one in found):
        return [kernel if factor == 1.0 else None for factor in FACTORS]
    logs = np.array([one.log for one in found])
    moved = np.array([one.kind == "lengthscale" for one in found])
    return [with_parameters(kernel, logs + moved * np.log(factor)) for factor in FACTORS]


class _Spectrum:
    """Likelihoods of one kernel matrix for any noise, amplitude and constant mean."""

    def __init__(self, kernel: Kernel, arms: Arms) -> None:
        root = np.sqrt(arms.counts)
        gram = kernel(arms.points, arms.points) * np.outer(root, root)
        values, vectors = eigh(gram, check_finite=False)
        self._values = np.maximum(values, 0.0)
        self._data = vectors.T @ (root * arms.means)
        self._ones = vectors.T @ root
        self._repeats, self._scatter = arms.repeats, arms.scatter

    def likelihood(self, noise: float) -> tuple[float, float, float]:
        """The largest log likelihood for a noise (variance), its constant mean and amplitude."""
        variances = _AMPLITUDES[:, None] * self._values + noise
        means = (self._ones * self._data / variances).sum(1) / (self._ones**2 / variances).sum(1)
        away = np.square(self._data - means[:, None] * self._ones)
        logs = -0.5 * (np.log(variances) + away / variances).sum(axis=1)
        best = int(logs.argmax())
        return (
            float(logs[best]) + self._inside(noise),
            float(means[best]),
            float(_AMPLITUDES[best]),
        )

    def likelihood_as_is(self, noise: float) -> float:
        """The log likelihood for a noise, with mean 0 and amplitude 1."""
        variances = self._values + noise
        logs = np.log(variances) + np.square(self._data) / variances
        return float(-0.5 * logs.sum()) + self._inside(noise)

    def _inside(self, noise: float) -> float:
        """The log likelihood of repeats about the means of their arms."""
        return -0.5 * (self._repeats * float(np.log(noise)) + self._scatter / noise)
