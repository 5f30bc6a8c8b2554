"""NoRegretSearchCV: scikit-learn's interface, folds as replicates, estimates instead of luck."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import noregret as nr
from noregret.integrations.sklearn import NoRegretSearchCV

pytestmark = pytest.mark.filterwarnings("ignore")
TREE = {"max_depth": stats.randint(1, 8), "min_samples_leaf": [1, 2, 4, 8]}


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
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    assert {len(column) for column in ours.cv_results_.values()} == {
        len(ours.cv_results_["params"])
    }
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.best_score_ == ours.cv_results_["mean_test_score"][ours.best_index_]
    assert ours.cv_results_["n_fits"][ours.best_index_] == 5
    assert ours.n_fits_ == ours.cv_results_["n_fits"].sum() == 30
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


def test_spaces_of_every_kind():
    X, y = load_diabetes(return_X_y=True)
    space = nr.Space({"alpha": nr.Float(1e-3, 1e2, log=True), "fit_intercept": nr.Bool()})
    found = NoRegretSearchCV(Ridge(), space, n_iter=4, random_state=0).fit(X, y).best_params_
    assert isinstance(found["alpha"], float)
    assert found["fit_intercept"] is True
    space = {
        "alpha": stats.gamma(2.0),
        "solver": ["auto"],
        "fit_intercept": np.array([True, False]),
    }
    search = NoRegretSearchCV(Ridge(), space, n_iter=3, random_state=0).fit(X, y)
    assert search.best_params_["solver"] == "auto"
    assert search.best_params_["alpha"] > 0


def test_workers_give_whole_results():
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(
        DecisionTreeClassifier(random_state=0), TREE, n_iter=4, cv=KFold(3, shuffle=True), n_jobs=2
    ).fit(X, y)
    assert search.n_fits_ == 12


def test_a_dask_cluster_fits(dask_client):
    joblib = pytest.importorskip("joblib")
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(
        DecisionTreeClassifier(random_state=0), TREE, n_iter=4, cv=3, random_state=0, n_jobs=2
    )
    with joblib.parallel_config("dask"):
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
    """Scores 1 − (a − 0.7)², and 0.3 less on the first of five folds; fails beyond 0.9."""

    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y=None):
        if self.a > 0.9 and X[0, 0] == 0:  # rows of the first fold, seen in all but one fit
            raise ValueError("too large")
        return self

    def score(self, X, y=None):
        return 1.0 - (self.a - 0.7) ** 2 - 0.3 * (X[0, 0] == 0)


def scored(n_iter=8):
    X = np.arange(50.0)[:, None]
    space = {"a": stats.uniform(0, 1)}
    search = NoRegretSearchCV(
        Scored(), space, n_iter=n_iter, cv=KFold(5), random_state=0, refit=False
    )
    return search.fit(X)


def test_estimates_are_on_the_level_of_all_folds():
    search = scored()
    best = search.best_index_
    away = search.best_params_["a"] - 0.7
    assert abs(away) < 0.2
    assert search.best_score_ == pytest.approx(0.94 - away**2)  # one fold of five is harder
    assert search.cv_results_["estimate"][best] == pytest.approx(search.best_score_, abs=0.1)


def test_a_configuration_with_a_failed_fit_has_no_mean_and_is_not_the_best():
    results = scored(20).cv_results_
    scores = np.array([results[f"split{i}_test_score"] for i in range(5)]).T
    failed = np.array([p["a"] > 0.9 for p in results["params"]]) & (results["n_fits"] > 1)
    assert np.isnan(results["mean_test_score"][failed]).all()
    assert np.isfinite(results["mean_test_score"][~failed]).all()
    assert np.isfinite(scores[np.argmax(results["rank_test_score"] == 1)]).all()


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "space must be a dict"),
        ([{"C": [1]}], "space must be a dict"),
        ({"C": 3.0}, r"space\['C'\] must be a list"),
        ({"C": [1.0]}, "more than one value"),
    ],
)
def test_wrong_spaces_are_refused(space, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises((TypeError, ValueError), match=message):
        NoRegretSearchCV(LogisticRegression(), space).fit(X, y)


def test_a_search_in_which_everything_fails_says_so():
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(LogisticRegression(), {"C": [-1.0, -2.0]}, n_iter=2)
    with pytest.raises(ValueError, match="all 10 fits failed"):
        search.fit(X, y)


def test_several_scores_are_refused():
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, refit="accuracy")
    with pytest.raises(ValueError, match="refit must be"):
        search.fit(X, y)
