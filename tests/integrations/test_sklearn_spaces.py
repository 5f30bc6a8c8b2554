"""The spaces that NoRegretSearchCV searches: dicts, lists of dicts, distributions, our own."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import stats
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import noregret as nr
from noregret.integrations.sklearn import NoRegretSearchCV

pytestmark = pytest.mark.filterwarnings("ignore")


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


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "space must be a dict"),
        ([], "space must be a dict"),
        ([{"C": [1, 2]}, 3], "or a list of such dicts, got 3"),
        ({"C": 3.0}, r"space\['C'\] must be a list"),
        ({"C": stats.loguniform}, r"space\['C'\] must be .* distribution with its parameters"),
        ({"C": [1.0]}, "more than one value"),
    ],
)
def test_wrong_spaces_are_refused(space, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises((TypeError, ValueError), match=message):
        NoRegretSearchCV(LogisticRegression(), space).fit(X, y)


def forest():
    """Numbers and texts in a frame, a pipeline for them, and a space."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", "y"], 90)})
    X.loc[::10, "a"] = np.nan
    y = (X["a"].fillna(0) + (X["b"] == "x") > 0.3).astype(int)
    columns = ColumnTransformer(
        [("number", SimpleImputer(), ["a"]), ("text", OneHotEncoder(), ["b"])]
    )
    pipeline = Pipeline([("columns", columns), ("model", LogisticRegression())])
    space = {
        "columns__number__strategy": ["mean", "median"],
        "model": [LogisticRegression(), DecisionTreeClassifier(random_state=0)],
    }
    return X, y, pipeline, space


def test_a_pipeline_with_columns_of_a_frame():
    X, y, pipeline, space = forest()
    search = NoRegretSearchCV(pipeline, space, n_iter=4, cv=3, random_state=0).fit(X, y)
    assert search.predict(X).shape == y.shape
    assert list(search.feature_names_in_) == ["a", "b"]
    assert search.best_estimator_.named_steps["model"] is not search.best_params_["model"]
    assert not hasattr(space["model"][0], "coef_")  # what the user gave is cloned, not fitted


def test_several_spaces():
    X, y = load_iris(return_X_y=True)
    spaces = [
        {"kernel": ["linear"], "C": [0.01, 0.1, 1.0]},
        {"kernel": ["rbf"], "C": stats.loguniform(1e-2, 1e2), "gamma": stats.loguniform(1e-3, 1)},
    ]
    search = NoRegretSearchCV(SVC(), spaces, n_iter=8, cv=3, random_state=0).fit(X, y)
    params, gamma = search.cv_results_["params"], search.cv_results_["param_gamma"]
    assert {one["kernel"] for one in params} == {"linear", "rbf"}
    assert [("gamma" in one) for one in params] == (~gamma.mask).tolist()
    linear = [one["C"] for one in params if one["kernel"] == "linear"]
    assert len(set(linear)) == len(linear) <= 3  # no configuration comes twice
    assert search.best_score_ > 0.9


def test_a_small_grid_is_searched_once():
    X, y = load_iris(return_X_y=True)
    grid = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}
    search = NoRegretSearchCV(DecisionTreeClassifier(random_state=0), grid, n_iter=50, cv=3)
    results = search.fit(X, y).cv_results_
    assert len(results["params"]) == 6
    assert search.n_fits_ == 18
    assert len({tuple(one.values()) for one in results["params"]}) == 6
    assert results["param_max_depth"].dtype == int


def test_a_condition_of_a_space_holds():
    X, y = load_iris(return_X_y=True)
    space = nr.Space(
        {"max_depth": nr.Int(1, 8), "min_samples_leaf": nr.Int(1, 8)},
        feasible="max_depth * min_samples_leaf < 9",
    )
    given = [space, {"max_depth": [20], "criterion": ["gini", "entropy"]}]
    for one in (space, given):
        search = NoRegretSearchCV(
            DecisionTreeClassifier(random_state=0), one, n_iter=5, cv=3, random_state=0
        ).fit(X, y)
        products = [
            p["max_depth"] * p.get("min_samples_leaf", 0) for p in search.cv_results_["params"]
        ]
        assert max(products) < 9


@pytest.mark.parametrize("values", [range(1, 4), np.array([1, 2, 3, 3]), (3, 1, 2)])
def test_lists_of_other_types(values):
    X, y = load_iris(return_X_y=True)
    search = NoRegretSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": values}, n_iter=4, cv=2
    ).fit(X, y)
    assert sorted(one["max_depth"] for one in search.cv_results_["params"]) == [1, 2, 3]
