"""Hyper-parameter search in scikit-learn's own form, with folds as noisy replicates.

    from noregret.integrations.sklearn import NoRegretSearchCV

    search = NoRegretSearchCV(SVC(), {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    search.fit(X, y).best_params_

Needs scikit-learn: ``pip install "noregret[sklearn]"``.
"""

import warnings
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
from noregret.integrations.sklearn_race import Race
from noregret.integrations.sklearn_space import Codec


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
        As for ``RandomizedSearchCV``; folds that were not fitted are NaN, and means are over the
        fitted ones. In addition it has ``estimate``, ``estimate_lower`` and ``estimate_upper``, the
        model's interval, and ``n_fits``. Ranks follow the estimate.
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
        race = Race(codec, len(folds), seed)
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
        """Never called: only the base class requires it; :meth:`fit` goes fold by fold."""


def _fit_one(estimator: Any, X: Any, y: Any, error_score: Any, **options: Any) -> dict[str, float]:
    """Scores and times of one fit; a failure scores ``error_score`` if that is a number."""
    try:
        found = cross_validate(estimator, X, y, error_score="raise", **options)
    except Exception as error:
        if error_score == "raise":
            raise
        warnings.warn(f"a fit failed: {error!r}", FitFailedWarning, stacklevel=2)
        names = ("test_score", "train_score") if options["return_train_score"] else ("test_score",)
        return {"fit_time": 0.0, "score_time": 0.0, **dict.fromkeys(names, float(error_score))}
    return {key: float(values[0]) for key, values in found.items()}
