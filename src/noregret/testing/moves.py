"""Any sequence of moves gives the same batches, with or without looking and saving in between."""

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.optimizer import Optimizer
from noregret.results import Batch

if TYPE_CHECKING:
    from noregret.testing.suite import Suite

_MOVES = ("ask", "ask", "tell", "tell", "part", "unasked", "cancel")


@dataclass
class _Player:
    """One of two runs that make the same moves."""

    suite: "Suite"
    optimizer: Optimizer
    flights: list[Batch] = field(default_factory=list)

    def move(self, name: str, number: int, i: int) -> list[Any]:
        """Make a move, and return what it shows."""
        optimizer = self.optimizer
        if name == "ask" or (name != "unasked" and not self.flights):
            batch = optimizer.ask(1 + number % 3)
            self.flights.append(batch)
            info = batch.info
            return [batch.ids, batch.points, *([info.upper, info.beta, info.ratio] if info else [])]
        if name == "unasked":
            chosen = np.asarray(self.suite.old_data)[: 1 + number % 4]
            optimizer.tell(chosen, np.full(len(chosen), 0.1 * number), unasked=True)
            return []
        batch = self.flights.pop(number % len(self.flights))
        if name == "cancel":
            optimizer.cancel(batch)
            return []
        if name == "part" and len(batch) > 1:
            self.flights.append(batch[1:])
            batch = batch[:1]
        optimizer.tell(batch, self.suite.evaluate(batch, i))
        return []


def look(suite: "Suite", optimizer: Optimizer, which: int) -> None:
    """Look at something without changing it; ``which`` = 0, 1, … goes through all ways to look."""
    looks = (
        lambda: optimizer.predict(suite.probe),
        lambda: optimizer.predict(suite.probe, pending=False),
        optimizer.recommend,
        lambda: optimizer.top(3),
        lambda: optimizer.beta,
        lambda: optimizer.alive,
        lambda: optimizer.dictionary,
        lambda: optimizer.effective_dimension(),
        lambda: optimizer.information_gain(),
        lambda: optimizer.history,
        lambda: optimizer.events,
        lambda: optimizer.assumed,
        lambda: optimizer.counts(suite.probe),
        lambda: repr(optimizer),
    )
    looks[which % len(looks)]()


def check_looks(suite: "Suite", examples: int, longest: int) -> None:
    """Let Hypothesis draw moves; play them with and without looking, saving and loading."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    from noregret.testing.suite import fingerprint, reload, same_arrays

    steps = st.tuples(st.sampled_from(_MOVES), st.integers(0, 11), st.integers(0, 13))

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # sequences are short, so failing ones need not be shrunk
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(played=st.lists(steps, min_size=3, max_size=longest), stop=st.integers(0, longest))
    def same(played: list[tuple[str, int, int]], stop: int) -> None:
        plain = _Player(suite, suite.build(seed=5))
        looked = _Player(suite, suite.build(seed=5))
        for i, (name, number, which) in enumerate(played):
            look(suite, looked.optimizer, which)
            if i == stop % len(played):
                looked.optimizer = reload(looked.optimizer)
                look(suite, looked.optimizer, which + 1)
            same_arrays(plain.move(name, number, i), looked.move(name, number, i))
            look(suite, looked.optimizer, number)
        same_arrays(plain.move("ask", 2, 0), looked.move("ask", 2, 0))
        assert fingerprint(plain.optimizer) == fingerprint(looked.optimizer)

    with warnings.catch_warnings():
        # Values that nobody asked for are any numbers, which may refute the norm.
        warnings.filterwarnings("ignore", "the rewards contradict", RuntimeWarning)
        same()
