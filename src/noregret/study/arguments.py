"""The arguments of the one-line functions: checked, and made into an optimiser."""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from noregret import _checks
from noregret.algorithms import algorithms, check_name
from noregret.learning.learner import is_auto
from noregret.optimizer import Optimizer
from noregret.running.members import setting_names
from noregret.spaces import Candidates, Space, as_domain
from noregret.spaces.shorthand import refuse_unclear
from noregret.study.evaluating.progress import Progress
from noregret.study.evaluating.stopping import check_converges
from noregret.study.evaluating.workers import Executor

#: up to this budget a decision after every evaluation is worth its time
_ONE_BY_ONE = 1000
#: the width, in deviations, if nothing can be proved
_WIDTH = 2.0
#: an array of more pairs than this is a list of candidates, not the bounds of a box
_MOST_BOUNDS = 20


@dataclass(frozen=True, kw_only=True)
class Call:
    """What :func:`maximize` or :func:`minimize` was called with."""

    direction: str
    f: Callable[[Any], Any]
    domain: Any
    budget: int
    algorithm: str | Optimizer
    seed: int | None
    workers: Any
    batch_size: int | None
    vectorized: bool
    timeout: float | None
    tol: float | None
    patience: int | None
    stop: str | None
    callback: Callable[[Progress], Any] | None
    failures: str
    storage: str | os.PathLike[str] | None
    progress: bool
    optimum: float | None
    options: dict[str, Any]

    def check(self) -> None:
        """Refuse invalid arguments before anything is computed."""
        _checks.function_of_one("f", self.f)
        for name in ("budget", "batch_size", "patience"):
            if (value := getattr(self, name)) is not None:
                _checks.count(name, value)
        for name in ("tol", "timeout"):
            if (value := getattr(self, name)) is not None:
                _checks.positive(name, value)
        if self.stop is not None:
            _checks.one_of("stop", self.stop, ("converged",))
        if self.optimum is not None:
            _checks.finite("optimum", self.optimum)
        if self.callback is not None:
            _checks.function_of_one("callback", self.callback, "an nr.Progress")
        if not isinstance(self.workers, Executor):
            if isinstance(self.workers, (str, bytes)) or not isinstance(self.workers, Real):
                raise TypeError(
                    "workers must be a number, or an executor with submit() such as "
                    f"concurrent.futures and Dask have, got {self.workers!r}"
                )
            _checks.count("workers", self.workers)
        _checks.one_of("failures", self.failures, ("continue", "raise"))
        if isinstance(self.algorithm, Optimizer):
            if self.options or self.seed is not None or self.storage is not None:
                raise ValueError(
                    "options, seed and storage belong to a new algorithm; an optimiser was given"
                )
        elif not isinstance(self.algorithm, str) or self.algorithm.lower() != "auto":
            check_name(self.algorithm, "algorithm", "'auto', an optimiser or ")
        self._check_stop()

    def _check_stop(self) -> None:
        """Refuse ``stop="converged"`` if the algorithm has no such rule."""
        if self.stop is None:
            return
        if isinstance(self.algorithm, Optimizer):
            check_converges(self.algorithm, type(self.algorithm).__name__)
        elif self.algorithm.lower() != "auto":
            check_converges(algorithms[self.algorithm.lower()], self.algorithm.lower())

    def name(self, domain: Candidates | Space) -> str:
        """The algorithm's name; with ``"auto"`` the one that suits the domain and the budget."""
        assert isinstance(self.algorithm, str)
        if self.algorithm.lower() != "auto":
            return self.algorithm.lower()
        if self.stop is not None:
            return "thompsonsampling"
        if domain.size is not None:
            return "bbkb"
        # Steps close to the best point and fits to all evaluations help, but certify nothing.
        return "trustregionucb" if self.tol is None else "gpucb"

    @property
    def batch(self) -> int | None:
        """How many points to ask for at once; ``None``: the algorithm decides."""
        short = self.budget <= _ONE_BY_ONE and not self.vectorized
        chosen = isinstance(self.algorithm, str) and self.algorithm.lower() == "auto"
        return 1 if self.batch_size is None and short and chosen else self.batch_size

    def settings(self, name: str) -> dict[str, Any]:
        """The settings of this algorithm, kernel among them; unknown ones are refused."""
        hidden = ("direction", "options", "f", "domain")
        own = [field.name for field in fields(self) if field.name not in hidden]
        takes = dict.fromkeys([*own, "kernel", *setting_names(algorithms[name])])
        _checks.known_names(f"{self.direction}() with {name}", "option", self.options, [*takes])
        given = {"kernel": "auto", "noise": "auto", "norm": "auto", "seed": self.seed}
        if name == "trustregionucb":
            given["horizon"] = self.budget
        given |= self.options
        learnt = any(is_auto(given[key]) for key in ("kernel", "noise", "norm"))
        # The theorem's width depends on kernel, noise and norm. If one of them is guessed, it
        # proves nothing, and a smaller width does better.
        return {"width": _WIDTH, **given} if learnt else given


def domain_of(given: Any) -> Candidates | Space:
    """The domain given; a short array of pairs is refused as a list of them is."""
    if isinstance(given, np.ndarray) and given.ndim == 2 and len(given) <= _MOST_BOUNDS:
        refuse_unclear(given.tolist())
    return as_domain(given)
