"""How much better than one point of a box can any other be? A proof, by branch and bound.

The box is cut into cells. In a cell with centre c a function of norm F at most is close to its
tangent: f(c + h) ≤ f(c) + ∇f(c)·h + F·‖φ(c + h) − φ(c) − Dφ(c)h‖. Its value at c and its slope are
bounded by the posterior, as differences of two values are. For every λ that bound is convex in h,
so it is largest at a corner of the cell (the Proofs page, Theorem 9).
"""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from noregret._types import Floats, Ints
from noregret.kernels.base import Kernel
from noregret.kernels.profile import profile_of
from noregret.linalg.factors import lower_solve
from noregret.models.posterior import Posterior
from noregret.picking.bounds import Bounds
from noregret.spaces import Space
from noregret.widths.certificate import AllowedFunctions, largest_norm

#: the largest dimension: a cell of a box has 2ᵈ corners
MOST_DIMENSIONS = 8
#: cells are cut until the gap is known to this share of it, or of F·√k(x, x)
_PRECISION, _SMALLEST = 0.02, 1e-6
#: cells that are cut at a time
_CUT = 256
#: multiplications that a certificate may take for a gap, and a recommendation for all of its gaps
_MOST_WORK, _QUICK = 1e11, 2e9
#: a multiplication at a corner of a cell takes as long as this many of those before
_CORNER = 4
#: what a cell costs besides, in multiplications
_OVERHEAD = 3e4
#: cells with sides below this share of a lengthscale are not cut: only round-off is left in them
_TINY = 1e-6
#: steps of the search for the largest norm: the last one changes it by less than a hundredth
_STEPS = 12


def provable(kernel: Kernel, space: Space) -> bool:
    """Whether gaps can be proved on a box, with this kernel."""
    return profile_of(kernel) is not None and space.dimension <= MOST_DIMENSIONS


@dataclass(frozen=True)
class Cells:
    """Some cells of a box.

    Attributes
    ----------
    centres, halves
        The centre of each, and half of its sides (n × d each).
    bounds
        No value in it is better than that of the recommended point by more than this (n).
    """

    centres: Floats
    halves: Floats
    bounds: Floats

    def some(self, which: Ints) -> "Cells":
        """Some of these cells."""
        return Cells(self.centres[which], self.halves[which], self.bounds[which])

    def joined(self, others: "Cells") -> "Cells":
        """These cells and others."""
        return Cells(
            np.concatenate([self.centres, others.centres]),
            np.concatenate([self.halves, others.halves]),
            np.concatenate([self.bounds, others.bounds]),
        )


class Difference:
    """The largest f(x) − f(y) in a box, for a point y and all functions f that are allowed.

    Parameters
    ----------
    posterior
        What is believed.
    space
        The box.
    one
        The point y (1 × d).
    """

    def __init__(self, posterior: Posterior, space: Space, one: Floats) -> None:
        profile = profile_of(posterior.kernel)
        if profile is None:
            raise ValueError(
                "certify on a box needs the kernel RBF, Matern or a multiple of one, got "
                f"{posterior.kernel!r}"
            )
        if one.shape[1] > MOST_DIMENSIONS:
            raise ValueError(
                f"certify on a box takes at most {MOST_DIMENSIONS} dimensions, got {one.shape[1]}; "
                "certify a list of candidates instead"
            )
        self._posterior, self._profile, self._one = posterior, profile, one
        self._z = posterior.embed(one)[0]
        self._lower, self._upper = space.lower, space.upper
        self._corners = np.array(list(product((-1.0, 1.0), repeat=one.shape[1])))

    def largest(self, widths: Floats, norm: float, work: float, enough: float = 0.0) -> float:
        """An upper bound on it: the largest of all :meth:`cells`."""
        return float(self.cells(widths, norm, work, enough).bounds.max())

    def cells(self, widths: Floats, norm: float, work: float, enough: float = 0.0) -> Cells:
        """Cells that cover the box, each with a bound.

        The largest bound is at most 2 % above what is known of single points, unless the work runs
        out. It is valid whenever the search ends.

        Parameters
        ----------
        widths
            Bounds on ‖f − mean‖ in the norm of V, for every λ (g).
        norm
            F.
        work
            How many multiplications the search may take, about.
        enough
            If given, the search ends once it is known whether the difference is above this.
        """
        whole = np.stack([self._lower, self._upper])
        centre, half = whole.mean(axis=0)[None], 0.5 * np.diff(whole, axis=0)
        prior = float(np.sqrt(self._posterior.kernel.diag(self._one)[0]))
        first = np.array([math.sqrt(2.0) * norm * prior])  # these kernels are nowhere negative
        cells, at_centres = self._bounded(Cells(centre, half, first), widths, norm)
        settled: list[Cells] = []
        reached = max(float(at_centres.max()), 0.0)  # the largest bound of a single point
        least = _SMALLEST * norm * prior
        d, m = len(self._lower), max(self._posterior.size, 8)
        cost = _OVERHEAD + len(widths) * (m**2 * d + _CORNER * 2.0**d * (1 + d) ** 2)
        while len(cells.bounds) and work > 0.0 and not reached > enough > 0.0:
            goal = max((1.0 + _PRECISION) * reached, least, enough)
            tiny = (cells.halves <= _TINY * self._profile.lengthscale).all(axis=1)
            done = tiny | (cells.bounds <= goal)
            settled.append(cells.some(np.flatnonzero(done)))
            cells = cells.some(np.flatnonzero(~done))
            if not len(cells.bounds):
                break
            order = np.argsort(-cells.bounds, kind="stable")
            found, at_centres = self._bounded(self._cut(cells.some(order[:_CUT])), widths, norm)
            reached = max(reached, float(at_centres.max()))
            work -= cost * len(found.bounds)
            cells = found.joined(cells.some(order[_CUT:]))
        for more in settled:
            cells = cells.joined(more)
        return cells

    def _cut(self, cells: Cells) -> Cells:
        """The two halves of every cell, cut across the side with the most lengthscales."""
        rows = np.arange(len(cells.bounds))
        side = np.argmax(cells.halves / self._profile.lengthscale, axis=1)
        halves, shift = cells.halves.copy(), np.zeros_like(cells.halves)
        halves[rows, side] *= 0.5
        shift[rows, side] = halves[rows, side]
        centres = np.concatenate([cells.centres - shift, cells.centres + shift])
        return Cells(centres, np.tile(halves, (2, 1)), np.tile(cells.bounds, 2))

    def _bounded(self, cells: Cells, widths: Floats, norm: float) -> tuple[Cells, Floats]:
        """The cells with their own bounds, and the bounds of their centres (n)."""
        means, squares = self._tangents(cells.centres, len(widths))
        widths = np.append(widths, norm)
        at_centres = (means[..., 0] + widths[:, None] * np.sqrt(squares[..., 0, 0])).min(axis=0)
        # Corners as coefficients of value and slopes: (1, h), n × 2ᵈ × (1 + d).
        steps = self._corners * cells.halves[:, None]
        steps = np.concatenate([np.ones((*steps.shape[:2], 1)), steps], axis=2)
        linear = np.einsum("gni,nci->gnc", means, steps)
        square = np.einsum("gnij,nci,ncj->gnc", squares, steps, steps, optimize=True)
        spread = np.sqrt(np.maximum(square, 0.0))
        at_corners = (linear + widths[:, None, None] * spread).max(axis=2).min(axis=0)
        reach = np.square(cells.halves / self._profile.lengthscale).sum(axis=1)
        found = at_centres + norm * self._profile.moved(reach)
        if self._profile.smooth:
            found = np.minimum(found, at_corners + norm * self._profile.bent(reach))
        sizes = np.abs(means[..., 0]) + (np.abs(means[..., 1:]) * cells.halves).sum(axis=2)
        found += 1e-9 * (np.abs(found) + sizes.max(axis=0))  # for round-off
        return Cells(cells.centres, cells.halves, np.minimum(cells.bounds, found)), at_centres

    def _tangents(self, centres: Floats, count: int) -> tuple[Floats, Floats]:
        """Value minus f(y), and slopes, at centres: what is believed of them for every λ.

        Means ((g + 1) × n × (1 + d)), and the covariances of value and slopes, divided by λ
        ((g + 1) × n × (1 + d) × (1 + d)). The last ones are for ‖f‖ ≤ F alone: mean 0, the prior.
        """
        posterior, kernel, (n, d) = self._posterior, self._posterior.kernel, centres.shape
        Z = np.zeros((n, 1 + d, posterior.size))
        prior = np.zeros((n, 1 + d, 1 + d))
        Z[:, 0] = posterior.embed(centres) - self._z
        cross = kernel(centres, self._one)[:, 0]
        prior[:, 0, 0] = kernel.diag(centres) + kernel.diag(self._one) - 2.0 * cross
        if self._profile.smooth:
            slopes = kernel.gradient(centres, posterior.inducing)  # n × m × d
            columns = slopes.transpose(1, 0, 2).reshape(posterior.size, n * d)
            Z[:, 1:] = lower_solve(posterior.tall, columns).T.reshape(n, d, posterior.size)
            prior[:, 0, 1:] = prior[:, 1:, 0] = -kernel.gradient(centres, self._one)[:, 0]
            diagonal = np.arange(1, 1 + d)
            prior[:, diagonal, diagonal] = (
                -2.0 * self._profile.first_slope / np.square(self._profile.lengthscale)
            )
        left = prior - Z @ Z.transpose(0, 2, 1)
        means, squares = np.zeros((count + 1, n, 1 + d)), np.empty((count + 1, n, 1 + d, 1 + d))
        means[:count] = np.einsum("gm,nim->gni", posterior.thetas[:count], Z)
        squares[count] = prior
        pairs = zip(posterior.lams[:count], posterior.roots[:count], strict=True)
        for i, (lam, root) in enumerate(pairs):
            inside = Z @ root
            squares[i] = left / lam + inside @ inside.transpose(0, 2, 1)
        squares[..., 0, 0] = np.maximum(squares[..., 0, 0], 0.0)
        return means, squares


def proved_gaps(bounds: Bounds, norm: float, space: Space, points: Floats) -> Floats:
    """How much better than each of some points (k × d) any other point of a box can be (k)."""
    work = _QUICK / len(points)
    ones = (Difference(bounds.posterior, space, points[i : i + 1]) for i in range(len(points)))
    return np.array([one.largest(bounds.widths, norm, work) for one in ones])


class BoxValues:
    """The values that allowed functions can have in a box, for certificates.

    Parameters
    ----------
    allowed
        The functions.
    posterior, space, one
        As for :class:`Difference`; ``one`` is the recommended point.
    """

    def __init__(
        self, allowed: AllowedFunctions, posterior: Posterior, space: Space, one: Floats
    ) -> None:
        self._allowed, self._difference = allowed, Difference(posterior, space, one)
        Z = posterior.embed(one)
        self._mean = (posterior.thetas @ Z.T)[:, 0]
        self._root = np.sqrt(posterior.leverages(Z, posterior.residual(Z, one))[:, 0])

    def interval(self, norm: float) -> tuple[float, float]:
        """Lower and upper bound of the recommended point."""
        radius = self._allowed.widths(norm) * self._root
        return float((self._mean - radius).max()), float((self._mean + radius).min())

    def gap(self, norm: float) -> float:
        """By how much some point may be better than the recommended one."""
        return self._difference.largest(self._allowed.widths(norm), norm, _MOST_WORK)

    def alive(self, norm: float) -> None:
        """A box has no candidates to count."""

    def largest_norm(self, tol: float, start: float) -> float:
        """The largest norm for which the gap is at most ``tol``, or 0 where none is."""

        def within(norm: float) -> bool:
            widths = self._allowed.widths(norm)
            return self._difference.largest(widths, norm, _MOST_WORK / _STEPS, tol) <= tol

        return largest_norm(within, self._allowed.smallest_norm(), start, _STEPS)
