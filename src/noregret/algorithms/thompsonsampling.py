"""ξ-greedy Thompson sampling (Basu & Ghosh): the maximiser of a function drawn at random."""

from dataclasses import dataclass
from typing import Any, Literal

from noregret.algorithms.drawn_maximizers import (
    CONVERGED,
    converged,
    maximizer_samples,
    refuse_features,
    thompson_parts,
)
from noregret.optimizer import Optimizer
from noregret.parts import Parts, Width


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ThompsonSampling(Optimizer):
    """ξ-greedy Thompson sampling (Basu & Ghosh, Algorithm 1), on a box or a list.

    A function is drawn from the posterior and its maximiser is evaluated; with probability ξ a
    uniform draw is evaluated instead. Settings that are ``"auto"`` are fitted to the uniform draws
    only. ``recommend`` gives the mode of F_t, the maximiser's posterior.

    Drawn functions have the law of the sparse GP that :class:`~noregret.BBKB` uses. A function is
    drawn from the prior with features, then corrected by what has been told (Wilson et al. 2020).

    On lists of more than 1,000 candidates a draw is computed only where mean + q · deviation
    of a candidate, from when it was last looked at, exceeds the largest value found so far. q is
    about 7, so that a larger value is missed with probability 10⁻⁶ (for what is exact and what is
    not, see :mod:`noregret.picking.lists.maxima`).

    Proved (Theorem 1 of the paper): for f drawn from the GP on a box, F_t tends to a point mass at
    the maximiser. Not proved: rates, learnt settings, what features leave out of the prior, the
    search of a box. Bounds are proved with ``width="theory"``, as for :class:`~noregret.Uniform`.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, bounds, search, repeats, aim
        As for every algorithm, see :class:`~noregret.Optimizer`.
    width
        Of the bounds that ``recommend`` gives, from the GP: as for :class:`~noregret.Uniform`.
    xi
        ξ, the probability of a uniform draw.
    n_init
        n₀, uniform draws at the start, rounded up to whole batches.
    batch_size
        Points of one ``ask()``: all drawn from F_t, or all uniform (Section 5.1).
    features
        The features with which a function is drawn from the prior. ``"mercer"``: up to 1,000
        eigenfunctions on the box (RBF, or Matern in one dimension). ``"rff"``: random Fourier
        features of 500 frequencies (RBF, Matern). ``"qff"``: quadrature Fourier features (Mutný &
        Krause 2018), with an error of the kernel of at most 2 · 10⁻⁶ k(x, x) (RBF in up to 4
        dimensions that span few lengthscales). ``"nystrom"``: features of up to 400 points (any
        kernel, objects too); on a list, what they leave out is drawn for each candidate on its own.
        ``None``: no features on lists of at most 1,000 candidates, whose values are drawn jointly;
        Mercer on boxes of at most two dimensions where a thousandth of the variance or less is left
        out; else random Fourier for RBF and Matern, Nyström for other kernels.
    """

    width: Width = "practical"
    xi: float = 0.15
    n_init: int = 30
    batch_size: int = 1
    features: Literal["mercer", "nystrom", "qff", "rff"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_features(self)

    def parts(self) -> Parts:
        """A dictionary for the posterior; maximisers of its draws are next."""
        return thompson_parts(self, self.xi, self.n_init, self.features)

    def maximizer_samples(self, n: int) -> Any:
        """n draws from F_t, the posterior of the maximiser: ids (n), or points of a box (n × d).

        The draws are the same until something is told, and leave the run as it is.
        """
        return maximizer_samples(self, n)

    def converged(self, tol: float = CONVERGED) -> bool:
        """Whether the spread of F_t is below ``tol``: the paper's rule to stop by (line 23).

        The spread is the root mean square distance of the maximiser's draws from their mean, each
        coordinate in units of the side of the box (the range of the column, on a list): 0.02 is two
        hundredths of it. On a list of objects it is the share of draws that are not the most
        frequent one. Before ``n_init`` answers it is never below ``tol``.
        """
        return converged(self, tol)
