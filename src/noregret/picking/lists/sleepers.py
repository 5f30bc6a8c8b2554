"""The contract of stale bounds: what a batch reads of a list, and gives back."""

from typing import TYPE_CHECKING, NamedTuple, Protocol

from noregret._types import Floats, Ints, Points
from noregret.models.fantasy import Block
from noregret.models.sparse import SparseGP
from noregret.picking.bounds import Bounds
from noregret.picking.lists.columns import PointsOf, Queue
from noregret.picking.lists.shards import Looks, Uppers
from noregret.spaces import Candidates

if TYPE_CHECKING:
    from noregret.picking.lists.awake import Awake


class Seen(NamedTuple):
    """Candidates in the order they were looked at.

    Attributes
    ----------
    ids
        Ids of the candidates (n).
    columns
        What the sleepers need to know of them when the batch is complete (n each).
    """

    ids: Ints
    columns: tuple[Floats, ...]


class Sleepers(Protocol):
    """The stale bounds of a list, which a batch reads from the largest one down.

    There are two: :class:`~noregret.picking.lists.batch.Intersected`, whose bounds only fall, and
    :class:`~noregret.picking.lists.current.Current`, the papers' rule.
    """

    @property
    def intersects(self) -> bool:
        """Whether bounds only fall."""

    @property
    def column(self) -> Uppers | Looks:
        """What is kept of every candidate."""

    def follow(self, model: SparseGP, points: PointsOf) -> None:
        """Bring what is kept up to date with the model, at the start of a batch."""

    def extend(self, space: Candidates) -> None:
        """The list has grown at its end."""

    def move_to(self, space: Candidates) -> None:
        """Keep the bounds where the list is."""

    def start(self, bounds: Bounds, points: PointsOf, skipped: Ints) -> Queue:
        """Start to look at candidates, in falling order of their stale bounds; some are skipped."""

    def stale(self, ids: Ints) -> Floats:
        """The stale bounds of some candidates (n); ∞ where earlier bounds limit nothing."""

    def all_stale(self) -> Floats:
        """The stale bounds of all candidates (A)."""

    def intersect(self, ids: Ints, upper: Floats) -> None:
        """Let other upper bounds of some candidates (n) limit theirs, if bounds only fall."""

    def top(self, bounds: Bounds, skipped: Ints) -> tuple[int, Points, float] | None:
        """The candidate with the largest bound of all except some: id, point (1 × d) and bound.

        ``None`` if candidates have to be looked at first.
        """

    def first_look(self, bounds: Bounds, limit: int) -> int:
        """How many candidates to look at first, for a batch of at most ``limit`` picks."""

    def cap(self, bounds: Bounds, stale: Floats, block: Block) -> Floats:
        """The largest bounds that candidates with these stale bounds can have in the batch (n)."""

    def noted(self, stale: Floats, caps: Floats, block: Block) -> tuple[Floats, ...]:
        """What to remember about candidates looked at, until the batch is complete (n each)."""

    def commit(self, bounds: Bounds, awake: "Awake", level: float) -> None:
        """Take in what was seen, down to bounds of this level."""
