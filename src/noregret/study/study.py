"""A study: one optimisation with everything needed to go on, in one file."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from noregret import _checks
from noregret._types import Floats
from noregret.algorithms import Optimizer, make
from noregret.kernels import as_kernel
from noregret.kernels.spec import to_spec
from noregret.results import Recommendation, Trials
from noregret.spaces import Domain, as_candidates, as_domain
from noregret.spaces.files import keeps
from noregret.study import replay
from noregret.study.errors import StudyError
from noregret.study.file import StudyFile
from noregret.study.growing import stored_as
from noregret.study.log import Log
from noregret.study.rows import Packed, Trial
from noregret.study.stopping import StopRule
from noregret.study.tables import (
    check_names,
    events_frame,
    from_bytes,
    in_words,
    longer_table,
    operations_frame,
    table_to_show,
    to_bytes,
    top_frame,
    trials_frame,
)
from noregret.study.telling import check_reason, new_and_changed, trial_numbers
from noregret.study.threads import one_at_a_time


class Study:
    """A durable optimisation: :meth:`create` one, or :meth:`open` it to go on.

    A call that returned is on disk. However a process ends, the next one that opens the file goes
    on where it stopped and, told the same answers, asks the same further questions as if nothing
    had happened. One process writes; any number read (``read_only=True``). Threads may share one.
    """

    def __init__(self, file: StudyFile, domain: Any = None, kernel: Any = None) -> None:
        self._mutex = file.mutex
        self._log = Log(file, domain, kernel)
        self._storage = file.storage
        self._settings = self._log.settings
        #: between the user's values and the optimiser's rewards
        self.units = self._log.units
        self._table: pl.DataFrame | None = None

    # -- making and opening ------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        domain: Any,
        algorithm: str | None = None,
        *,
        kernel: Any = None,
        direction: str = "maximize",
        prior_mean: float = 0.0,
        names: Sequence[Any] | None = None,
        table: pl.DataFrame | None = None,
        batch: int | None = None,
        timeout: float | None = None,
        about: dict[str, Any] | None = None,
        **options: Any,
    ) -> "Study":
        """A new study in a new file.

        Parameters
        ----------
        path
            The file to make; an existing one is refused.
        domain, kernel, options
            As for the algorithms; ``seed`` is drawn where none is given. Without a kernel, kernel,
            noise and norm are learnt, and bounds are 2 deviations wide.
        algorithm
            The algorithm's class name in lower case; by default ``"plateucb"`` on a list without a
            kernel, else ``"bbkb"``.
        direction
            ``"maximize"`` or ``"minimize"``. Values keep the sign you give them.
        prior_mean
            What a value is expected to be before any answer: the kernel describes how far values
            may lie from it.
        names
            What each candidate of a list is called (n, all different).
        table
            What to show people of each candidate (a frame of n rows), such as raw features.
        batch
            The n of ``ask()`` when none is given.
        timeout
            Seconds after which a trial without an answer is given to whoever asks next.
        about
            JSON that is kept with the study, under ``study.settings["about"]``.
        """
        _checks.one_of("direction", direction, ("maximize", "minimize"))
        if batch is not None:
            batch = _checks.count("batch", batch)
        if timeout is not None:
            timeout = _checks.positive("timeout", timeout)
        prior_mean = _checks.finite("prior_mean", prior_mean)
        if algorithm is None:
            domain = as_domain(domain)
            algorithm = "plateucb" if kernel is None and domain.listed else "bbkb"
        if kernel is None:
            kernel, options = "auto", {"noise": "auto", "norm": "auto", "width": 2.0} | options
        optimizer = make(algorithm, domain, kernel, **options)
        own = optimizer.domain
        check_names(own)
        blobs = {"start": replay.dump(optimizer, candidates=True)}
        shown = table_to_show(_list_length(own), names, table)
        if shown is not None:
            blobs["table"] = to_bytes(shown)
        settings: dict[str, Any] = {
            "given_again": [],
            "algorithm": algorithm.lower(),
            "direction": direction,
            "prior_mean": prior_mean,
            "batch": batch,
            "timeout": timeout,
            "seed": optimizer.seed,
            "named": names is not None,
            "kernel": kernel if isinstance(kernel, str) else repr(as_kernel(kernel)),
            "about": about or {},
        }
        if not keeps(own):
            settings["given_again"].append("domain")
        if not isinstance(kernel, str) and to_spec(as_kernel(kernel), {}) is None:
            settings["given_again"].append("kernel")
        file = StudyFile.create(Path(path), settings, blobs)
        return cls(file, own, kernel if "kernel" in settings["given_again"] else None)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        domain: Any = None,
        kernel: Any = None,
        wait: float = 0.0,
    ) -> "Study":
        """Go on with a study.

        Parameters
        ----------
        path
            Its file.
        read_only
            Look only: another process may write meanwhile.
        domain, kernel
            To be given again where they cannot be stored: candidates that are objects other than
            strings, spaces with ``feasible``, and kernels that are callables of your own.
        wait
            Seconds to wait for another writer to leave before
            :class:`~noregret.study.LockedError` is raised.
        """
        wait = _checks.not_negative("wait", wait)
        file = StudyFile.open(Path(path), write=not read_only, wait=wait)
        try:
            return cls(file, domain, kernel)
        except BaseException:
            file.close()
            raise

    def close(self) -> None:
        """Let others write. Nothing is lost without it, but the next one opens faster with it."""
        self._log.close()

    @property
    def domain(self) -> Domain:
        """What may be chosen."""
        return self._log.domain

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- ask and tell ------------------------------------------------------------------------

    @one_at_a_time
    def ask(
        self,
        n: int | None = None,
        *,
        adaptive: bool = False,
        origin: str = "ask",
        deliver: Callable[[Trials], None] | None = None,
    ) -> Trials:
        """Trials to evaluate next: those overdue first, then new ones.

        ``ask(n)`` gives exactly ``n``: a plate, of different candidates where the list is long
        enough. The first plate is spread over the list. ``ask(n, adaptive=True)`` gives as many as
        can be chosen without loss before answers come, never more than ``n``. ``ask()`` gives the
        study's ``batch``, or what the algorithm wants: one trial for a sequential rule, a whole
        batch for an adaptive one. Where ``repeats`` leaves fewer candidates there are fewer trials,
        and none at the end: see :attr:`exhausted`.

        ``origin`` says who asks, see :meth:`trials`. ``deliver`` is called with the trials before
        they are on disk: where it raises an error, nothing has been asked.
        """
        n = self._settings["batch"] if n is None else _checks.count("n", n)
        pass_on = None if deliver is None else lambda numbers: deliver(self.get(numbers))
        fill = n is not None and not adaptive
        return self.get(self._log.ask(n, origin, pass_on, fill=fill))

    @property
    def exhausted(self) -> bool:
        """Whether every candidate has been evaluated ``repeats`` times, answered or pending."""
        return self.optimizer.exhausted

    @one_at_a_time
    def add(
        self,
        candidates: Any,
        *,
        names: Sequence[Any] | None = None,
        table: pl.DataFrame | None = None,
    ) -> range:
        """Let more candidates be chosen from now on; the ids that they have.

        Ids and bounds of the others stay; the new ones start from the prior bound.

        Parameters
        ----------
        candidates
            As for :meth:`create`, of the same kind as the others.
        names
            What each is called, where the others have names: all different, and different from
            those in the study.
        table
            What to show of each, with columns of the study's table.
        """
        more = self.optimizer.as_more(candidates)
        stored_as(more)
        size, named = len(more), self._settings["named"]
        shown = longer_table(self.table, size, names, table, named)
        self._log.add(more, None if shown is None else to_bytes(shown))
        return range(len(as_candidates(self.domain)) - size, len(as_candidates(self.domain)))

    @one_at_a_time
    def enough(
        self,
        *,
        stop_gap: float | None = None,
        target: float | None = None,
        patience: int | None = None,
    ) -> str | None:
        """Which of these rules says that it is enough: ``"gap"``, ``"target"`` or ``"patience"``.

        See :class:`noregret.study.stopping.StopRule`; ``None`` where none does.
        """
        return StopRule(gap=stop_gap, target=target, patience=patience).reached(self)

    @one_at_a_time
    def tell(
        self,
        trials: Trials | Any,
        values: Any = None,
        *,
        failed: str | None = None,
        overwrite: bool = False,
    ) -> None:
        """Answer trials, by number: one value each, or ``failed="why"`` for all of them.

        Telling a trial again what it was told is no error and changes nothing; another value is
        refused unless ``overwrite``. Failed trials are no data and no longer pending; where a run
        failed, the optimiser looks elsewhere (:meth:`noregret.Optimizer.fail`). Either all of this
        is on disk when the call returns, or nothing is.
        """
        if (values is None) == (failed is None):
            raise ValueError("give values, or failed='why', one of the two")
        if failed is not None:
            check_reason(failed)
        known = self._find(trial_numbers(trials))
        answers: list[float | None] = [None] * len(known)
        if failed is None:
            answers = self._checked(values, len(known)).tolist()
        new, changed = new_and_changed(known, answers, failed, overwrite=overwrite)
        if changed:
            self._log.overwrite(new + changed, failed)
        elif new:
            self._log.tell(new, failed)

    def _checked(self, values: Any, n: int) -> Floats:
        """n values whose rewards are numbers that the optimiser can work with."""
        checked = _checks.rewards(values, n)
        _checks.rewards(self.units.rewards(checked), n)
        return checked

    @one_at_a_time
    def tell_history(
        self, points: Any, values: Any, *, source: dict[str, Any] | None = None
    ) -> Trials:
        """Answers that nobody asked for, such as old data: ids (or points of a box) and values.

        ``source`` (JSON) says where they come from; it is on disk if and only if they are, see
        :meth:`imports`.
        """
        ids, located = self.domain.locate(points)
        checked = self._checked(values, len(ids))
        choices = self.domain.pack(ids, located)
        return self.get(self._log.history(choices, checked, source) if choices else [])

    def run(
        self,
        f: Callable[[Any], Any],
        budget: int,
        *,
        stop_gap: float | None = None,
        target: float | None = None,
        patience: int | None = None,
        **options: Any,
    ) -> str:
        """Evaluate ``f`` until the study has ``budget`` answers; why the run ended.

        It ends early where :meth:`enough` says so. Other options as for
        :func:`noregret.study.runner.run_study`.
        """
        from noregret.study.runner import run_study

        rule = StopRule(gap=stop_gap, target=target, patience=patience)
        options.setdefault("stop", lambda run: rule.reached(self))
        return run_study(self, f, budget, **options)

    @one_at_a_time
    def pending(self, origin: str | None = None) -> list[int]:
        """Numbers of the trials without an answer, all or those of one origin."""
        pending = self._storage.pending_trials()
        return [trial.number for trial in pending if origin in (None, trial.origin)]

    @one_at_a_time
    def reassign(self, trial: int) -> None:
        """Note that a pending trial was given to another worker."""
        (found,) = self._find(trial_numbers(trial))
        if found.status != "pending":
            raise StudyError(f"trial must be without an answer; {trial} is {found.status}")
        self._log.reassign(found)

    @one_at_a_time
    def note(self, event: str, **details: Any) -> None:
        """Write an event of your own (JSON details) into the study."""
        self._log.add_event(event, details)

    # -- what is known -----------------------------------------------------------------------

    @one_at_a_time
    def best(self) -> Recommendation:
        """The choice with the best guaranteed value, in the sign of your values.

        For a study that minimises this is the smallest upper bound.
        """
        return self.units.recommendation(self.optimizer.recommend())

    @property
    @one_at_a_time
    def optimizer(self) -> Optimizer:
        """The study's optimiser, to look at: ask and tell the study, not the optimiser.

        It knows rewards, not values: ``study.units`` turns the ones into the others.
        """
        return self._log.optimizer

    @property
    def size(self) -> int | None:
        """How many candidates the list has; ``None`` on a box."""
        return _list_length(self.domain)

    @one_at_a_time
    def top(self, k: int = 10) -> pl.DataFrame:
        """The k evaluated choices with the best guaranteed values.

        With bounds, how often each was measured and the mean of those values.
        """
        found = self.optimizer.top(_checks.count("k", k))
        return top_frame(found, self.units, self.domain, self.table)

    @one_at_a_time
    def evaluations(self, choices: Sequence[Recommendation]) -> list[int]:
        """How many answers there are for each of these choices."""
        if not choices:
            return []
        chosen: Any = [one.id if self.domain.listed else one.point for one in choices]
        return [int(count) for count in self.optimizer.counts(chosen)]

    @one_at_a_time
    def last_batch(self) -> dict[str, Any] | None:
        """Size, width, ratio and dictionary of the last new batch."""
        operation = self._storage.last_ask()
        return None if operation is None else operation.info

    @one_at_a_time
    def trials(self) -> pl.DataFrame:
        """Every trial: its number, id, name or point, value, status, who asked, times, reason."""
        box = None if self.domain.listed else self.domain
        with self._log.file.transaction():
            chunks = [
                trials_frame(found, box, self.names) for found in self._storage.trial_chunks()
            ]
        return pl.concat(chunks) if chunks else trials_frame([], box, self.names)

    @one_at_a_time
    def rows(self) -> list[Trial]:
        """Every trial as it is stored."""
        with self._log.file.transaction():
            chunks = list(self._storage.trial_chunks())
        return [Trial(*row) for columns in chunks for row in zip(*columns, strict=True)]

    @one_at_a_time
    def events(self) -> pl.DataFrame:
        """What happened to the study and what the algorithm did on its own."""
        return events_frame(self._storage.events(), self.optimizer.events)

    @one_at_a_time
    def noted(self, event: str) -> list[dict[str, Any]]:
        """The details of all events of this kind, see :meth:`note`."""
        return [one.details for one in self._storage.events() if one.kind == event]

    @one_at_a_time
    def imports(self) -> dict[int, dict[str, Any]]:
        """Where answers that nobody asked for came from, by the number of the operation."""
        found = self._storage.operations()
        return {one.number: one.info for one in found if one.kind == "history" and one.info}

    @one_at_a_time
    def told_by(self, operation: int) -> list[tuple[Packed, float | None]]:
        """The choices that an operation told, as the file holds them, and their values."""
        return [(trial.packed, trial.value) for trial in self._storage.trials_done_by(operation)]

    @one_at_a_time
    def trial(self, number: int) -> Trial | None:
        """The trial of this number, if there is one."""
        found = self._storage.find_trials([number])
        return found[0] if found else None

    @one_at_a_time
    def operations(self) -> pl.DataFrame:
        """The log: asks with their batch sizes, widths and the best choice then; tells."""
        return operations_frame(self._storage.operations())

    @one_at_a_time
    def counts(self) -> dict[str, int]:
        """How many trials are pending, told and failed, and how many of them are history."""
        head = self._storage.head()
        return {
            "pending": head.pending,
            "told": head.told,
            "failed": head.failed,
            "history": head.history,
        }

    @one_at_a_time
    def get(self, numbers: Sequence[int]) -> Trials:
        """These trials, to be evaluated."""
        choices = replay.choices_of(self._find(numbers), self.domain)
        ids, points = self.domain.locate(choices)
        names = None if self.names is None else tuple(self.names.gather(ids.tolist()))
        values = self.domain.labels(ids, points)
        return Trials(np.array(numbers, dtype=np.int64), ids, points, values, names)

    def name_of(self, id_: int, point: Any) -> str:
        """What people call a choice: its name, its id, or its values on a box or space."""
        if self.names is not None:
            return str(self.names[id_])
        return str(id_) if self.domain.listed else in_words(point)

    @property
    def table(self) -> pl.DataFrame | None:
        """What to show people of each candidate (n rows, ``name`` first where there are names)."""
        if self._table is not None and len(self._table) == self.size:
            return self._table
        data = self._storage.get_blob("table")
        self._table = None if data is None else from_bytes(data)
        return self._table

    @property
    def names(self) -> pl.Series | None:
        """What the candidates are called, where names were given (n)."""
        table = self.table if self._settings["named"] else None
        return None if table is None else table["name"]

    @property
    def settings(self) -> dict[str, Any]:
        """What was decided when the study was created."""
        return dict(self._settings)

    @property
    def path(self) -> Path:
        """The study's file."""
        return self._log.file.path

    def _find(self, numbers: Sequence[int]) -> list[Trial]:
        """The trials of these numbers, in this order; unknown numbers are refused."""
        found = self._storage.find_trials(numbers)
        if len(found) < len(numbers):
            missing = next(iter(set(numbers) - {trial.number for trial in found}))
            raise StudyError(f"trials must have been asked for; there is no trial {missing}")
        return found


def _list_length(domain: Domain) -> int | None:
    """How many candidates a list has; ``None`` for a box."""
    return len(as_candidates(domain)) if domain.listed else None
