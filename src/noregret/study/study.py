"""A study: one optimisation with everything needed to go on, in one file."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from noregret import _checks
from noregret.algorithms.base import Optimizer, make
from noregret.kernels.spec import to_spec
from noregret.results import Recommendation, Trials
from noregret.spaces import Box, Domain, as_domain
from noregret.study import replay
from noregret.study.errors import StudyError
from noregret.study.log import Log
from noregret.study.sql import Storage
from noregret.study.tables import (
    events_frame,
    from_bytes,
    shown_table,
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

    def __init__(self, storage: Storage, domain: Any = None, kernel: Any = None) -> None:
        self._log = Log(storage, domain, kernel)
        self._settings = self._log.settings
        #: between the user's values and the optimiser's rewards
        self.units = self._log.units
        self.domain: Domain = self._log.optimizer().domain

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
            Seconds after which a trial handed out and not answered is handed out again.
        about
            JSON that is kept with the study, under ``study.settings["about"]``.
        """
        _checks.one_of("direction", direction, ("maximize", "minimize"))
        if batch is not None:
            batch = _checks.count("batch", batch)
        if timeout is not None:
            timeout = _checks.positive("timeout", timeout)
        prior_mean = _checks.finite("prior_mean", prior_mean)
        own = as_domain(domain)
        optimizer = make(algorithm, own, kernel, **options)
        blobs = {"start": replay.dump(optimizer, candidates=True)}
        shown = shown_table(own, names, table)
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
            "kernel": kernel if isinstance(kernel, str) else repr(optimizer.kernel),
            "about": about or {},
        }
        storage = Storage.create(Path(path), settings, blobs)
        stored = to_spec(optimizer.kernel, {}) is not None
        objects = not isinstance(own, Box) and own.are_objects
        return cls(storage, own if objects else None, None if stored else kernel)

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
        storage = Storage.open(Path(path), write=not read_only)
        try:
            return cls(storage, domain, kernel)
        except BaseException:
            storage.close()
            raise

    def close(self) -> None:
        """Let others write. Nothing is lost without it."""
        self._log.storage.close()

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
        numbers = self._numbers(trials)
        if (values is None) == (failed is None):
            raise ValueError("give values, or failed='why', one of the two")
        if failed is not None and not isinstance(failed, str):
            raise TypeError(f"failed must say why in words, got {failed!r}")
        rewards = None if failed is not None else _checks.rewards(values, len(numbers))
        rows = {row[0]: row for row in self._rows_of(numbers)}
        fresh, changed = [], []
        for i, number in enumerate(numbers):
            value = None if rewards is None else float(rewards[i])
            row = rows[number]
            if row[3] == "pending":
                fresh.append((number, value))
            elif (row[3], row[4]) != ("told" if failed is None else "failed", value):
                changed.append((number, value))
        if changed and not overwrite:
            number = changed[0][0]
            had = f"told {rows[number][4]!r}" if rows[number][3] == "told" else "reported as failed"
            raise StudyError(
                f"trial {number} has been {had} already; overwrite=True puts the new answer in "
                "its place"
            )
        if changed:
            self._log.overwrite(fresh + changed, failed)
        elif fresh:
            self._log.tell(fresh, failed)

    def tell_history(self, points: Any, values: Any) -> Trials:
        """Answers that nobody asked for, such as old data: ids (or points of a box) and values."""
        arms = self._log.optimizer()._where(points)
        rewards = _checks.rewards(values, len(arms))
        return self.get(self._log.history(arms, rewards) if len(arms) else [])

    def run(self, f: Callable[[Any], float], budget: int, **options: Any) -> None:
        """Evaluate ``f`` until the study has ``budget`` answers; options as for
        :func:`noregret.execution.run_study`."""
        from noregret.study.execution import run_study

        run_study(self, f, budget, **options)

    def pending(self, origin: str | None = None) -> list[int]:
        """Numbers of trials handed out and not answered, all or those of one origin."""
        rows = self._log.storage.all(
            "SELECT trial, origin FROM trials WHERE status = 'pending' ORDER BY trial"
        )
        return [int(row[0]) for row in rows if origin in (None, row[1])]

    def hand_out_again(self, trial: int) -> None:
        """Note that a pending trial was given to another worker."""
        self._rows_of([trial])
        with self._log.storage.transaction():
            self._log.give_again(trial)

    def note(self, event: str, **details: Any) -> None:
        """Write an event of your own (JSON details) into the study."""
        self._log.event(event, **details)

    # -- what is known -----------------------------------------------------------------------

    def best(self) -> Recommendation:
        """The choice with the best guaranteed value, in the sign of your values.

        For a study that minimises this is the smallest upper bound.
        """
        return self._log.units.recommendation(self.view().recommend())

    @property
    def optimizer(self) -> Optimizer:
        """The study's optimiser, to read its options; use :meth:`view` for anything else."""
        return self._log.optimizer()

    def view(self) -> Optimizer:
        """A copy of the optimiser to look at, pending trials left out.

        It knows rewards, not values: ``study.units`` turns the ones into the others. Looking at
        it never changes what the study asks next.
        """
        return self._log.view()

    def top(self, k: int = 10) -> pl.DataFrame:
        """The k candidates with the best guaranteed values, with their bounds and counts."""
        if isinstance(self.domain, Box):
            raise StudyError("only a list of candidates can be ranked; this domain is a box")
        return top_frame(self.view(), self.units, self.table, _checks.count("k", k))

    def last_batch(self) -> dict[str, Any] | None:
        """Size, width, ratio and dictionary of the last new batch."""
        rows = self._log.storage.all(
            "SELECT info FROM operations WHERE kind = 'ask' ORDER BY operation DESC LIMIT 1"
        )
        return json.loads(rows[0][0]) if rows else None

    def trials(self) -> pl.DataFrame:
        """Every trial: its number, id, name or point, value, status, who asked, times, reason."""
        rows = self._log.storage.trials()
        table = self.table if self._settings["named"] else None
        return trials_frame(rows, self.domain, None if table is None else table["name"])

    def events(self) -> pl.DataFrame:
        """What happened to the study and what the algorithm did on its own."""
        return events_frame(self._log.storage, self._log.optimizer().events)

    def operations(self) -> pl.DataFrame:
        """The log: asks with their batch sizes, widths and the best choice then; tells."""
        rows = self._log.storage.all("SELECT operation, kind, n, time, info FROM operations")
        return pl.DataFrame(
            {
                "operation": [row[0] for row in rows],
                "kind": [row[1] for row in rows],
                "time": [row[3] for row in rows],
                "info": [json.loads(row[4]) if row[4] else None for row in rows],
            },
            schema_overrides={"info": pl.Object},
        )

    def counts(self) -> dict[str, int]:
        """How many trials are pending, told and failed, and how many of them are history."""
        rows = self._log.storage.all("SELECT status, count(*) FROM trials GROUP BY status")
        found = dict.fromkeys(("pending", "told", "failed"), 0) | {row[0]: row[1] for row in rows}
        history = self._log.storage.one("SELECT count(*) FROM trials WHERE origin = 'history'")
        return {**found, "history": int(history[0])}

    def get(self, numbers: Sequence[int]) -> Trials:
        """These trials, to be evaluated."""
        rows = self._rows_of(numbers)
        ids = np.array([row[1] for row in rows], dtype=np.int64)
        optimizer = self._log.optimizer()
        where = replay.where(optimizer, rows)
        points = where if isinstance(self.domain, Box) else self.domain.points[ids]
        names = None
        if self._settings["named"] and self.table is not None:
            column = self.table["name"]
            names = tuple(column[int(id_)] for id_ in ids)
        return Trials(np.array(numbers, dtype=np.int64), ids, np.asarray(points), names)

    @property
    def table(self) -> pl.DataFrame | None:
        """What to show people of each candidate (n rows, ``name`` first where there are names)."""
        if not hasattr(self, "_table"):
            data = self._log.storage.get_blob("table")
            self._table = None if data is None else from_bytes(data)
        return self._table

    @property
    def settings(self) -> dict[str, Any]:
        """What was decided when the study was created."""
        return dict(self._settings)

    @property
    def path(self) -> Path:
        """The study's file."""
        return self._log.storage.path

    # -- checks ------------------------------------------------------------------------------

    def _numbers(self, trials: Any) -> list[int]:
        """Trial numbers, checked: whole, and all different."""
        array = np.atleast_1d(np.asarray(trials.numbers if isinstance(trials, Trials) else trials))
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise TypeError(f"trials must be the numbers of trials, got {trials!r}")
        values, counts = np.unique(array, return_counts=True)
        if (counts > 1).any():
            raise ValueError(f"trials must all be different; {values[counts > 1][0]} comes twice")
        return [int(number) for number in array]

    def _rows_of(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """The rows of these trials, in this order; unknown numbers are refused."""
        rows = []
        for number in numbers:
            found = self._log.storage.trials("trial = ?", (number,))
            if not found:
                raise StudyError(f"trials must have been asked for; there is no trial {number}")
            rows += found
        return rows
