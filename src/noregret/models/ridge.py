"""Ridge regression on features: V = G + λI, a root of V⁻¹ and the weights, for several λ.

G = Σ n z zᵀ over the arms, with n evaluations of an arm. All of it is updated by low-rank steps: a
step costs O(m²) for an evaluation, and O(m) more for a new feature that no earlier evaluation has.
"""

import copy

import numpy as np

from noregret._types import Floats
from noregret.linalg.factors import InverseRoots, add_product, with_square_room

#: how many times evaluations are kept beside G before it takes them in
_LATE = 16


class Ridge:
    """The weights θ = V⁻¹Zᵀy of m features for every λ.

    Parameters
    ----------
    lams
        The values of λ (g).

    Attributes
    ----------
    target
        Zᵀy (m).
    thetas
        The weights for every λ (g × m).
    """

    def __init__(self, lams: Floats) -> None:
        self.target: Floats = np.empty(0)
        self.thetas: Floats = np.empty((len(lams), 0))
        self._exact = True  # whether the weights solve V θ = Zᵀy
        self._roots = InverseRoots(lams)
        # G in a corner, without the last evaluations (k × m each).
        self._products: Floats = np.empty((0, 0))
        self._late: list[Floats] = []
        self._largest = 0.0  # no diagonal entry of G is larger

    def copy(self) -> "Ridge":
        """Another regression with the same content."""
        made = copy.copy(self)
        # All other attributes are replaced when they change, never written to.
        made._products, made._roots = self._products.copy(), self._roots.copy()
        return made

    @property
    def roots(self) -> Floats:
        """For every λ, F with V⁻¹ = FFᵀ (g × m × m, possibly a view)."""
        return self._roots.matrices

    def coordinates(self, Z: Floats, which: slice = slice(None)) -> Floats:
        """ZF of features Z (k × m) for every λ, or for some: g × k × m."""
        return self._roots.coordinates(Z, which)

    def solved(self, target: Floats) -> Floats:
        """V⁻¹ times a vector (m) for every λ (g × m)."""
        return self._roots.solve(target)

    def explained(self, lams: Floats) -> Floats:
        """yᵀZV⁻¹Zᵀy for any λ (k), from the eigenvalues of G: O(m³)."""
        values, vectors = np.linalg.eigh(self.gram())
        turned = np.square(vectors.T @ self.target)
        return np.asarray((turned / (np.maximum(values, 0.0) + lams[:, None])).sum(axis=1))

    @property
    def log_dets(self) -> Floats:
        """log det(V/λ) for every λ (g)."""
        return self._roots.log_dets

    def gram(self) -> Floats:
        """G (m × m, possibly a view)."""
        m = self._roots.size
        if not self._late:
            return self._products[:m, :m]
        late = self._late_rows(m)
        return np.asarray(self._products[:m, :m] + late.T @ late)

    def _late_rows(self, width: int) -> Floats:
        """The evaluations that are not in ``_products``, with zeros beyond m (k × width)."""
        late, at = np.zeros((sum(map(len, self._late)), width)), 0
        for rows in self._late:
            late[at : at + len(rows), : rows.shape[1]] = rows
            at += len(rows)
        return late

    def compute(self, Z: Floats, counts: Floats, sums: Floats) -> None:
        """Start from all features (u × m), counts and sums (u each): O(u m² + g m³), no drift."""
        self._products = np.asarray(Z.T @ (Z * counts[:, None]))
        self._late, self._largest = [], float(self._products.diagonal().max(initial=0.0))
        self.target = sums @ Z
        self._roots.compute(self._products)
        self.thetas, self._exact = self._roots.solve(self.target), True

    def set_weights(self, weights: Floats) -> None:
        """Use other weights, of the first λ or of all (1 or g × m), until the next update."""
        self.thetas = np.concatenate([weights, self.thetas[len(weights) :]])
        self._exact = False

    def change_sums(self, Z: Floats, change: Floats) -> None:
        """Arms with features Z (k × m) have other sums; :meth:`solve` brings weights up to date."""
        self.target = self.target + change @ Z

    def add_rows(
        self, Z: Floats, coordinates: Floats, weights: Floats, change: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Evaluations of arms with features Z (k × m).

        Parameters
        ----------
        Z, coordinates
            Their features, and the :meth:`coordinates` of these (g × k × m).
        weights
            The square roots of how often each was evaluated (k).
        change
            How their sums have changed (k); the target has this already.

        Returns
        -------
        tuple
            M (k × m): zᵀV⁻¹z of the first λ falls by ‖Mz‖². A vector c (k): the first λ's mean of z
            moves by cᵀMz. WZV⁻¹ for every λ (g × k × m), W with the weights on its diagonal; and C
            (k × k) with CM = WZV⁻¹ for the first λ.
        """
        weighted = Z * weights[:, None]
        off = change / weights - self.thetas @ weighted.T  # rewards less their means
        self._late = [*self._late, weighted]
        if len(self._late) > _LATE:
            self._take_late()
        self._largest += float(np.vdot(weighted, weighted))
        falls, gains, across = self._roots.add_rows(weighted, coordinates * weights[:, None])
        self.thetas = self.thetas + (off[:, None] @ gains)[:, 0]
        return falls, off[0] @ across, gains, across

    def add_columns(
        self, Z: Floats, fresh: Floats, counts: Floats, sums: Floats, solved: Floats | None
    ) -> tuple[Floats, Floats, Floats]:
        """New features of the arms that have any: all others have 0.

        Parameters
        ----------
        Z, fresh
            Old and new features of these arms (k × m, k × Δ).
        counts, sums
            Evaluations and sums of rewards of these arms (k each).
        solved
            V⁻¹ times the new columns of G for every λ (g × m × Δ), if it is known.

        Returns
        -------
        tuple
            C (Δ × m) and R (Δ × Δ): zᵀV⁻¹z of the first λ grows by ‖h‖² with h = Re − Cz, for the
            new features e of a point. A vector c (Δ): its mean moves by cᵀh.
        """
        m, k = self._roots.size, fresh.shape[1]
        weighted = fresh * counts[:, None]
        cross, corner = Z.T @ weighted, fresh.T @ weighted
        self._products = with_square_room(self._products, m + k)
        self._products[:m, m : m + k], self._products[m : m + k, :m] = cross, cross.T
        self._products[m : m + k, m : m + k] = corner
        self._largest = max(self._largest, float(corner.diagonal().max()))
        if solved is None:
            solved = self._roots.solve(cross)
        inverses = self._roots.add_columns(cross, corner, solved)
        target = sums @ fresh
        self.target = np.concatenate([self.target, target])
        rest = inverses @ (target - self.thetas @ cross)[:, :, None]
        last = inverses.transpose(0, 2, 1) @ rest
        self.thetas = np.concatenate([self.thetas[:, :, None] - solved @ last, last], 1)[:, :, 0]
        return inverses[0] @ solved[0].T, inverses[0], np.asarray(rest[0, :, 0])

    def is_settled(self) -> bool:
        """Whether the weights are still those of least squares, and the roots need no test."""
        if self._exact and self._roots.are_due(self._largest):
            self._take_late()
            self._largest = float(self._products.diagonal().max(initial=0.0))
            return not self._roots.are_due(self._largest)
        return self._exact

    def _take_late(self) -> None:
        """Add the last evaluations to ``_products``."""
        if self._late:
            late = self._late_rows(len(self._products))
            add_product(self._products, late, late)
            self._late = []

    def solve(self) -> bool:
        """Compute the weights anew; roots that lost digits are computed again.

        Returns whether the first λ's root was still accurate.
        """
        self._take_late()
        accurate = self._roots.repair(self.gram())
        self.thetas, self._exact = self._roots.solve(self.target), True
        return accurate
