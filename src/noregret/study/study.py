"""A study: one optimisation with everything needed to go on, in one file."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl

from noregret import _checks
from noregret.algorithms import Optimizer
from noregret.results import Recommendation
from noregret.running.changed_lists import more_candidates
from noregret.spaces import Domain, as_candidates, list_to_change
from noregret.study.answers import check_answer, checked_values, new_and_changed, trial_numbers
from noregret.study.candidate_table import CandidateTable, longer_table, to_bytes
from noregret.study.create import new_file
from noregret.study.evaluating.stopping import Stop, StopRule, stop_of
from noregret.study.frames import aside_frame, events_frame, operations_frame, top_frame
from noregret.study.storage.added_candidates import check_storable
from noregret.study.storage.file import StudyFile, one_at_a_time, study_file, study_path
from noregret.study.storage.log import Log
from noregret.study.storage.records import Records
from noregret.study.trials import Trial, Trials, trials_of


class Study:
    """A durable optimisation: :meth:`create` one, or :meth:`open` it to go on.

    When a call returns, its result is on disk. However a process ends, the next one that opens the
    file goes on where it stopped. Told the same values, it asks the same further questions as an
    uninterrupted run. One process writes, any number read (``read_only=True``); threads may share.
    """

    def __init__(self, file: StudyFile, domain: Any = None, kernel: Any = None) -> None:
        #: held by the thread that uses the file: one at a time
        self.mutex = study_file(file).mutex
        self._log = Log(file, domain, kernel)
        self._storage = file.storage
        self._settings = self._log.settings
        #: trials, operations and events as the file holds them
        self.records = Records(file)
        #: converts between the user's values and the optimiser's rewards
        self.units = self._log.units
        self._candidates = CandidateTable(file.storage, named=self._settings["named"])

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
        table: Any = None,
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
            As for the algorithms; ``seed`` is drawn if none is given, and ``width`` is no function.
            Without a kernel (or with ``"auto"``) kernel, noise and norm are learnt, and bounds are
            2 deviations wide.
        algorithm
            The class name in lower case. By default, with a learnt kernel, ``"plateucb"`` on a list
            and ``"trustregionucb"`` on a box or space; with a given kernel ``"bbkb"``.
        direction
            ``"maximize"`` or ``"minimize"``. Values keep the sign you give them.
        prior_mean
            The expected value before anything is measured; the kernel describes deviations from it.
        names, table
            The name of each candidate of a list (n, all different), and a table for people (a
            polars or pandas frame of n rows), such as raw features.
        batch
            The n of ``ask()`` when none is given.
        timeout
            Seconds after which a trial without a value is handed out again by :meth:`ask`.
        about
            JSON that is kept with the study, under ``study.settings["about"]``.
        """
        given = {name: value for name, value in locals().items() if name != "cls"}
        return cls(*new_file(**given))

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
            Pass again what a file cannot store: candidates that are objects other than strings,
            spaces with ``feasible``, and kernels that are callables of your own.
        wait
            Seconds to wait for another writer before :class:`~noregret.study.LockedError`.
        """
        wait = _checks.not_negative("wait", wait)
        file = StudyFile.open(study_path(path), write=not read_only, wait=wait)
        try:
            return cls(file, domain, kernel)
        except BaseException:
            file.close()
            raise

    def close(self) -> None:
        """Let others write. Without it nothing is lost, but the next ``open`` takes longer."""
        self._log.close()

    @property
    def domain(self) -> Domain:
        """What may be chosen."""
        return self._log.domain

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r}, {self.domain!r}, {self._settings['algorithm']!r})"

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

        ``ask(n)`` gives exactly ``n``: a plate, of different candidates if the list is long
        enough. The first plate is spread over the list. ``ask(n, adaptive=True)`` gives as many as
        can be chosen without loss before values come, never more than ``n``. ``ask()`` gives the
        study's ``batch``, or what the algorithm wants: one trial for a sequential rule, a whole
        batch for an adaptive one. If ``repeats`` leaves fewer candidates, there are fewer trials,
        and none at the end: see :attr:`exhausted`.

        ``origin`` says who asks, see :meth:`trials`. ``deliver`` is called with the trials before
        they are on disk. If it raises an error, nothing has been asked.
        """
        n = self._settings["batch"] if n is None else _checks.count("n", n)
        pass_on = None if deliver is None else lambda numbers: deliver(self.get(numbers))
        return self.get(self._log.ask(n, origin, pass_on, fill=n is not None and not adaptive))

    @property
    def exhausted(self) -> bool:
        """Whether each candidate is set aside or has ``repeats`` evaluations, told or pending."""
        return self.optimizer.exhausted

    @one_at_a_time
    def add(
        self, candidates: Any, *, names: Sequence[Any] | None = None, table: Any = None
    ) -> range:
        """Add candidates to the list; returns their ids.

        Ids and bounds of the others stay; the new ones start from the prior bound.

        Parameters
        ----------
        candidates
            As for :meth:`create`, of the same kind as the others.
        names
            The name of each, if the others have names: all different, and different from those in
            the study.
        table
            What to show of each, with columns of the study's table.
        """
        more = more_candidates(self.optimizer, candidates)
        check_storable(more)
        shown = longer_table(self.table, len(more), names, table, self._settings["named"])
        self._log.add(more, None if shown is None else to_bytes(shown))
        size = len(as_candidates(self.domain))
        return range(size - len(more), size)

    @one_at_a_time
    def enough(
        self,
        *,
        stop_gap: float | None = None,
        target: float | None = None,
        patience: int | None = None,
    ) -> str | None:
        """Which of these rules says that it is enough: ``"gap"``, ``"target"`` or ``"patience"``.

        See :class:`noregret.study.evaluating.stopping.StopRule`; ``None`` if none does.
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
        source: dict[str, Any] | None = None,
    ) -> None:
        """Tell the values of trials, by number: one each, or ``failed="why"`` for all of them.

        Telling the same value again changes nothing. Another value is refused unless ``overwrite``.
        A failed trial gives no data and is no longer pending. If an evaluation of :meth:`run`
        failed, the optimiser looks elsewhere (:meth:`noregret.Optimizer.fail`). When the call
        returns, either all of this is on disk or nothing; ``source`` as in :meth:`tell_history`.
        """
        check_answer(values, failed)
        known = self.records.find(trial_numbers(trials))
        new, changed = new_and_changed(known, values, failed, self.units, overwrite=overwrite)
        if changed:
            self._log.overwrite(new + changed, failed, source)
        elif new:
            self._log.tell(new, failed, source)

    @one_at_a_time
    def tell_history(
        self, points: Any, values: Any, *, source: dict[str, Any] | None = None
    ) -> Trials:
        """Tell values that nobody asked for, such as old data: ids (or points of a box) and values.

        ``source`` (JSON) says where they come from; it is on disk if and only if they are, see
        ``study.records.sources()``.
        """
        ids, located = self.domain.locate(points)
        checked = checked_values(values, len(ids), self.units)
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
        stop: Stop | Literal["converged"] | None = None,
        **options: Any,
    ) -> str:
        """Evaluate ``f`` until the study has ``budget`` answers; returns why the run ended.

        It ends early if :meth:`enough` says so; with ``stop="converged"``, for Thompson sampling
        only, also if :meth:`noregret.ThompsonSampling.converged` does. Other options as for
        :func:`noregret.study.evaluating.runner.run_study`. Ctrl-C raises ``KeyboardInterrupt``, so
        that it also ends a script with several runs; the study has all values told before it.
        """
        from noregret.study.evaluating.runner import check_options, run_study

        rule = StopRule(gap=stop_gap, target=target, patience=patience)
        check_options("Study.run()", options, ("stop_gap", "target", "patience"))
        return run_study(self, f, budget, stop=stop_of(self, rule, stop), **options)

    @one_at_a_time
    def set_aside(self, ids: Any) -> None:
        """Stop asking for these candidates of a list until :meth:`retry`; their values stay."""
        self._log.set_aside(list_to_change(self.domain, "set aside").some(ids).tolist())

    @one_at_a_time
    def retry(self, ids: Any) -> None:
        """Ask again for candidates that were set aside or have failed.

        A fresh optimiser is told all answers, but not the failures of these candidates so far.
        """
        self._log.retry(list_to_change(self.domain, "brought back").some(ids).tolist())

    @one_at_a_time
    def aside(self) -> pl.DataFrame:
        """The candidates that are set aside: id, name, failures and the reason of the last one."""
        failures = self.records.failures() if len(self.optimizer.aside) else ([], [])
        return aside_frame(self, *failures)

    def pending(self, origin: str | None = None) -> list[int]:
        """Numbers of the trials without a value, all or those of one origin."""
        return self.records.pending(origin)

    @one_at_a_time
    def reassign(self, trial: int) -> None:
        """Note that a pending trial was given to another worker."""
        (found,) = self.records.find(trial_numbers(trial))
        self._log.reassign(found)

    @one_at_a_time
    def note(self, event: str, **details: Any) -> None:
        """Write an event of your own (JSON details) into the study."""
        self._log.add_event(event, details)

    # -- what is known -----------------------------------------------------------------------

    @one_at_a_time
    def best(self) -> Recommendation:
        """The choice with the best guaranteed value: for a minimum, the smallest upper bound."""
        return self.units.recommendation(self.optimizer.recommend())

    @one_at_a_time
    def keep_look(self) -> bool:
        """Keep settings that looks have fitted since the last ask; returns if the file has them.

        Later looks and the next ask then need not fit them again, until more is told. Also for a
        study that was opened ``read_only``, while nobody else writes to it.
        """
        return self._log.keep_look()

    @property
    @one_at_a_time
    def optimizer(self) -> Optimizer:
        """The study's optimiser, to look at: ask and tell the study, not the optimiser.

        It knows rewards, not values: ``study.units`` converts between them.
        """
        return self._log.optimizer

    @property
    def size(self) -> int | None:
        """How many candidates the list has; ``None`` on a box."""
        return self.domain.size

    @one_at_a_time
    def top(self, k: int = 10) -> pl.DataFrame:
        """The k evaluated choices with the best guaranteed values, with what was measured."""
        found = self.optimizer.top(_checks.count("k", k))
        return top_frame(found, self.units, self.domain, self.table)

    @one_at_a_time
    def trials(self) -> pl.DataFrame:
        """Every trial: its number, id, name or point, value, status, who asked, times, reason."""
        return self.records.trials(self.domain, self.names)

    def rows(self) -> list[Trial]:
        """Every trial as it is stored."""
        return self.records.rows()

    @one_at_a_time
    def events(self) -> pl.DataFrame:
        """What happened to the study and what the algorithm did on its own."""
        return events_frame(self._storage.events(), self.optimizer.events)

    @one_at_a_time
    def operations(self) -> pl.DataFrame:
        """The log: tells, and asks with batch size, width and the best choice at that time."""
        return operations_frame(self._storage.operations())

    def counts(self) -> dict[str, int]:
        """How many trials are pending, told and failed, and how many of them are history."""
        return self.records.counts()

    @one_at_a_time
    def get(self, numbers: int | Sequence[int]) -> Trials:
        """These trials, to be evaluated."""
        return trials_of(self.records.find(trial_numbers(numbers)), self.domain, self.names)

    def name_of(self, id_: int, point: Any) -> str:
        """The name of a choice for people: its name, its id, or its values on a box or space."""
        return self._candidates.name_of(self.domain, id_, point)

    @property
    def table(self) -> pl.DataFrame | None:
        """What to show people of each candidate (n rows, ``name`` first if there are names)."""
        return self._candidates.table(self.domain)

    @property
    def names(self) -> pl.Series | None:
        """The names of the candidates (n); ``None`` if none were given."""
        return self._candidates.names(self.domain)

    @property
    def settings(self) -> dict[str, Any]:
        """What was decided when the study was created."""
        return dict(self._settings)

    @property
    def path(self) -> Path:
        """The study's file."""
        return self._log.file.path
