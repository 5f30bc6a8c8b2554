"""NoRegretSearchCV: scikit-learn's interface, folds as replicates, estimates instead of luck."""

import inspect
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from joblib import parallel_config
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from noregret.integrations.sklearn import NoRegretSearchCV

pytestmark = pytest.mark.filterwarnings("ignore")
TREE = {"max_depth": stats.randint(1, 8), "min_samples_leaf": [1, 2, 4, 8]}


if "expected_failed_checks" in inspect.signature(parametrize_with_checks).parameters:

    @pytest.mark.slow
    @parametrize_with_checks(
        [
            NoRegretSearchCV(estimator, space, n_iter=2, cv=2, random_state=0, error_score="raise")
            for estimator, space in (
                (LogisticRegression(), {"C": [0.1, 1.0, 10.0]}),
                (Ridge(), {"alpha": [0.1, 1.0, 10.0]}),
            )
        ],
        # scikit-learn expects the same of its own searches
        expected_failed_checks=lambda search: {"check_supervised_y_2d": "no warning from a search"},
    )
    def test_scikit_learns_own_checks(estimator, check):
        check(estimator)


def test_results_look_like_those_of_randomized_search():
    X, y = load_iris(return_X_y=True)
    ours = NoRegretSearchCV(
        DecisionTreeClassifier(random_state=0), TREE, n_iter=6, random_state=0,
        return_train_score=True,
    ).fit(X, y)  # fmt: skip
    theirs = RandomizedSearchCV(
        DecisionTreeClassifier(random_state=0), TREE, n_iter=6, random_state=0,
        return_train_score=True,
    ).fit(X, y)  # fmt: skip
    shared = [name for name in ours.cv_results_ if name in theirs.cv_results_]
    assert shared == list(theirs.cv_results_)
    for name in shared:
        if not name.startswith("param"):  # before 1.5, scikit-learn's parameters are objects
            assert ours.cv_results_[name].dtype == theirs.cv_results_[name].dtype
    assert {len(column) for column in ours.cv_results_.values()} == {
        len(ours.cv_results_["params"])
    }
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.best_score_ == ours.cv_results_["mean_test_score"][ours.best_index_]
    assert ours.cv_results_["n_fits"][ours.best_index_] == 5
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1
    assert ours.n_fits_ == ours.cv_results_["n_fits"].sum()
    assert 25 < ours.n_fits_ <= 30
    assert ours.predict(X).shape == y.shape
    assert set(ours.best_params_) == {"max_depth", "min_samples_leaf"}
    assert isinstance(ours.best_params_["max_depth"], int)


def test_bad_configurations_get_one_fold():
    X, y = load_breast_cancer(return_X_y=True)
    search = NoRegretSearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": stats.loguniform(1e-4, 1e3), "svc__gamma": stats.loguniform(1e-5, 1e1)},
        n_iter=8,
        random_state=0,
    ).fit(X, y)
    fits = search.cv_results_["n_fits"]
    assert len(fits) > 8  # more configurations than all folds of each would allow
    scores = search.cv_results_["split0_test_score"]
    assert fits[np.argmin(scores)] == 1
    assert search.best_score_ > 0.96


def test_workers_give_whole_results():
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(
        DecisionTreeClassifier(random_state=0),
        TREE,
        n_iter=4,
        cv=KFold(3, shuffle=True, random_state=0),
        random_state=0,
        n_jobs=2,
    ).fit(X, y)
    assert 9 < search.n_fits_ <= 12


def test_a_dask_cluster_fits(request):
    pytest.importorskip("distributed")
    request.getfixturevalue("dask_client")
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(
        DecisionTreeClassifier(random_state=0), TREE, n_iter=4, cv=3, random_state=0, n_jobs=2
    )
    with parallel_config("dask"):
        there = search.fit(X, y).cv_results_
    assert search.n_fits_ == 12
    here = search.fit(X, y).cv_results_
    assert there["params"] == here["params"]
    np.testing.assert_array_equal(there["mean_test_score"], here["mean_test_score"])


def test_the_same_seed_gives_the_same_search():
    X, y = load_iris(return_X_y=True)
    params = [
        NoRegretSearchCV(DecisionTreeClassifier(random_state=0), TREE, n_iter=4, random_state=3)
        .fit(X, y)
        .cv_results_["params"]
        for _ in range(2)
    ]
    assert params[0] == params[1]


def test_a_configuration_that_fails_does_not_end_the_search():
    X, y = load_iris(return_X_y=True)
    space = {"C": stats.loguniform(1e-2, 1e2), "penalty": ["l2", "no such penalty"]}
    search = NoRegretSearchCV(LogisticRegression(), space, n_iter=6, random_state=0).fit(X, y)
    assert search.best_params_["penalty"] == "l2"
    assert np.isfinite(search.best_score_)


class Scored(BaseEstimator):
    """Scores 1 − (a − 0.7)², and 0.3 less on the first of five folds; fails beyond a limit."""

    limit = 0.9

    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y=None):
        if self.a > self.limit and X[0, 0] == 0:  # rows of the first fold, seen in all but one fit
            raise ValueError("too large")
        return self

    def score(self, X, y=None):
        return 1.0 - (self.a - 0.7) ** 2 - 0.3 * (X[0, 0] == 0)


class Fragile(Scored):
    """Fails where it scores best."""

    limit = 0.6


def scored(estimator, n_iter=8):
    X = np.arange(50.0)[:, None]
    space = {"a": stats.uniform(0, 1)}
    search = NoRegretSearchCV(
        estimator, space, n_iter=n_iter, cv=KFold(5), random_state=0, refit=False
    )
    return search.fit(X)


def test_estimates_are_on_the_level_of_all_folds():
    search = scored(Scored())
    best = search.best_index_
    away = search.best_params_["a"] - 0.7
    assert abs(away) < 0.2
    assert search.best_score_ == pytest.approx(0.94 - away**2)  # one fold of five is harder
    assert search.cv_results_["estimate"][best] == pytest.approx(search.best_score_, abs=0.1)


def test_a_configuration_with_a_failed_fit_has_no_mean_and_is_not_the_best():
    results = scored(Fragile(), 12).cv_results_
    scores = np.array([results[f"split{i}_test_score"] for i in range(5)]).T
    failed = np.array([p["a"] > Fragile.limit for p in results["params"]]) & (results["n_fits"] > 1)
    assert failed.any()
    assert np.isnan(results["mean_test_score"][failed]).all()
    assert np.isfinite(results["mean_test_score"][~failed]).all()
    assert np.isfinite(scores[np.argmax(results["rank_test_score"] == 1)]).all()


def test_a_search_in_which_everything_fails_says_so():
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(LogisticRegression(), {"C": [-1.0, -2.0]}, n_iter=2)
    with pytest.raises(ValueError, match="all 10 fits failed"):
        search.fit(X, y)


def test_several_scores():
    X, y = (rows[:200] for rows in load_breast_cancer(return_X_y=True))
    space = {"max_depth": stats.randint(1, 8)}
    given = {"scoring": ["accuracy", "roc_auc"], "n_iter": 3, "random_state": 0}
    tree = DecisionTreeClassifier(random_state=0)
    ours = NoRegretSearchCV(tree, space, refit="roc_auc", **given).fit(X, y)
    theirs = RandomizedSearchCV(tree, space, refit="roc_auc", **given).fit(X, y)
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    assert ours.multimetric_
    assert ours.best_score_ == ours.cv_results_["mean_test_roc_auc"][ours.best_index_]
    assert ours.score(X, y) == pytest.approx(ours.scorer_["roc_auc"](ours, X, y))
    none = NoRegretSearchCV(tree, space, refit=False, **given).fit(X, y)
    assert not hasattr(none, "best_index_")
    chosen = NoRegretSearchCV(tree, space, refit=lambda results: 1, **given).fit(X, y)
    assert chosen.best_index_ == 1
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        NoRegretSearchCV(tree, space, **given).fit(X, y)


def test_a_scorer_that_returns_several_scores():
    X, y = load_iris(return_X_y=True)

    def scores(estimator, X, y):
        right = float((estimator.predict(X) == y).mean())
        return {"right": right, "wrong": 1.0 - right}

    search = NoRegretSearchCV(
        DecisionTreeClassifier(random_state=0),
        TREE,
        scoring=scores,
        refit="right",
        n_iter=3,
        random_state=0,
    ).fit(X, y)
    results = search.cv_results_
    np.testing.assert_allclose(results["mean_test_right"] + results["mean_test_wrong"], 1.0)
    assert search.score(X, y) > 0.9


def test_weights_and_groups_reach_fits_and_folds():
    X, y = load_diabetes(return_X_y=True)
    groups = np.arange(len(X)) % 4
    weights = np.where(groups == 3, 0.0, 1.0)
    search = NoRegretSearchCV(
        Ridge(), {"alpha": stats.loguniform(1e-3, 1e2)}, n_iter=2, cv=GroupKFold(4), random_state=0
    )
    search.fit(X, y, sample_weight=weights, groups=groups)
    assert search.n_splits_ == 4
    alone = Ridge(**search.best_params_).fit(X[groups != 3], y[groups != 3])
    np.testing.assert_allclose(search.predict(X), alone.predict(X))


def test_copies_and_pickles():
    X, y = load_iris(return_X_y=True)
    space = {"C": stats.loguniform(0.1, 10)}
    search = NoRegretSearchCV(LogisticRegression(), space, n_iter=2, random_state=0)
    assert clone(search).get_params()["n_iter"] == 2
    search.fit(X, y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert not hasattr(clone(search), "cv_results_")


def test_failures_are_counted_in_one_warning():
    X = np.arange(50.0)[:, None]
    search = NoRegretSearchCV(
        Scored(), {"a": [0.1, 0.5, 0.95]}, cv=KFold(5), error_score=-1.0, random_state=0
    )
    with pytest.warns(FitFailedWarning, match=r"\d of \d+ fits failed and score -1.0.*too large"):
        search.fit(X)
    results = search.cv_results_
    bad = results["param_a"] == 0.95
    assert results["mean_test_score"][bad] < 0
    assert search.best_params_["a"] == 0.5


def test_scores_that_are_no_numbers_are_counted_too():
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(
        LogisticRegression(),
        {"C": [0.1, 1.0]},
        n_iter=2,
        cv=2,
        scoring=lambda estimator, X, y: np.nan if estimator.C == 0.1 else 1.0,
    )
    with pytest.warns(FitFailedWarning, match="fits failed and score nan.*the score is nan"):
        search.fit(X, y)
    assert search.best_params_ == {"C": 1.0}


class Stopped(Scored):
    """The user presses Ctrl-C during a fit."""

    def fit(self, X, y=None):
        raise KeyboardInterrupt


def test_an_interrupt_ends_the_search():
    search = NoRegretSearchCV(Stopped(), {"a": [0.1, 0.5]})
    with pytest.raises(KeyboardInterrupt):
        search.fit(np.arange(50.0)[:, None])
    assert not hasattr(search, "cv_results_")


def test_progress_is_printed(capsys):
    X, y = load_iris(return_X_y=True)
    NoRegretSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, n_iter=1, verbose=1).fit(X, y)
    assert "5 of 5 fits" in capsys.readouterr().out


def test_a_wrong_error_score_is_refused():
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, error_score="rise")
    with pytest.raises(ValueError, match="error_score must be 'raise' or a number, got 'rise'"):
        search.fit(X, y)
