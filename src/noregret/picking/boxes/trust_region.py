"""Who is next in a box? The largest upper bound, two times of three near the best point known."""

import numpy as np

from noregret._types import Floats, Ints, Points
from noregret.picking.boxes.mixed import search_of
from noregret.picking.boxes.ucb import BoxUCB
from noregret.picking.by_bounds import LooksByBounds
from noregret.picking.chooser import Picks, Situation
from noregret.rewards.winsorised import left_out
from noregret.spaces import Space

#: sides of the region, as fractions of the box's
_LARGEST, _SMALLEST = 0.8, 0.5**7
#: widths of the bounds in the region and, with a learnt kernel, in the whole box, as factors of the
#: width that bounds have for users
_LOCAL_WIDTH, _EXPLORING_WIDTH = 0.5, 2.0
#: one batch of so many is chosen in the whole box, the others in the region
_TURNS = 3
#: successes in a row that double the side
_SUCCESSES = 3
#: a reward stands out if it is better than the others predict by this many deviations; twice as
#: many each time that a second evaluation has confirmed such a reward
_STANDS_OUT, _CONFIRMED = 3.0, 2.0


class TrustRegion(LooksByBounds[BoxUCB]):
    """Picks in a trust region, and one time of three in the whole box.

    State: the region's sides, how its last picks went, and its picks that are not judged yet.

    Parameters
    ----------
    by_bounds
        Chooses in the whole box, and in parts of it.
    learnt
        Whether the kernel is learnt and nothing is proved. Then bounds in the whole box are twice
        as wide: a kernel fitted to evaluations that gather on one hill underestimates what lies
        elsewhere, and steps in the whole box would stay on that hill. And the best point is
        evaluated again if the only reward told of it stands out.
    """

    def __init__(self, by_bounds: BoxUCB, *, learnt: bool = False) -> None:
        super().__init__(by_bounds)
        self._learnt = learnt
        #: deviations by which a reward stands out
        self.stands_out = _STANDS_OUT
        self._again = -1  # row of the point that is evaluated again
        self._box = by_bounds.search.box
        #: sides as fractions of the box's
        self.side = _LARGEST
        #: picks in the region in a row that were better than all before, or were not
        self.successes = 0
        self.failures = 0
        self._turn = 0  # of _TURNS; the whole box has turn 0
        self._centre = -1  # row of the region's centre
        # Picks in the region that are not judged yet (k × d), and how often each had been told when
        # it was picked (k).
        self._tried: Floats = np.asarray(self._box.nothing)
        self._before: Ints = np.empty(0, dtype=np.int64)

    def region(self, now: Situation) -> Space:
        """The region around the point with the largest mean; the whole box at the start."""
        if not now.observations.t:
            return self._box
        return self._around(now.observations.points[_best(now)])

    @property
    def waiting(self) -> int:
        """Picks in the region that are not judged yet."""
        return len(self._tried)

    def _around(self, centre: Floats) -> Space:
        box = self._box
        half = 0.5 * self.side * (box.upper - box.lower)
        lower = np.maximum(box.lower, centre - half)
        upper = np.minimum(box.upper, centre + half)
        narrow = lower >= upper  # too narrow for floating point
        lower, upper = np.where(narrow, box.lower, lower), np.where(narrow, box.upper, upper)
        return box.around(lower, upper)

    def choose(self, now: Situation, limit: int) -> Picks:
        """Picks in the region or, when it is its turn, in the whole box.

        A best point whose reward stands out is evaluated again first: the reward may be an outlier,
        and region and recommendation would follow it. If the second evaluation leaves it the best
        point, the next reward has to stand out more: the model is too sure of itself.
        """
        self._judge(now)
        again = self._doubted(now) if self._learnt and now.observations.t else None
        if again is None:
            return self._choose_new(now, limit)
        return again if limit == 1 else again.joined(self._choose_new(now, limit - 1))

    def _doubted(self, now: Situation) -> Picks | None:
        """The best point if it was told once and is not pending, and its reward stands out."""
        rows, model = np.array([_best(now)]), now.beliefs.model
        if self._again >= 0 and model.counts[self._again] > 1:
            self.stands_out *= _CONFIRMED if self._again == rows[0] else 1.0
            self._again = -1
        if model.counts[rows[0]] != 1 or now.observations.pending[rows[0]]:
            return None
        mean, leverage, reward = model.mean(rows), model.leverage(rows), model.sums[rows]
        left, deviation = left_out(model, rows)
        if (reward - mean)[0] / left[0] <= self.stands_out * deviation[0]:
            return None
        self._again = int(rows[0])
        now.note("evaluated again")
        upper = mean + now.bounds.width * np.sqrt(leverage)
        return Picks(np.array([-1]), now.observations.points[rows], upper, now.bounds.width)

    def _choose_new(self, now: Situation, limit: int) -> Picks:
        # Without answers there is no best point.
        self._turn = (self._turn + 1) % _TURNS if now.observations.t else 0
        if not self._turn:
            return self._choose_anywhere(now, limit)
        self._centre = _best(now)
        region = self._around(now.observations.points[self._centre])
        search = search_of(region, self.by_bounds.search.method, quick=True)
        picks = self.by_bounds.choose_in(search, now, limit, _LOCAL_WIDTH)
        if now.once and any(count.any() for count in _seen(now, picks.points)):
            return self._choose_anywhere(now, limit)  # nothing new is left in the region
        self._try(now, picks.points)
        return picks

    def _choose_anywhere(self, now: Situation, limit: int) -> Picks:
        wider = _EXPLORING_WIDTH if self._learnt else 1.0
        return self.by_bounds.choose_in(self.by_bounds.search, now, limit, wider)

    def _try(self, now: Situation, points: Points) -> None:
        """Remember new picks in the region until they are told or cancelled."""
        told, _ = _seen(now, points)
        known = {point.tobytes() for point in self._tried}
        new = [i for i, point in enumerate(points) if point.tobytes() not in known]
        self._tried = np.concatenate([self._tried, points[new]])
        self._before = np.concatenate([self._before, told[new]])

    def _judge(self, now: Situation) -> None:
        """Count successes and failures of the picks told since; change the sides if it is time."""
        told, pending = _seen(now, self._tried)
        arrived = told > self._before
        points = self._tried[arrived]
        waiting = ~arrived & (told + pending > self._before)  # not told, not cancelled
        self._tried, self._before = self._tried[waiting], self._before[waiting]
        if not len(points):
            return
        best = _best(now)
        better = best != self._centre and bool(
            np.any(np.all(points == now.observations.points[best], axis=1))
        )
        self.successes = self.successes + 1 if better else 0
        self.failures = 0 if better else self.failures + len(points)
        if self.successes >= _SUCCESSES:
            self.successes = 0
            self._resize(now, min(2.0 * self.side, _LARGEST))
        elif self.failures >= max(4, self._box.dimension):
            self.failures = 0
            smaller = 0.5 * self.side
            self._resize(now, smaller if smaller >= _SMALLEST else _LARGEST)

    def _resize(self, now: Situation, side: float) -> None:
        if side != self.side:
            self.side = side
            now.note("trust region", side=side)


def _best(now: Situation) -> int:
    """The told row with the largest mean."""
    rows = now.told
    return int(rows[np.argmax(now.beliefs.model.mean(rows))])


def _seen(now: Situation, points: Points) -> tuple[Ints, Ints]:
    """How often points (k × d) have been told, and are pending (k each)."""
    observations = now.observations
    rows = observations.known_rows(np.full(len(points), -1), points)
    never = np.zeros(1, dtype=np.int64)  # row −1
    return (
        np.concatenate([observations.told, never])[rows],
        np.concatenate([observations.pending, never])[rows],
    )
