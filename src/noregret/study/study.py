"""A study: one optimisation with everything needed to go on, in one file."""

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from noregret import _checks
from noregret.algorithms import Optimizer, make
from noregret.kernels import as_kernel
from noregret.kernels.spec import to_spec
from noregret.results import Recommendation, Trials
from noregret.spaces import Domain, as_candidates
from noregret.study import replay
from noregret.study.errors import StudyError
from noregret.study.file import StudyFile
from noregret.study.log import Answer, Log
from noregret.study.rows import Trial
from noregret.study.tables import (
    events_frame,
    from_bytes,
    table_to_show,
    to_bytes,
    top_frame,
    trials_frame,
)


class Study:
    """A durable optimisation: :meth:`create` one, or :meth:`open` it to go on.

    A call that returned is on disk. However a process ends, the next one that opens the file goes
    on where it stopped and, told the same answers, asks the same further questions as if nothing
    had happened. One process writes; any number read (``read_only=True``).
    """

    def __init__(self, file: StudyFile, domain: Any = None, kernel: Any = None) -> None:
        self._log = Log(file, domain, kernel)
        self._storage = file.storage
        self._settings = self._log.settings
        #: between the user's values and the optimiser's rewards
        self.units = self._log.units
        self.domain: Domain = self._log.optimizer.domain

    # -- making and opening ------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        domain: Any,
        algorithm: str = "bbkb",
        *,
        kernel: Any,
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
            As for the algorithms; ``seed`` is drawn where none is given.
        algorithm
            The algorithm's class name in lower case.
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
        optimizer = make(algorithm, domain, kernel, **options)
        own = optimizer.domain
        blobs = {"start": replay.dump(optimizer, candidates=True)}
        shown = table_to_show(_list_length(own), names, table)
        if shown is not None:
            blobs["table"] = to_bytes(shown)
        settings = {
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
        file = StudyFile.create(Path(path), settings, blobs)
        kernel_stored = isinstance(kernel, str) or to_spec(as_kernel(kernel), {}) is not None
        are_objects = own.dimension is None
        return cls(file, own if are_objects else None, None if kernel_stored else kernel)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        domain: Any = None,
        kernel: Any = None,
    ) -> "Study":
        """Go on with a study.

        ``domain`` and ``kernel`` have to be given again where they cannot be stored: candidates
        that are objects other than strings, and kernels that are callables of your own.
        """
        file = StudyFile.open(Path(path), write=not read_only)
        try:
            return cls(file, domain, kernel)
        except BaseException:
            file.close()
            raise

    def close(self) -> None:
        """Let others write. Nothing is lost without it."""
        self._log.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- ask and tell ------------------------------------------------------------------------

    def ask(self, n: int | None = None, *, origin: str = "ask") -> Trials:
        """Trials to evaluate next: those overdue first, then new ones.

        ``ask()`` gives the study's ``batch``, or what the algorithm wants: one trial for a
        sequential rule, a whole batch for an adaptive one. ``ask(n)`` gives at most ``n`` for
        adaptive rules and exactly ``n`` for the others. ``origin`` says who asks, see
        :meth:`trials`.
        """
        n = self._settings["batch"] if n is None else _checks.count("n", n)
        return self.get(self._log.ask(n, origin))

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
        refused unless ``overwrite``. Failed trials are no data and no longer pending. Either all
        of this is on disk when the call returns, or nothing is.
        """
        if (values is None) == (failed is None):
            raise ValueError("give values, or failed='why', one of the two")
        if failed is not None and not isinstance(failed, str):
            raise TypeError(f"failed must say why in words, got {failed!r}")
        known = self._find(_numbers(trials))
        if failed is None:
            answers: list[float | None] = _checks.rewards(values, len(known)).tolist()
        else:
            answers = [None] * len(known)
        status = "told" if failed is None else "failed"
        new: list[Answer] = []
        changed: list[Answer] = []
        for trial, value in zip(known, answers, strict=True):
            if trial.status == "pending":
                new.append((trial.number, value))
            elif (trial.status, trial.value) != (status, value):
                if not overwrite:
                    raise _answered(trial)
                changed.append((trial.number, value))
        if changed:
            self._log.overwrite(new + changed, failed)
        elif new:
            self._log.tell(new, failed)

    def tell_history(self, points: Any, values: Any) -> Trials:
        """Answers that nobody asked for, such as old data: ids (or points of a box) and values."""
        ids, located = self.domain.locate(points)
        checked = _checks.rewards(values, len(ids))
        choices = self.domain.pack(ids, located)
        return self.get(self._log.history(choices, checked) if choices else [])

    def run(self, f: Callable[[Any], float], budget: int, **options: Any) -> None:
        """Evaluate ``f`` until the study has ``budget`` answers; options as for
        :func:`noregret.study.runner.run_study`."""
        from noregret.study.runner import run_study

        run_study(self, f, budget, **options)

    def pending(self, origin: str | None = None) -> list[int]:
        """Numbers of the trials without an answer, all or those of one origin."""
        pending = self._storage.pending_trials()
        return [trial.number for trial in pending if origin in (None, trial.origin)]

    def reassign(self, trial: int) -> None:
        """Note that a pending trial was given to another worker."""
        self._find([trial])
        self._log.reassign(trial)

    def note(self, event: str, **details: Any) -> None:
        """Write an event of your own (JSON details) into the study."""
        self._log.add_event(event, details)

    # -- what is known -----------------------------------------------------------------------

    def best(self) -> Recommendation:
        """The choice with the best guaranteed value, in the sign of your values.

        For a study that minimises this is the smallest upper bound.
        """
        return self.units.recommendation(self.optimizer.recommend())

    @property
    def optimizer(self) -> Optimizer:
        """The study's optimiser, to look at: ask and tell the study, not the optimiser.

        It knows rewards, not values: ``study.units`` turns the ones into the others.
        """
        return self._log.optimizer

    @property
    def size(self) -> int | None:
        """How many candidates the list has; ``None`` on a box."""
        return _list_length(self.domain)

    def top(self, k: int = 10) -> pl.DataFrame:
        """The k evaluated choices with the best guaranteed values, with bounds and counts."""
        found = self.optimizer.top(_checks.count("k", k))
        return top_frame(found, self.evaluations(found), self.units, self.domain, self.table)

    def evaluations(self, choices: Sequence[Recommendation]) -> list[int]:
        """How many answers there are for each of these choices."""
        if not choices:
            return []
        chosen: Any = [one.id if self.domain.listed else one.point for one in choices]
        return [int(count) for count in self.optimizer.counts(chosen)]

    def last_batch(self) -> dict[str, Any] | None:
        """Size, width, ratio and dictionary of the last new batch."""
        operation = self._storage.last_ask()
        return None if operation is None else operation.info

    def trials(self) -> pl.DataFrame:
        """Every trial: its number, id, name or point, value, status, who asked, times, reason."""
        box = None if self.domain.listed else self.domain
        return trials_frame(self._storage.trials(), box, self.names)

    def events(self) -> pl.DataFrame:
        """What happened to the study and what the algorithm did on its own."""
        return events_frame(self._storage.events(), self.optimizer.events)

    def operations(self) -> pl.DataFrame:
        """The log: asks with their batch sizes, widths and the best choice then; tells."""
        found = self._storage.operations()
        return pl.DataFrame(
            {
                "operation": [one.number for one in found],
                "kind": [one.kind for one in found],
                "time": [one.time for one in found],
                "info": [one.info for one in found],
            },
            schema_overrides={"info": pl.Object},
        )

    def counts(self) -> dict[str, int]:
        """How many trials are pending, told and failed, and how many of them are history."""
        return {**self._storage.count_by_status(), "history": self._storage.count_history()}

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
        if self.domain.listed:
            return str(id_)
        if isinstance(point, dict):
            return ", ".join(f"{name}={_short(value)}" for name, value in point.items())
        return ", ".join(_short(x) for x in point)

    @cached_property
    def table(self) -> pl.DataFrame | None:
        """What to show people of each candidate (n rows, ``name`` first where there are names)."""
        data = self._storage.get_blob("table")
        return None if data is None else from_bytes(data)

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
        found = []
        for number in numbers:
            trial = self._storage.trial(number)
            if trial is None:
                raise StudyError(f"trials must have been asked for; there is no trial {number}")
            found.append(trial)
        return found


def _numbers(trials: Trials | Any) -> list[int]:
    """Trial numbers, checked: whole, and all different."""
    array = np.atleast_1d(np.asarray(trials.numbers if isinstance(trials, Trials) else trials))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"trials must be the numbers of trials, got {trials!r}")
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"trials must all be different; {values[counts > 1][0]} comes twice")
    return [int(number) for number in array]


def _answered(trial: Trial) -> StudyError:
    answer = f"told {trial.value!r}" if trial.status == "told" else "reported as failed"
    return StudyError(
        f"trial {trial.number} has been {answer} already; overwrite=True puts the new answer in "
        "its place"
    )


def _short(value: Any) -> str:
    """A value in few digits."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _list_length(domain: Domain) -> int | None:
    """How many candidates a list has; ``None`` for a box."""
    return len(as_candidates(domain)) if domain.listed else None
