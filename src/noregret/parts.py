"""What an optimiser is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from noregret._types import Points
from noregret.batching import BatchRule, FixedSize
from noregret.kernels import Kernel
from noregret.learning.learner import Learner, Learning
from noregret.learning.own_bounds import OwnBounds
from noregret.learning.rules import Rules
from noregret.models.assumptions import Assumptions
from noregret.models.fantasy import Fantasy
from noregret.observations import Observations
from noregret.picking.bounds import gp_bounds
from noregret.picking.chooser import Chooser
from noregret.rewards.least_squares import LeastSquares, RewardEstimate
from noregret.spaces import Candidates
from noregret.widths.evidence import Evidence, WidthRule

#: a name, a number β, or a function of the evidence that gives β: bounds are mean ± β·std
Width = str | float | Callable[[Evidence], float]


# Parts that most algorithms have. They have names, so that optimisers can be pickled.


def _two(t: int) -> float:
    return 2.0


def _fixed_size(fantasy: Fantasy) -> BatchRule:
    return FixedSize()


def _same(kernel: Kernel) -> Kernel:
    return kernel


def _any_list(candidates: Candidates, assumed: Assumptions) -> None:
    """Every list may replace the old one."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What an algorithm is made of.

    Attributes
    ----------
    chooser
        Picks the next points.
    widths
        The widths that the algorithm knows by name, as factors of √leverage.
    proved
        The names of the widths that a theorem covers: their bounds are intersected by default.
    dictionary
        ``"complete"``, ``"grow"`` or ``"resample"``.
    qbar
        Gives q̄ for a number of evaluations.
    ratio
        C̃: by what factor variances may shrink before the batch rule ends a batch.
    rule
        Makes the rule that ends a batch.
    frozen
        Whether picks shrink variances only inside the dictionary's span until feedback comes.
    estimate
        How the mean is estimated from rewards.
    learning
        How settings given as ``"auto"`` are learnt.
    kernel
        From which kernel the fit of ``"auto"`` starts; ``None``: Matérn 5/2.
    replaced_kernel
        Makes the kernel in use from the one that is given.
    check_list
        Refuses a list of candidates that may not replace the old one.
    starts_uniformly
        Whether the first choice, when nothing is known, is drawn uniformly.
    spreads
        Whether the first plate is spread over the list.
    lam
        λ if none is given and λ does not follow from the noise.
    beliefs
        Makes the beliefs, if they are not those of one GP.
    own
        More bounds, of arms from their own rewards alone; on lists they are intersected with those
        of the model.
    view
        Makes the bounds from beliefs, observations and rules, with pending points or without.
    many
        Whether bounds are intersected over many λ if no λ is given and the width is proved.
    inflation
        The factor of deviations inside a batch, by the name of the width. Numbers and functions
        have none: they are taken as they are.
    notes
        What ``opt.events`` says of the settings from the start.
    """

    chooser: Chooser
    widths: Mapping[str, WidthRule]
    proved: tuple[str, ...] = ()
    dictionary: str = "complete"
    qbar: Callable[[int], float] = _two
    ratio: float = 1.0
    rule: Callable[[Fantasy], BatchRule] = _fixed_size
    frozen: bool = False
    estimate: RewardEstimate = field(default_factory=LeastSquares)
    learning: Learning = field(default_factory=Learning)
    kernel: Kernel | None = None
    replaced_kernel: Callable[[Kernel], Kernel] = _same
    check_list: Callable[[Candidates, Assumptions], None] = _any_list
    starts_uniformly: bool = True
    spreads: bool = True
    lam: float | None = None
    beliefs: Callable[[Assumptions, Learner | None, Points], Any] | None = None
    own: OwnBounds | None = None
    view: Callable[[Any, Observations, Rules, bool, bool], Any] = gp_bounds
    many: bool = False
    inflation: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
