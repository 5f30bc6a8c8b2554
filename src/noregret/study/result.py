"""What a run found, and every evaluation of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret._types import Floats
from noregret.optimizer import Optimizer
from noregret.results import History, Recommendation
from noregret.study.answers import Units
from noregret.study.evaluating.in_memory import StudyLike
from noregret.study.trials import Trial, choices_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What :func:`maximize` and :func:`minimize` return; values are in the sign of f.

    Attributes
    ----------
    best
        The recommendation: ``.point`` (as f gets it: a dict if parameters have names), ``.id``,
        ``.mean``, ``.lower``, ``.upper``, ``.gap``.
    history
        Every evaluation that gave a value: ``.points``, ``.ids``, ``.rewards``.
    failures
        Evaluations that raised an exception or gave no finite number.
    stopped
        Why the run ended: ``"budget"``, ``"tol"``, ``"tol (learnt settings)"``, ``"patience"``,
        ``"converged"``, ``"timeout"``, ``"callback"``, ``"failures"`` (too many in a row),
        ``"exhausted"`` (no candidate may be evaluated any more), ``"interrupted"``, or ``"error"``
        if the result comes with an exception.
    certified
        Whether ``best.gap`` is proved: kernel, noise and norm were given and no reward refutes
        them, and the width has a theorem. On a box see :attr:`noregret.Optimizer.proved`.
    regret
        If ``optimum`` was given: how far each value of ``history`` was from it.
    algorithm
        The optimiser, to go on with. It maximises, also for :func:`minimize`.
    units
        Converts between values of f and rewards of the optimiser.
    seconds
        How long the call took, with the recommendation at its end.
    trials
        Every evaluation as it was recorded, also those that failed.
    """

    best: Recommendation
    history: History
    failures: int
    stopped: str
    certified: bool
    regret: Floats | None
    algorithm: Optimizer
    units: Units
    seconds: float = 0.0
    trials: Sequence[Trial] = field(default=())

    @property
    def evaluations(self) -> int:
        """Evaluations, also those that failed."""
        return len(self.history) + self.failures

    def to_frame(self) -> "pl.DataFrame":
        """A row per evaluation: trial, (id), a column per parameter, value, status, reason.

        Parameters without names are called x0, x1, …; those named as another column get an
        underscore. Objects of a list are a column ``candidate``. ``status`` is ``"told"``,
        ``"failed"`` or ``"pending"`` (the run ended first); ``reason`` says why an evaluation
        failed.
        """
        import polars as pl  # slow to import, and not every run wants a table

        domain = self.algorithm.domain
        ids, points = domain.locate(choices_of(self.trials, domain))
        columns: dict[str, Any] = {
            "trial": pl.Series([trial.number for trial in self.trials], dtype=pl.Int64)
        }
        if domain.size is not None:
            columns["id"] = ids
        columns |= _parameters(domain, ids, points)
        for name, kind in (("value", pl.Float64), ("status", pl.String), ("reason", pl.String)):
            entries = [getattr(trial, name) for trial in self.trials]
            columns[name] = pl.Series(entries, dtype=kind)
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        best, failed = self.best, f", {self.failures} failed" if self.failures else ""
        lines = [
            f"best: {best.mean:.6g} (between {best.lower:.6g} and {best.upper:.6g}) at "
            f"{_short(best)}",
            f"evaluations: {self.evaluations}{failed}, in {self.seconds:.3g} s by "
            f"{type(self.algorithm).__name__}",
            f"stopped: {self.stopped}",
            f"gap: {best.gap:.3g}, {'proved' if self.certified else 'not proved'}",
        ]
        if not len(self.history):
            lines[0] = "best: unknown, no evaluation gave a value"
            lines.pop()
        return "Result\n  " + "\n  ".join(lines)


def result_of(study: StudyLike, stopped: str, optimum: float | None = None) -> Result:
    """What a run has found so far."""
    rows, domain, units = study.rows(), study.domain, study.units
    told = [trial for trial in rows if trial.status == "told"]
    told.sort(key=lambda trial: (trial.done_by or 0, trial.number))
    ids, points = domain.locate(choices_of(told, domain)) if told else (_NO_IDS, domain.nothing)
    values = np.array([trial.value for trial in told], dtype=np.float64)
    return Result(
        best=study.best(),
        history=History(ids, points, values),
        failures=sum(trial.status == "failed" for trial in rows),
        stopped=stopped,
        certified=study.optimizer.proved,
        regret=None if optimum is None else units.sign * (optimum - values),
        algorithm=study.optimizer,
        units=units,
        trials=rows,
    )


#: columns of the frame other than parameters
_OWN = ("trial", "id", "value", "status", "reason")
_NO_IDS = np.empty(0, dtype=np.int64)


def _parameters(domain: Any, ids: Any, points: Any) -> dict[str, Any]:
    """A column per parameter, with the values that f gets."""
    import polars as pl

    from noregret.study.frames import column_of, coordinate_names

    if domain.dimension is None:
        return {"candidate": pl.Series(list(points), strict=False)}
    rows = domain.labels(ids, points)
    if rows and isinstance(rows[0], dict):
        found: dict[str, Any] = {name: column_of([row[name] for row in rows]) for name in rows[0]}
    else:
        found = {name: points[:, i] for i, name in enumerate(coordinate_names(domain))}
    return {_free(name, found): column for name, column in found.items()}


def _free(name: str, names: Collection[str]) -> str:
    """The name of a parameter's column: underscores tell it from the frame's own columns."""
    free = name
    while free in _OWN or (free != name and free in names):
        free += "_"
    return free


def _short(best: Recommendation) -> str:
    point = best.point
    if isinstance(point, dict):
        shown = {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in point.items()}
        return repr(shown)
    words = np.array2string(point, precision=6, threshold=8) if _is_array(point) else repr(point)
    return f"id {best.id}, {words}" if best.id >= 0 else words


def _is_array(point: Any) -> bool:
    return isinstance(point, np.ndarray)
