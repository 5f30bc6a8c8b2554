"""What do we believe? GPs over a list, exact or on a dictionary of inducing points."""

from noregret.models.dictionary import Sparsifier, bless, inclusion_probability
from noregret.models.sparse import SparseGP

__all__ = ["SparseGP", "Sparsifier", "bless", "inclusion_probability"]
