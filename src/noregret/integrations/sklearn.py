"""Hyper-parameter search in scikit-learn's own form, with folds as noisy replicates.

    from noregret.integrations.sklearn import NoRegretSearchCV

    search = NoRegretSearchCV(SVC(), {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    search.fit(X, y).best_params_

Needs scikit-learn: ``pip install "noregret[sklearn]"``.
"""

import time
import warnings
from collections.abc import Mapping
from numbers import Real
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
from noregret.integrations.sklearn_race import Race, ranks
from noregret.integrations.sklearn_spaces import Codec

__all__ = ["NoRegretSearchCV"]

#: stands for a parameter that a configuration does not have
_ABSENT = object()


class NoRegretSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search for the hyper-parameters with the best cross-validated score.

    Each fold of a configuration is one noisy evaluation. A new configuration is fitted on the first
    fold only. It gets more folds as long as its upper bound reaches the best lower bound. So bad
    configurations cost one fit, and the budget of ``n_iter`` times the number of folds tries more
    of them. The best one is the one with the largest estimate among those with all folds.

    Parameters
    ----------
    estimator
        What is fitted; it is cloned for every fit.
    space
        What ``RandomizedSearchCV`` calls ``param_distributions``. Values by name: lists,
        ``scipy.stats`` distributions, or :class:`~noregret.Float`, :class:`~noregret.Int`,
        :class:`~noregret.Choice`, :class:`~noregret.Bool`; or a list of such dicts; or a
        :class:`~noregret.Space`. Lists of numbers are searched in their order.
    n_iter
        The budget: as many fits as this many configurations on all folds take. The search ends
        earlier if every configuration has been fitted on all folds, or if too few fits are left for
        another one to get all folds.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As for ``RandomizedSearchCV``. Of several scores, the one that ``refit`` names decides which
        configurations are tried; without a name the first one.
    random_state
        Makes the search repeatable, for one value of ``n_jobs``.

    Attributes
    ----------
    cv_results_
        As for ``RandomizedSearchCV``; folds that were not fitted are NaN, and means are over the
        fitted ones. In addition it has ``estimate``, ``estimate_lower`` and ``estimate_upper``, the
        model's interval, and ``n_fits``. Ranks of the score that decides follow the estimate;
        configurations with all folds come first.
    best_params_, best_index_, best_score_, best_estimator_, refit_time_
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
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
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
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space, self.n_iter, self.random_state = space, n_iter, random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> "NoRegretSearchCV":
        """Search, then fit the best configuration on all data.

        ``params`` are those of the estimator's ``fit``, such as ``sample_weight``, and ``groups``
        for the folds; with metadata routing, whatever the parts ask for.
        """
        n_iter = _checks.count("n_iter", self.n_iter)
        codec = Codec(self.space)
        X, y = indexable(X, y)
        self.scorer_ = self._scorers()
        routed = self._get_routed_params_for_fit(params)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        folds = list(splitter.split(X, y, **routed.splitter.split))
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        race = Race(codec, len(folds), seed, self._failed())
        names: list[str] = []
        left = n_iter * len(folds)
        with Parallel(n_jobs=self.n_jobs, pre_dispatch=self.pre_dispatch) as parallel:
            jobs = effective_n_jobs(self.n_jobs)
            while left:
                wanted = race.next(min(jobs, left), left)
                if not wanted:  # every configuration has all its folds
                    break
                found = parallel(
                    delayed(_fit_one)(
                        self._with(codec.params(race.points[config])),
                        X,
                        y,
                        self.error_score == "raise",
                        cv=[folds[fold]],
                        scoring=self.scorer_,
                        params={**routed.estimator.fit, **routed.scorer.score} or None,
                        return_train_score=self.return_train_score,
                    )
                    for config, fold in wanted
                )
                for (config, fold), result in zip(wanted, found, strict=True):
                    if isinstance(result, str):
                        race.fail(config, fold, result)
                        continue
                    if not names:
                        names = [key[5:] for key in result if key.startswith("test_")]
                        race.guide = self._guide(names)
                    race.tell(config, fold, result)
                left -= len(wanted)
                if self.verbose:
                    print(f"{race.fits} of {n_iter * len(folds)} fits, {race.summary()}")
        self._report(race, works=bool(names))
        self.n_splits_, self.n_fits_ = len(folds), race.fits
        self.multimetric_ = names != ["score"]
        self.cv_results_ = _results(race, names, train=self.return_train_score)
        if self.refit or not self.multimetric_:
            self._take_best(race)
        if self.refit:
            self._fit_best(X, y, routed.estimator.fit)
        return self

    def _failed(self) -> float:
        """The score of a fit that failed."""
        if isinstance(self.error_score, Real):
            return float(self.error_score)
        if self.error_score != "raise":
            raise ValueError(f"error_score must be 'raise' or a number, got {self.error_score!r}")
        return np.nan

    def _scorers(self) -> Any:
        """One scorer, or several by name."""
        given = self.scoring
        if given is None or isinstance(given, str) or callable(given):
            return check_scoring(self.estimator, scoring=given)
        named = given if isinstance(given, Mapping) else {name: name for name in given}
        if not named:
            raise ValueError(f"scoring must name at least one score, got {given!r}")
        found = {name: check_scoring(self.estimator, scoring=one) for name, one in named.items()}
        self._check_refit_for_multimetric(found)
        return found

    def _guide(self, names: list[str]) -> str:
        """The score that decides: the one of ``refit``, else the first."""
        if names == ["score"]:
            return "score"
        self._check_refit_for_multimetric(names)
        return self.refit if isinstance(self.refit, str) else names[0]

    def _with(self, params: dict[str, Any]) -> Any:
        """The estimator with these parameters; those that are estimators are cloned too."""
        return clone(self.estimator).set_params(**clone(params, safe=False))

    def _report(self, race: Race, *, works: bool) -> None:
        """Warn of fits that failed; an error if all of them did."""
        if not race.errors:
            return
        first = f"The first error: {race.errors[0]}"
        if not works:
            raise ValueError(
                f"all {race.fits} fits failed: the estimator, its parameters or the data are "
                f"wrong. {first}. With error_score='raise' it is raised"
            )
        warnings.warn(
            f"{len(race.errors)} of {race.fits} fits failed and score {race.error_score}. {first}",
            FitFailedWarning,
            stacklevel=3,
        )

    def _take_best(self, race: Race) -> None:
        if callable(self.refit):
            self.best_index_ = self._select_best_index(self.refit, race.guide, self.cv_results_)
        else:
            self.best_index_ = race.best()
            means = self.cv_results_[f"mean_test_{race.guide}"]
            self.best_score_ = float(means[self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]

    def _fit_best(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        best = self._with(self.best_params_)
        start = time.perf_counter()
        self.best_estimator_ = best.fit(X, **({} if y is None else {"y": y}), **params)
        self.refit_time_ = time.perf_counter() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def _run_search(self, evaluate_candidates: Any) -> None:
        """Never called: only the base class requires it; :meth:`fit` goes fold by fold."""


def _fit_one(
    estimator: Any, X: Any, y: Any, raises: bool, **options: Any
) -> dict[str, float] | str:
    """Scores and times of one fit; if it fails, what went wrong."""
    try:
        found = cross_validate(estimator, X, y, error_score="raise", **options)
    except Exception as error:
        if raises:
            raise
        return repr(error)
    return {key: float(values[0]) for key, values in found.items()}


def _results(race: Race, names: list[str], *, train: bool) -> dict[str, Any]:
    """``cv_results_`` for scores of these names, with those on training data if asked for."""
    params = [race.codec.params(point) for point in race.points]
    found: dict[str, Any] = {}
    for key in ("fit_time", "score_time"):
        table = race.table(key)
        found[f"mean_{key}"] = np.nanmean(table, axis=1)
        found[f"std_{key}"] = np.nanstd(table, axis=1)
    for name in race.codec.names:
        found[f"param_{name}"] = _column([one.get(name, _ABSENT) for one in params])
    found["params"] = params
    for name in names:
        found |= _scores(race, f"test_{name}")
        means = np.nan_to_num(found[f"mean_test_{name}"], nan=-np.inf)
        found[f"rank_test_{name}"] = race.ranks() if name == race.guide else ranks(means)
        if train:
            found |= _scores(race, f"train_{name}")
    found["estimate_lower"], found["estimate"], found["estimate_upper"] = race.intervals()
    found["n_fits"] = np.array([len(each) for each in race.scores])
    return found


def _scores(race: Race, key: str) -> dict[str, Any]:
    """A score on each fold, its mean and its deviation over the folds that were fitted."""
    table = race.table(key)
    found = {f"split{fold}_{key}": table[:, fold] for fold in range(race.folds)}
    # As in scikit-learn, a configuration has no mean if one of its fits failed.
    fits = [[row[fold] for fold in each] for row, each in zip(table, race.scores, strict=True)]
    found[f"mean_{key}"] = np.array([np.mean(each) for each in fits])
    found[f"std_{key}"] = np.array([np.std(each) for each in fits])
    return found


def _column(values: list[Any]) -> Any:
    """A column of parameters: numbers where all are, masked where a configuration has none."""
    mask = [value is _ABSENT for value in values]
    column = np.ma.MaskedArray(np.empty(len(values), dtype=object), mask=mask)
    for i, value in enumerate(values):
        if value is not _ABSENT:
            column[i] = value
    kinds = {type(value) for value in values}
    for kind in (bool, int, float):
        if kinds <= {kind}:
            return column.astype(kind)
    return column
