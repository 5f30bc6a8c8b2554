"""What do we believe? GPs over a list, exact or on a dictionary of inducing points."""

from noregret.learning.fit import Fit, Priors, fit_kernel
from noregret.models.dictionary import Sparsifier, bless, inclusion_probability
from noregret.models.sparse import SparseGP

__all__ = [
    "Fit",
    "Priors",
    "SparseGP",
    "Sparsifier",
    "bless",
    "fit_kernel",
    "inclusion_probability",
]
