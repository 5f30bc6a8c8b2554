"""Hyper-parameter searches on five data sets that scikit-learn bundles.

    python -m benchmarks searches                          # five data sets, five seeds
    python -m benchmarks searches --seeds 1 --data wine
    python -m benchmarks searches --spaces large --configurations 5,20

Half of the data is held out. Each search has the fits of so many configurations on five folds.
Shown are the score of the refitted model on the held-out half (mean over seeds, and the standard
error of the mean) and the fits spent. The last row has the mean over data sets, and how far it is
above that of the first search with its largest budget (with the standard error of the difference
on the same splits). Halving takes its own budget of samples. Optuna is its default sampler on the
mean over all folds, "all folds" our sampler on that mean: what `NoRegretSearchCV` would be if it
fitted every configuration on every fold. In small spaces many configurations are about equally
good; in large ones few are good. Needs scikit-learn and Optuna (extra `bench`).
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import tables
from noregret._types import Floats

FOLDS = 5

#: data, an estimator and its space
Problem = Callable[[], tuple[Any, Any, Any, dict[str, Any]]]


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = tables.parser("searches", __doc__)
    parser.add_argument("--seeds", type=int, default=5, help="splits of the data, and searches")
    parser.add_argument("--data", default="", help="which data sets; all by default")
    parser.add_argument("--spaces", default="small", choices=list(SPACES), help="which spaces")
    parser.add_argument("--configurations", default="20", help="the budgets on five folds")
    parser.add_argument("--methods", default=",".join(METHODS), help="which searches")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    budgets = sorted(map(int, given.configurations.split(",")), reverse=True)
    columns = [
        (method, budget)
        for method in given.methods.split(",")
        for budget in budgets[: 1 if method == "HalvingRandomSearchCV" else None]
    ]
    print("\nScore on held-out data (standard error) and fits spent\n")
    tables.show(tables.head("data", *(method for method, _ in columns)))
    data = SPACES[given.spaces]
    found = []
    for name in given.data.split(",") if given.data else data:
        runs = np.array(
            [
                [_held_out(data[name], *column, seed) for column in columns]
                for seed in range(given.seeds)
            ]
        )
        scores = runs[:, :, 0]
        found.append(scores)
        cells = [
            f"{mean:.4f} ({error:.4f}), {fits:.0f}"
            for mean, error, fits in zip(
                scores.mean(axis=0), _errors(scores), runs[:, :, 1].mean(axis=0), strict=True
            )
        ]
        tables.show(tables.line(name, *cells))
    means = np.mean(found, axis=0)
    above = means - means[:, :1]
    overall = zip(means.mean(axis=0), above.mean(axis=0), _errors(above), strict=True)
    cells = [f"{mean:.4f}, {more:+.4f} ({error:.4f})" for mean, more, error in overall]
    tables.show(tables.line("mean", *cells))


def _errors(scores: Floats) -> Floats:
    """The standard error of the mean of each column (seeds × columns)."""
    if len(scores) < 2:
        return np.full(scores.shape[1], np.nan)
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(len(scores)))


def _held_out(problem: Problem, method: str, budget: int, seed: int) -> tuple[float, int]:
    """The score on the other half of the data, and the fits spent."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import train_test_split

    X, y, estimator, space = problem()
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, random_state=seed, stratify=y if is_classifier(estimator) else None
    )
    model, fits = METHODS[method](estimator, space, train, y_train, seed, budget)
    return float(model.score(test, y_test)), fits


def _svm(loader: str) -> tuple[Any, Any, Any, dict[str, Any]]:
    from scipy.stats import loguniform
    from sklearn import datasets
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    X, y = getattr(datasets, loader)(return_X_y=True)
    space = {"svc__C": loguniform(1e-4, 1e4), "svc__gamma": loguniform(1e-6, 1e2)}
    return X, y, make_pipeline(StandardScaler(), SVC()), space


def _boosting() -> tuple[Any, Any, Any, dict[str, Any]]:
    from scipy.stats import loguniform, randint
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor

    X, y = load_diabetes(return_X_y=True)
    space = {
        "learning_rate": loguniform(1e-3, 1),
        "max_depth": randint(1, 9),
        "subsample": [0.5, 0.7, 0.9, 1.0],
        "max_features": ["sqrt", None],
    }
    return X, y, GradientBoostingRegressor(n_estimators=60, random_state=0), space


def _forest(loader: str) -> tuple[Any, Any, Any, dict[str, Any]]:
    from scipy.stats import loguniform, randint
    from sklearn import datasets
    from sklearn.ensemble import ExtraTreesClassifier

    X, y = getattr(datasets, loader)(return_X_y=True)
    space = {
        "max_depth": randint(1, 20),
        "min_samples_leaf": randint(1, 20),
        "max_features": loguniform(0.05, 1.0),
        "criterion": ["gini", "entropy"],
    }
    return X, y, ExtraTreesClassifier(n_estimators=30, random_state=0), space


def _any_svm(loader: str, *, regression: bool = False) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Support vector machines with any kernel, over ten decades of each parameter."""
    from scipy.stats import loguniform, randint
    from sklearn import datasets
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    X, y = getattr(datasets, loader)(return_X_y=True)
    name, model = ("svr", SVR(max_iter=5000)) if regression else ("svc", SVC(max_iter=5000))
    space = {
        f"{name}__C": loguniform(1e-5, 1e5),
        f"{name}__gamma": loguniform(1e-8, 1e2),
        f"{name}__kernel": ["rbf", "poly", "sigmoid"],
        f"{name}__degree": randint(2, 6),
        f"{name}__coef0": loguniform(1e-3, 1e1),
        f"{name}__tol": loguniform(1e-4, 1e-1),
    }
    if regression:
        space[f"{name}__epsilon"] = loguniform(1e-2, 1e3)
    return X, y, make_pipeline(StandardScaler(), model), space


SPACES: dict[str, dict[str, Problem]] = {
    "small": {
        "iris": lambda: _svm("load_iris"),
        "wine": lambda: _forest("load_wine"),
        "breast cancer": lambda: _svm("load_breast_cancer"),
        "digits": lambda: _svm("load_digits"),
        "diabetes": _boosting,
    },
    "large": {
        "iris": lambda: _any_svm("load_iris"),
        "wine": lambda: _any_svm("load_wine"),
        "breast cancer": lambda: _any_svm("load_breast_cancer"),
        "digits": lambda: _any_svm("load_digits"),
        "diabetes": lambda: _any_svm("load_diabetes", regression=True),
    },
}


def _ours(estimator: Any, space: Any, X: Any, y: Any, seed: int, budget: int) -> tuple[Any, int]:
    from noregret.integrations.sklearn import NoRegretSearchCV

    search = NoRegretSearchCV(estimator, space, n_iter=budget, cv=FOLDS, random_state=seed).fit(
        X, y
    )
    return search, search.n_fits_


def _random(estimator: Any, space: Any, X: Any, y: Any, seed: int, budget: int) -> tuple[Any, int]:
    from sklearn.model_selection import RandomizedSearchCV

    search = RandomizedSearchCV(estimator, space, n_iter=budget, cv=FOLDS, random_state=seed).fit(
        X, y
    )
    return search, budget * FOLDS


def _halving(estimator: Any, space: Any, X: Any, y: Any, seed: int, budget: int) -> tuple[Any, int]:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV

    search = HalvingRandomSearchCV(estimator, space, cv=FOLDS, random_state=seed).fit(X, y)
    return search, FOLDS * sum(search.n_candidates_)


def _optuna(estimator: Any, space: Any, X: Any, y: Any, seed: int, budget: int) -> tuple[Any, int]:
    import optuna

    study = _studied(optuna.samplers.TPESampler(seed=seed), estimator, space, X, y, budget)
    best = _with(estimator, space, study.best_trial)
    return best.fit(X, y), budget * FOLDS


def _all_folds(
    estimator: Any, space: Any, X: Any, y: Any, seed: int, budget: int
) -> tuple[Any, int]:
    from sklearn.base import clone

    from noregret.integrations.optuna import NoRegretSampler

    study = _studied(NoRegretSampler(seed=seed), estimator, space, X, y, budget)
    best = clone(estimator).set_params(**study.sampler.recommend(study).params)
    return best.fit(X, y), budget * FOLDS


def _studied(sampler: Any, estimator: Any, space: Any, X: Any, y: Any, budget: int) -> Any:
    """An Optuna study of the mean score over all folds."""
    import optuna
    from sklearn.model_selection import cross_val_score

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(
        lambda trial: cross_val_score(_with(estimator, space, trial), X, y, cv=FOLDS).mean(),
        n_trials=budget,
    )
    return study


def _with(estimator: Any, space: Any, trial: Any) -> Any:
    """The estimator with a trial's parameters."""
    from sklearn.base import clone

    params = {name: _suggest(trial, name, one) for name, one in space.items()}
    return clone(estimator).set_params(**params)


def _suggest(trial: Any, name: str, one: Any) -> Any:
    if isinstance(one, list):
        return trial.suggest_categorical(name, one)
    low, high = one.support()
    if one.dist.name == "randint":
        return trial.suggest_int(name, int(low), int(high))
    return trial.suggest_float(name, low, high, log=True)


METHODS: dict[str, Callable[[Any, Any, Any, Any, int, int], tuple[Any, int]]] = {
    "noregret": _ours,
    "all folds": _all_folds,
    "RandomizedSearchCV": _random,
    "HalvingRandomSearchCV": _halving,
    "Optuna TPE": _optuna,
}
