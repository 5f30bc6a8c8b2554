"""What do we believe? Gaussian processes over a list, exact or on a dictionary of inducing points."""

from noregret.models.dictionary import Sparsifier, bless, inclusion_probability
from noregret.models.sparse import SparseGP

__all__ = ["Sparsifier", "SparseGP", "bless", "inclusion_probability"]
