"""The directions of feature space in which ATA-GP-UCB truncates: rows of V^(-1/2)Φᵀ.

The model keeps features z of its own, z = Rφ with RRᵀ = I for the paper's φ, because they can grow
column by column. With V_z = RVRᵀ the paper's rows are V^(-1/2)Φᵀ = RᵀV_z^(-1/2)Zᵀ: other
coordinates would truncate in other directions.
"""

import numpy as np

from noregret._types import Floats, Ints
from noregret.models.fourier import QuadratureFourier
from noregret.models.sparse import SparseGP


class FeatureDirections:
    """u of the arms in the paper's coordinates.

    Parameters
    ----------
    model
        The posterior; its kernel decides which coordinates: φ of :class:`QuadratureFourier`
        itself, or K_D^(-1/2)k_D of the dictionary D for any other kernel.
    """

    def __init__(self, model: SparseGP) -> None:
        self.model = model
        self._dictionary: Ints = np.empty(0, dtype=np.int64)
        self._rotation: Floats = np.empty((0, 0))

    @property
    def count(self) -> int:
        """m, the number of directions: 2m̄ᵈ, or the size of the dictionary."""
        kernel, points = self.model.kernel, self.model.table.points
        if isinstance(kernel, QuadratureFourier):
            return int(2 * kernel.nodes ** points.shape[1])
        return self.model.size

    def weights(self, rows: Ints) -> tuple[Floats, Floats]:
        """u of these arms (n × m), and the matrix (features × m) that takes r̂ to θ."""
        model = self.model
        rotation = self._rotate()
        root = model.root.matrix
        values, vectors = np.linalg.eigh(root @ root.T)
        # V_z^(-1/2), the symmetric root of V_z⁻¹ = FFᵀ.
        symmetric = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        back = symmetric @ rotation
        return model.arms.features(rows) @ back, back

    def _rotate(self) -> Floats:
        """R (features × m), found again when the dictionary changes."""
        model = self.model
        if not np.array_equal(self._dictionary, model.dictionary):
            lower = model.arms.features(model.dictionary)  # K_D = LLᵀ, z = L⁻¹k_D
            if isinstance(model.kernel, QuadratureFourier):
                features = model.kernel.features(model.arms.points[model.dictionary])
                self._rotation = np.asarray(np.linalg.solve(lower, features), dtype=np.float64)
            else:
                # φ = K_D^(-1/2)k_D = (QPᵀ)ᵀz for L = PΣQᵀ.
                left, _, right = np.linalg.svd(lower)
                self._rotation = right.T @ left.T
            self._dictionary = model.dictionary
        return self._rotation
