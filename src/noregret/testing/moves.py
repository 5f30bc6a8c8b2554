"""Any sequence of moves gives the same batches, with or without looking and saving in between."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.optimizer import Optimizer
from noregret.results import Batch

if TYPE_CHECKING:
    from noregret.testing.suite import Suite

_MOVES = ("ask", "ask", "fill", "tell", "tell", "part", "unasked", "cancel", "fail", "expect")
#: moves of lists only
_OF_LISTS = ("aside", "back", "grow")
#: moves of a batch in flight
_OF_FLIGHTS = ("tell", "part", "cancel", "fail")
#: the number of the first look that not every optimiser allows, and of all looks
_MAY_BE_REFUSED, _LOOKS = 17, 20
#: settings that may be learnt, in place of those given
_LEARNT = {"kernel": "auto", "noise": "auto", "norm": "auto"}


@dataclass
class _Player:
    """One of two runs that make the same moves."""

    suite: "Suite"
    optimizer: Optimizer
    flights: list[Batch] = field(default_factory=list)
    expected: Any = None

    def move(self, name: str, number: int, i: int) -> list[Any]:
        """Make a move, and return what it shows."""
        if name in ("ask", "fill") or (name in _OF_FLIGHTS and not self.flights):
            return self._ask(1 + number % 3, fill=name == "fill")
        if name in _OF_FLIGHTS:
            self._end(self.flights.pop(number % len(self.flights)), name, i)
        elif name in _OF_LISTS:
            self._change_list(name, number)
        else:
            self._without_batch(name, number)
        return []

    def _ask(self, n: int, *, fill: bool) -> list[Any]:
        # Full batches are long enough that settings can be learnt from a few of them.
        batch = self.optimizer.ask(4 * n if fill else n, fill=fill)
        self.flights.append(batch)
        info = batch.info
        return [batch.ids, batch.points, *([info.upper, info.beta, info.ratio] if info else [])]

    def _end(self, batch: Batch, name: str, i: int) -> None:
        """What happens to a batch in flight, or to a part of it."""
        if name == "cancel":
            self.optimizer.cancel(batch)
            return
        if name != "tell" and len(batch) > 1:
            self.flights.append(batch[1:])
            batch = batch[:1]
        if name == "fail":
            self.optimizer.fail(batch)
        else:
            self.optimizer.tell(batch, self.suite.evaluate(batch, i))

    def _without_batch(self, name: str, number: int) -> None:
        """Choices that the algorithm did not ask for: told at once, or expected and told later."""
        chosen = np.asarray(self.suite.old_data)[: 1 + number % 4]
        if name == "expect" and self.expected is None:
            self.optimizer.expect(chosen, uniform=number % 2 == 0)
            self.expected = chosen
            return
        if name == "expect":
            chosen, self.expected = self.expected, None
        values = np.full(len(chosen), 0.1 * number)
        self.optimizer.tell(chosen, values, unasked=name == "unasked")

    def _change_list(self, name: str, number: int) -> None:
        if name == "aside":
            self.optimizer.set_aside([number, number + 7])
        elif name == "back":
            self.optimizer.bring_back(self.optimizer.aside[: 1 + number % 2])
        else:
            rng = np.random.default_rng(number)
            self.optimizer.add_candidates(rng.uniform(size=(1 + number % 2, 2)))


def look(suite: "Suite", optimizer: Optimizer, which: int) -> None:
    """Look at something without changing it; ``which`` = 0, 1, … goes through all ways to look."""
    looks: tuple[Callable[[], Any], ...] = (
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
        lambda: optimizer.proved,
        lambda: optimizer.exhausted,
        lambda: optimizer.learnt,
        lambda: optimizer.top_gap(2),
        lambda: optimizer.failing(1),
        optimizer.certify,
    )
    # What a domain or an algorithm does not have is refused, which must change nothing either.
    with (
        suppress(ValueError, TypeError) if which % len(looks) >= _MAY_BE_REFUSED else nullcontext()
    ):
        looks[which % len(looks)]()


def _built(suite: "Suite", lam: float | None, *, learns: bool) -> Optimizer:
    """The algorithm with or without a λ, which means several at once, and with what is learnt."""
    if learns:
        try:
            return suite.build(seed=5, lam=lam, **_LEARNT)
        except ValueError as error:
            # Some algorithms and features need a kernel.
            if "kernel" not in str(error) and "RBF" not in str(error):
                raise
    return suite.build(seed=5, lam=lam)


def check_looks(suite: "Suite", examples: int, longest: int) -> None:
    """Let Hypothesis draw moves; play them with and without looking, saving and loading.

    So many examples are drawn with settings that are given, and as many with learnt ones.
    """
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    from noregret.testing.suite import fingerprint, reload, same_arrays

    names = _MOVES + (() if suite.domain().size is None else _OF_LISTS)
    steps = st.tuples(st.sampled_from(names), st.integers(0, 11), st.integers(0, _LOOKS - 1))

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # sequences are short, so failing ones need not be shrunk
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        lam=st.sampled_from([None, 0.1]),
        played=st.lists(steps, min_size=3, max_size=longest),
        stop=st.integers(0, longest),
    )
    def same(
        learns: bool, lam: float | None, played: list[tuple[str, int, int]], stop: int
    ) -> None:
        plain = _Player(suite, _built(suite, lam, learns=learns))
        looked = _Player(suite, _built(suite, lam, learns=learns))
        if learns:  # answers that are enough for a first fit
            for player in (plain, looked):
                player.move("fill", 2, 0)
                player.move("tell", 0, 0)
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
        for learns in (False, True):
            same(learns)
