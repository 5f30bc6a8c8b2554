"""The list of candidates as a kernel sees it, and lists that replace it or grow it."""

from typing import TYPE_CHECKING, Any

from noregret.kernels import as_kernel
from noregret.kernels.adapters import largest_prior
from noregret.learning.learner import is_auto
from noregret.parts import Parts
from noregret.spaces import Candidates, Domain, Space, as_candidates, list_to_change
from noregret.spaces.other_lists import joined, of_the_same_kind

if TYPE_CHECKING:
    from noregret.optimizer import Optimizer


def domain_for(kernel: Any, domain: Domain) -> Domain:
    """The domain as the kernel sees it: bytes are numbers if the kernel takes no packed bits."""
    if is_auto(kernel) or as_kernel(kernel).takes_bits:
        return domain
    return domain.numbers()


def as_list_like(settings: "Optimizer", candidates: Any, *, same_type: bool) -> Candidates:
    """Candidates that may replace those of a list, or with ``same_type`` be added to them.

    Parameters
    ----------
    settings
        The optimiser on that list.
    candidates
        The new candidates, or what makes them. Columns with names are matched to those of the list.
    """
    old = list_to_change(settings.domain, "added" if same_type else "replaced")
    given = as_candidates(candidates) if isinstance(candidates, Space) else candidates
    made = as_candidates(domain_for(settings.kernel, of_the_same_kind(old, given)))
    alike = made.are_objects == old.are_objects and made.dimension == old.dimension
    if not alike or (same_type and made.are_bits != old.are_bits):
        raise ValueError(f"candidates must be of the same kind as {old!r}, got {made!r}")
    largest_prior(settings.assumed.kernel, made)
    return made


def more_candidates(settings: "Optimizer", candidates: Any) -> Candidates:
    """Candidates that can be added, in the type that the points of an optimiser's list have."""
    return as_list_like(settings, candidates, same_type=True)


def list_for(
    settings: "Optimizer", parts: Parts, candidates: Any, *, added: bool = False
) -> Candidates:
    """Another list for an optimiser: the candidates alone, or ``added`` to those it has."""
    if added:
        domain = joined(as_candidates(settings.domain), more_candidates(settings, candidates))
    else:
        domain = as_list_like(settings, candidates, same_type=False)
    parts.check_list(domain, settings.assumed)
    return domain
