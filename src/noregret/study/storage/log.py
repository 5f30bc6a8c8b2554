"""A study's file and its optimiser kept in step: every change is written before it counts."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from noregret._types import Floats
from noregret.algorithms import Optimizer
from noregret.results import BatchInfo
from noregret.spaces import Candidates, Domain
from noregret.study.answers import Answer, Units
from noregret.study.errors import StudyError
from noregret.study.storage import kept_fits, replay
from noregret.study.storage.added_candidates import put_addition
from noregret.study.storage.file import StudyFile
from noregret.study.trials import Packed, Trial

#: the best choice is noted in the log each time the answers have grown by this factor
_NOTE_GROWTH = 1.1

_NOT_STORED = {
    "domain": "domain must be given, because this study's candidates are objects of your own, or "
    "its space has a condition feasible=f",
    "kernel": "kernel must be given, because this study's kernel is a callable or a class of your "
    "own, of which no file can hold enough",
}


class Log:
    """Operations on a study: each is one transaction.

    The optimiser is made from the file when it is first needed: answers are written without it.
    When an operation fails, the optimiser in memory may be ahead of the file; it is dropped, and
    made again when it is next needed.

    Parameters
    ----------
    file
        The open file.
    domain, kernel
        Domain and kernel if the file cannot store them, else ``None``.
    """

    def __init__(self, file: StudyFile, domain: Any, kernel: Any) -> None:
        self.file = file
        self.storage = file.storage
        self.settings = self.storage.settings()
        sign = -1.0 if self.settings["direction"] == "minimize" else 1.0
        self.units = Units(sign, self.settings["prior_mean"])
        self._not_stored = domain, kernel
        for name in self.settings["given_again"]:
            if {"domain": domain, "kernel": kernel}[name] is None:
                raise ValueError(f"{_NOT_STORED[name]}: pass it again, open(path, {name}=...)")
        self._state: replay.Replayed | None = None
        self._domain: Domain | None = None

    # -- the optimiser -----------------------------------------------------------------------

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser after the whole log."""
        return self._current().optimizer

    @property
    def domain(self) -> Domain:
        """What may be chosen."""
        if self._domain is None:
            self._domain = replay.stored_domain(self.storage, self._not_stored[0])
        return self._domain

    def _current(self) -> replay.Replayed:
        """The state after the whole log: a reader catches up with the writer here."""
        if self._state is None or not self.file.writable:
            with self.file.transaction():
                if self._state is None:
                    self._state = self._restore()
                    self._report_rebuild(self._state)
                else:
                    try:
                        replay.follow(self.storage, self._state, self.units)
                    except replay.DivergedError:  # the writer has changed an answer
                        self._domain = None
                        self._state = self._restore()
            self._domain = self._state.optimizer.domain  # the writer may have added candidates
        return self._state

    def _restore(self) -> replay.Replayed:
        found = replay.restore(self.storage, self.domain, self._not_stored[1], self.units)
        if found.rebuilt is None:
            kept_fits.use(self.storage, found.optimizer, found.operation)
        return found

    def keep_look(self) -> bool:
        """Keep what a look has fitted for later looks; returns whether it is in the file."""
        state = self._state
        if state is None or state.rebuilt is not None:
            return False
        return kept_fits.keep(self.file, state.optimizer, state.operation)

    def _report_rebuild(self, state: replay.Replayed) -> None:
        """Warn if the log could not be replayed, and store the rebuilt optimiser."""
        if state.rebuilt is None:
            return
        warnings.warn(
            f"{self.file.path}: {state.rebuilt}. All answers are there and the optimiser has "
            "been told them again, but its further questions may differ from an uninterrupted run.",
            RuntimeWarning,
            stacklevel=5,
        )
        if self.file.writable:
            state.operation = self.storage.add_operation("rebuild")
            self.storage.add_event("rebuilt", {"why": state.rebuilt})
            self._put_snapshot(state)

    def _check_writable(self) -> None:
        if not self.file.writable:
            raise StudyError(f"{self.file.path} has been opened read_only")

    @contextmanager
    def _change(self) -> Iterator[None]:
        """A transaction that changes the study."""
        self._check_writable()
        try:
            with self.file.transaction():
                yield
        except BaseException:
            self._state = None
            raise

    # -- operations --------------------------------------------------------------------------

    def ask(
        self,
        n: int | None,
        origin: str,
        deliver: Callable[[list[int]], None] | None = None,
        *,
        fill: bool = False,
    ) -> list[int]:
        """Numbers of the trials to evaluate next: overdue ones, then new ones.

        With ``fill`` there are ``n``, even if an adaptive batch would be shorter; fewer if no
        candidate may be asked for any more. ``deliver`` is called with the trials before they count
        as handed out. If it fails, they do not count.
        """
        self._check_writable()
        state = self._current()
        with self._change():
            overdue = self._overdue(n)
            for trial in overdue:
                self._reassign(trial)
            numbers = [trial.number for trial in overdue]
            if (n is None or len(numbers) < n) and not state.optimizer.exhausted:
                wanted = None if n is None else n - len(numbers)
                numbers += self._ask_for_new(state, wanted, origin, fill)
            if deliver is not None:
                deliver(numbers)
        self._snapshot_if_due()
        return numbers

    def _overdue(self, n: int | None) -> list[Trial]:
        timeout = self.settings["timeout"]
        if timeout is None:
            return []
        return self.storage.overdue_trials(given_before=time.time() - timeout)[:n]

    def _ask_for_new(
        self, state: replay.Replayed, n: int | None, origin: str, fill: bool
    ) -> list[int]:
        best = self._best_to_note(state.optimizer)
        batch = state.optimizer.ask(n, fill=fill)
        info = _about_batch(batch.info, len(batch)) | ({} if best is None else {"best": best})
        marks = {"fill": fill, "spread": batch.spread, "uniform": batch.uniform}
        info |= {name: True for name, is_so in marks.items() if is_so}
        state.operation = self.storage.add_operation("ask", n, info)
        state.asks += 1
        choices = state.optimizer.domain.pack(batch.ids, batch.points)
        return self.storage.add_trials(state.operation, choices, origin)

    def reassign(self, trial: Trial) -> None:
        """Note that a pending trial was given to another worker."""
        if trial.status != "pending":
            raise StudyError(f"trial must be without an answer; {trial.number} is {trial.status}")
        with self._change():
            self._reassign(trial)

    def _reassign(self, trial: Trial) -> None:
        self.storage.reassign_trial(trial)
        self.storage.add_event("reassigned", {"trial": trial.number})

    def tell(
        self, answers: Sequence[Answer], reason: str | None, source: dict[str, Any] | None
    ) -> None:
        """Answer pending trials, all with values or all failed for a reason."""
        with self._change():
            kind = "tell" if reason is None else "fail"
            operation = self.storage.add_operation(kind, info=source)
            self._end(operation, answers, reason)
            if self._state is not None:
                replay.follow(self.storage, self._state, self.units)
        self._snapshot_if_due()

    def _end(self, operation: int, answers: Sequence[Answer], reason: str | None) -> None:
        trials, values = zip(*answers, strict=True)
        self.storage.end_trials(operation, trials, values, reason)

    def overwrite(
        self, answers: Sequence[Answer], reason: str | None, source: dict[str, Any] | None
    ) -> None:
        """Answer trials, some of which had another answer: a fresh optimiser is told everything."""
        with self._change():
            operation = self.storage.add_operation("rebuild", info=source)
            self._end(operation, answers, reason)
            for trial, value in answers:
                before = {"before": trial.value, "told_by": trial.done_by}
                about = {"trial": trial.number, "value": value, **before}
                self.storage.add_event("overwritten", about)
            self._start_anew()

    def _start_anew(self) -> None:
        """Tell a fresh optimiser everything, because answers given before have changed."""
        first = replay.first_optimizer(self.storage, self.domain, self._not_stored[1])
        self._state = replay.rebuild(self.storage, first, self.units, None)
        # Replay cannot cross this point, so the snapshot belongs to the same transaction.
        self._put_snapshot(self._state)

    def history(
        self, choices: list[Packed], values: Floats, source: dict[str, Any] | None
    ) -> list[int]:
        """Take in answers that nobody asked for; the numbers of their trials."""
        with self._change():
            operation = self.storage.add_operation("history", info=source)
            numbers = self.storage.add_trials(operation, choices, "history", values.tolist())
            if self._state is not None:
                replay.follow(self.storage, self._state, self.units)
        self._snapshot_if_due()
        return numbers

    def add(self, more: Candidates, table: bytes | None) -> None:
        """Add candidates; ``table`` is what to show of all candidates."""
        self._check_writable()
        state = self._current()
        with self._change():
            operation = self.storage.add_operation("add", info={"candidates": len(more)})
            put_addition(self.storage, operation, more)
            if table is not None:
                self.storage.put_blob("table", table)
            self.storage.add_event("candidates added", {"candidates": len(more)})
            replay.follow(self.storage, state, self.units)
        self._domain = state.optimizer.domain

    def set_aside(self, ids: list[int]) -> None:
        """Stop asking for these candidates."""
        self._check_writable()
        state = self._current()
        with self._change():
            self.storage.add_operation("aside", info={"ids": ids})
            self.storage.add_event("set aside", {"ids": ids})
            replay.follow(self.storage, state, self.units)

    def retry(self, ids: list[int]) -> None:
        """Ask for these candidates again: a fresh optimiser does not know of their failures."""
        with self._change():
            self.storage.add_operation("retry", info={"ids": ids})
            self.storage.add_event("brought back", {"ids": ids})
            self._start_anew()

    def add_event(self, kind: str, details: dict[str, Any]) -> None:
        """Note something in the file."""
        with self._change():
            self.storage.add_event(kind, details)

    # -- snapshots and notes -----------------------------------------------------------------

    def close(self) -> None:
        """Store a snapshot, so that the next process need not replay questions."""
        with self.file.mutex:
            if self._state is not None and self._state.asks and self.file.writable:
                self._snapshot(self._state)
            self._state = None
            self.file.close()

    def _snapshot_if_due(self) -> None:
        if self._state is not None and self._state.snapshot_due():
            self._snapshot(self._state)

    def _snapshot(self, state: replay.Replayed) -> None:
        counts = state.asks, state.answers
        try:
            with self.file.transaction():
                self._put_snapshot(state)
        except StudyError as error:
            # Answers are on disk without the snapshot; the next operation tries again.
            state.asks, state.answers = counts
            warnings.warn(f"no snapshot could be stored: {error}", RuntimeWarning, stacklevel=4)

    def _put_snapshot(self, state: replay.Replayed) -> None:
        data = replay.dump(state.optimizer, candidates=False)
        self.storage.put_snapshot(state.operation, data)
        state.asks = state.answers = 0

    def _best_to_note(self, optimizer: Optimizer) -> dict[str, float] | None:
        """The best choice so far, if the answers have grown enough since the last note."""
        t, noted = optimizer.t, self.storage.head().noted
        if t <= noted or t < _NOTE_GROWTH * noted:
            return None
        best = self.units.recommendation(optimizer.recommend())
        names = ("id", "mean", "lower", "upper", "gap")
        about = {"t": t} | {name: getattr(best, name) for name in names}
        alive = optimizer.alive
        return about if alive is None else about | {"alive": alive}


def _about_batch(info: BatchInfo | None, size: int) -> dict[str, Any]:
    if info is None:
        return {"size": size}
    return {
        "size": size,
        "beta": info.beta,
        "ratio": info.ratio,
        "dictionary": info.dictionary_size,
    }
