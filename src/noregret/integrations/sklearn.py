"""Hyper-parameter search in scikit-learn's own form, with folds as noisy replicates.

    from noregret.integrations.sklearn import NoRegretSearchCV

    search = NoRegretSearchCV(SVC(), {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    search.fit(X, y).best_params_

Needs scikit-learn: ``pip install "noregret[sklearn]"``.
"""

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

try:
    from joblib import Parallel, delayed, effective_n_jobs
    from sklearn.base import clone, is_classifier
    from sklearn.exceptions import FitFailedWarning
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import check_cv, cross_validate
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state, indexable
except ImportError as error:
    raise ImportError(
        'noregret.integrations.sklearn needs scikit-learn: pip install "noregret[sklearn]"'
    ) from error

from noregret import _checks
from noregret._types import Floats
from noregret.algorithms import TrustRegionUCB
from noregret.integrations.sklearn_space import Codec

#: configurations that must have two folds in common before their difference is estimated
_FEWEST = 3
#: one in so many configurations, the best by the model's mean, may get more folds
_RIVALS = 4


class NoRegretSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search for the hyper-parameters with the best cross-validated score.

    Each fold of a configuration is one noisy evaluation. A new configuration is fitted on the first
    fold only. It gets more folds as long as its upper bound reaches the best lower bound. So bad
    configurations cost one fit, and the budget of ``n_iter`` times the number of folds tries more
    of them. The best one is that with the largest estimate, not the luckiest, and has all folds.

    Parameters
    ----------
    estimator
        What is fitted: cloned for every fit.
    space
        Values by name: lists, ``scipy.stats`` distributions, or :class:`~noregret.Float`,
        :class:`~noregret.Int`, :class:`~noregret.Choice`, :class:`~noregret.Bool`; or a
        :class:`~noregret.Space`.
    n_iter
        The budget: as many fits as this many configurations on all folds take.
    scoring, n_jobs, refit, cv, verbose, error_score, return_train_score
        As for ``RandomizedSearchCV``; one score, so ``refit`` is a boolean.
    random_state
        Makes the search repeatable, for one value of ``n_jobs``.

    Attributes
    ----------
    cv_results_
        As for ``RandomizedSearchCV``; folds that were not fitted are NaN, and means are over those
        that were. In addition ``estimate``, ``estimate_lower`` and ``estimate_upper``, the model's
        interval, and ``n_fits``. Ranks follow the estimate.
    best_params_, best_index_, best_score_, best_estimator_
        As for ``RandomizedSearchCV``.
    n_fits_
        Fits made, without the last one on all data.
    """

    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        n_iter: int = 20,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space, self.n_iter, self.random_state = space, n_iter, random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> "NoRegretSearchCV":
        """Search, then fit the best configuration on all data."""
        n_iter = _checks.count("n_iter", self.n_iter)
        if not isinstance(self.refit, (bool, np.bool_)):
            raise ValueError(f"refit must be True or False, got {self.refit!r}: there is one score")
        codec = Codec(self.space)
        self.scorer_ = check_scoring(self.estimator, scoring=self.scoring)
        self.multimetric_ = False
        X, y = indexable(X, y)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        folds = list(splitter.split(X, y, groups=params.get("groups")))
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        race = _Race(codec, len(folds), seed)
        fitting = {k: v for k, v in params.items() if k != "groups"} or None
        left = n_iter * len(folds)
        with Parallel(n_jobs=self.n_jobs) as parallel:
            jobs = effective_n_jobs(self.n_jobs)
            while left:
                wanted = race.next(min(jobs, left), left)
                found = parallel(
                    delayed(_fit_one)(
                        clone(self.estimator).set_params(**codec.params(race.points[config])),
                        X,
                        y,
                        self.error_score,
                        cv=[folds[fold]],
                        scoring=self.scorer_,
                        params=fitting,
                        return_train_score=self.return_train_score,
                    )
                    for config, fold in wanted
                )
                for (config, fold), result in zip(wanted, found, strict=True):
                    race.tell(config, fold, result)
                left -= len(wanted)
                if self.verbose:
                    print(f"{race.fits} of {n_iter * len(folds)} fits, {race.summary()}")
        if not race.works:
            raise ValueError(
                f"all {race.fits} fits failed: the estimator, its parameters or the data are "
                "wrong. With error_score='raise' the first error is shown"
            )
        self.n_splits_, self.n_fits_ = len(folds), race.fits
        self.cv_results_ = race.results(self.return_train_score)
        self.best_index_ = race.best()
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if self.refit:
            best = clone(self.estimator).set_params(**self.best_params_)
            self.best_estimator_ = best.fit(X, **({} if y is None else {"y": y}), **(fitting or {}))
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _run_search(self, evaluate_candidates: Any) -> None:
        """Never called: the base class wants it, and :meth:`fit` races fold by fold instead."""


def _fit_one(estimator: Any, X: Any, y: Any, error_score: Any, **options: Any) -> dict[str, float]:
    """Scores and times of one fit; with ``error_score`` a number, that is the score of failures."""
    try:
        found = cross_validate(estimator, X, y, error_score="raise", **options)
    except Exception as error:
        if error_score == "raise":
            raise
        warnings.warn(f"a fit failed: {error!r}", FitFailedWarning, stacklevel=2)
        names = ("test_score", "train_score") if options["return_train_score"] else ("test_score",)
        return {"fit_time": 0.0, "score_time": 0.0, **dict.fromkeys(names, float(error_score))}
    return {key: float(values[0]) for key, values in found.items()}


@dataclass
class _Race:
    """Configurations, their folds so far, and who gets the next fit."""

    codec: Codec
    folds: int
    seed: int
    points: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[int, dict[str, float]]] = field(default_factory=list)
    fits: int = 0
    works: bool = False  # whether a fit has not failed

    def __post_init__(self) -> None:
        self._opt = TrustRegionUCB(
            self.codec.space, "auto", noise="auto", norm="auto", width=2.0, seed=self.seed
        )
        self._started: list[int] = []  # folds handed out, by configuration

    def next(self, count: int, left: int) -> list[tuple[int, int]]:
        """What to fit next: configurations with their folds (at most ``count``)."""
        wanted: list[tuple[int, int]] = []
        while len(wanted) < count:
            contender = self._contender(final=left - len(wanted) <= self.folds)
            if contender is None:
                contender = self._new()
            wanted.append((contender, self._started[contender]))
            self._started[contender] += 1
        return wanted

    def _new(self) -> int:
        point = self._opt.ask(1).values[0]
        if point in self.points and self._started[self.points.index(point)] < self.folds:
            return self.points.index(point)
        self.points.append(point)
        self.scores.append({})
        self._started.append(0)
        return len(self.points) - 1

    def _contender(self, final: bool) -> int | None:
        """A configuration that earns another fold: the best one at the end, else a rival."""
        done = [i for i, scores in enumerate(self.scores) if scores]
        if not done or not self._opt.t:
            return None
        lower, mean, upper = self._bounds(done)
        order = np.argsort(-(lower if final else mean), kind="stable")
        most = 1 if final else len(done) // _RIVALS
        for i in order[:most].tolist():
            config = int(done[i])
            if self._started[config] < self.folds and upper[i] >= lower.max():
                return config
        return None

    def _bounds(self, configs: list[int]) -> tuple[Floats, Floats, Floats]:
        mean, std = self._opt.predict([self.points[i] for i in configs])
        return mean - 2.0 * std, mean, mean + 2.0 * std

    def tell(self, config: int, fold: int, result: dict[str, float]) -> None:
        """Take in the result of a fit."""
        self.fits += 1
        self.scores[config][fold] = result
        score = result["test_score"]
        if math.isfinite(score):
            self.works = True
            self._opt.tell([self.points[config]], [score - self._offset(fold)])
        else:  # as bad as the worst, so that it is not tried again
            known = [s["test_score"] for each in self.scores for s in each.values()]
            worst = min((s for s in known if math.isfinite(s)), default=0.0)
            self._opt.tell([self.points[config]], [worst])

    def _offset(self, fold: int) -> float:
        """How much better scores are on a fold than on the first, by configurations with both."""
        pairs = [
            each[fold]["test_score"] - each[0]["test_score"]
            for each in self.scores
            if fold in each and 0 in each
        ]
        pairs = [one for one in pairs if math.isfinite(one)]
        return float(np.mean(pairs)) if len(pairs) >= _FEWEST else 0.0

    def best(self) -> int:
        """The configuration with all folds and the largest estimate."""
        whole = [i for i, scores in enumerate(self.scores) if len(scores) == self.folds]
        whole = whole or list(range(len(self.scores)))
        return whole[int(np.argmax(self._bounds(whole)[1]))]

    def summary(self) -> str:
        """One line on how far the search is."""
        _, mean, _ = self._bounds(list(range(len(self.points))))
        return f"{len(self.points)} configurations, best estimate {mean.max():.5g}"

    def results(self, train: bool) -> dict[str, Any]:
        """``cv_results_``."""
        params = [self.codec.params(point) for point in self.points]
        lower, mean, upper = self._bounds(list(range(len(self.points))))
        found: dict[str, Any] = {}
        for time in ("fit_time", "score_time"):
            table = self._table(time)
            found[f"mean_{time}"] = np.nanmean(table, axis=1)
            found[f"std_{time}"] = np.nanstd(table, axis=1)
        for name in self.codec.names:
            values = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=False)
            values[:] = [one[name] for one in params]
            found[f"param_{name}"] = values
        found["params"] = params
        for kind in ("test", "train") if train else ("test",):
            table = self._table(f"{kind}_score")
            for fold in range(self.folds):
                found[f"split{fold}_{kind}_score"] = table[:, fold]
            known = np.isfinite(table).any(axis=1)
            means, deviations = np.full((2, len(table)), np.nan)
            means[known] = np.nanmean(table[known], axis=1)
            deviations[known] = np.nanstd(table[known], axis=1)
            found[f"mean_{kind}_score"], found[f"std_{kind}_score"] = means, deviations
        found["rank_test_score"] = np.array([1 + int((mean > one).sum()) for one in mean])
        found["estimate"], found["estimate_lower"], found["estimate_upper"] = mean, lower, upper
        found["n_fits"] = np.array([len(each) for each in self.scores])
        return found

    def _table(self, name: str) -> Floats:
        """A number by configuration and fold (n × folds), NaN where there was no fit."""
        table = np.full((len(self.scores), self.folds), np.nan)
        for row, each in zip(table, self.scores, strict=True):
            for fold, result in each.items():
                row[fold] = result[name]
        return table
