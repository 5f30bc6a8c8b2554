"""ATA-GP-UCB: truncation in every feature direction (Ray Chowdhury & Gopalan, NeurIPS 2019)."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from noregret.algorithms.heavy_tails import FeatureGP, Features
from noregret.kernels import as_kernel
from noregret.models.fourier import QuadratureFourier
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.rewards.directions import TruncatedDirections
from noregret.rewards.moments import moment_bound
from noregret.widths import heavy
from noregret.widths.evidence import Evidence


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ATAGPUCB(Optimizer):
    """ATA-GP-UCB (Algorithm 2): rewards are truncated in every direction of a feature space.

    The mean is φᵀV^(-1/2)r̂ with r̂_i = Σ_τ u_iτ y_τ 1{|u_iτ y_τ| ≤ b_t}, u_1 … u_m the rows of
    V^(-1/2)Φᵀ. Rewards are kept sorted by arm with prefix sums, so that r̂ costs O(um log t) for u
    arms evaluated so far.

    Stated by the paper (Lemma 1, Theorem 4) with the theory's width and a true ``v``: f lies within
    mean ± β·std for all t ≤ T with probability 1 − δ, for QFF up to O(B√ε_m t²). Its proof takes
    the noise as independent of all arms played, also later ones. If arms are chosen by earlier
    rewards, this step is open. If the intervals hold for sequential choices, they also hold in
    adaptive batches (``ratio`` > 1): at every batch start, and within a batch with deviations times
    √C̃ (BBKB Lemma 1). Bounds are therefore not intersected by default. Not stated:
    ``features="exact"`` (Theorem 4 with an exact dictionary, whose size the theorem does not
    bound), other widths, an estimated ``v``.

    Parameters
    ----------
    domain, kernel, norm, delta, seed, bounds, search, alpha, v, lam, noise, repeats, aim
        As for :class:`~noregret.TGPUCB`.
    width
        ``"theory"`` and ``"paper"``: √λB + 4√m v^(1/(1+α)) L^(α/(1+α)) t^((1−α)/(2(1+α))) as a
        factor of √(variance/λ), L = log(2mT/δ) (QFF, Lemma 1); L = log(4mT/δ) and √λB times
        1 + 1/√(1−ε) (Nyström, Theorem 4). ``"practical"``: the formula of QFF without the 4, and
        with L = log((m+1)T). A number or a function: see :class:`~noregret.Optimizer`, with the
        practical levels.
    features
        ``"nystrom"``: a dictionary drawn by posterior variances, any kernel. ``"qff"``: quadrature
        Fourier features, for :class:`~noregret.RBF` in up to 4 dimensions. ``"exact"``: every
        evaluated arm is in the dictionary.
    ratio
        C̃ ≥ 1: above 1, BBKB's adaptive batches, q multiplied by C̃.
    epsilon
        ε: accuracy of the dictionary, q = 6ρ log(4T/δ)/ε² (in practice log(T)/ε²).
    nodes
        m̄ of ``"qff"``, for 2m̄ᵈ features; by default the least with an error bound of T⁻⁶,
        or of double precision (2·10⁻¹⁶ k(x, x)) where that is larger.
    horizon
        T, the number of evaluations planned. It doubles when it is passed; without a horizon it is
        1,024 at first. δ halves with every doubling, which keeps the probability of any failure
        below 2δ (below δ if no horizon is given).
    """

    noise: float | Literal["auto", "heavy"] = "auto"
    alpha: float = 1.0
    v: float | Literal["estimate"] = "estimate"
    features: Features = "nystrom"
    ratio: float = 1.0
    epsilon: float = 0.1
    nodes: int | None = None
    horizon: int | None = None

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether the batch rule decides how many points ``ask()`` gives."""
        return self.ratio > 1

    @property
    def v_in_use(self) -> float:
        """The bound on E|y|^(1+α): as given, or estimated so far."""
        return self._truncation().moment.value

    @property
    def feature_count(self) -> int:
        """m: the directions in which rewards are truncated."""
        return self._truncation().count

    def _truncation(self) -> TruncatedDirections:
        estimate = self.beliefs.estimate
        assert isinstance(estimate, TruncatedDirections)
        return estimate

    def parts(self) -> Parts:
        """Weights of the mean from truncated directions, and the largest upper bound is next."""
        gp = FeatureGP(self)
        theory = partial(_width, self.alpha, 4.0, gp.bias)
        practical = partial(_width, self.alpha, 1.0, 1.0)
        widths = {"theory": theory, "paper": theory, "practical": practical}
        return gp.parts(widths, self._new_estimate(gp), standardises=False)

    def _new_estimate(self, gp: FeatureGP) -> TruncatedDirections:
        union = 4 if self.features == "nystrom" else 2
        return TruncatedDirections(
            moment_bound(self.alpha, self.v),
            gp.horizon,
            self.delta,
            union if gp.by_theorem else None,
            self._known_count(gp),
        )

    def _known_count(self, gp: FeatureGP) -> int:
        """The number of quadrature features, which no reward changes."""
        if self.features != "qff":
            return 0
        kernel = gp.kernel_in_use(as_kernel(self.kernel))
        assert isinstance(kernel, QuadratureFourier)
        return int(2 * kernel.nodes**self.domain.dimension)


def _width(alpha: float, factor: float, bias: float, e: Evidence) -> float:
    v, count, log = e.estimate.moment.value, e.estimate.count, e.estimate.log_factor(e.t)
    return heavy.ata(alpha, v, e.norm, e.lam, count, e.t, log, factor, bias)
