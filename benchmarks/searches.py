"""Hyper-parameter searches on five data sets that scikit-learn bundles.

    python -m benchmarks searches                          # five data sets, five seeds
    python -m benchmarks searches --seeds 1 --data wine

Half of the data is held out. Each search has the fits of 20 configurations on five folds. Shown are
the score of the refitted model on the held-out half (mean over seeds, and the standard error of the
mean) and the fits spent. Halving takes its own budget of samples. Optuna is its default sampler on
the mean over all folds. Needs scikit-learn and Optuna (extra `bench`).
"""

import argparse
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

CONFIGURATIONS, FOLDS = 20, 5


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks searches",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=5, help="splits of the data, and searches")
    parser.add_argument("--data", default=",".join(DATA), help="which data sets")
    parser.add_argument("--methods", default=",".join(METHODS), help="which searches")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    methods = given.methods.split(",")
    print("\nScore on held-out data (standard error) and fits spent\n")
    print("| data | " + " | ".join(methods) + " |")
    print("|---" * (len(methods) + 1) + "|", flush=True)
    for name in given.data.split(","):
        cells = []
        for method in methods:
            runs = [_held_out(name, method, seed) for seed in range(given.seeds)]
            scores = np.array([score for score, _ in runs])
            error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan
            fits = np.mean([count for _, count in runs])
            cells.append(f"{scores.mean():.4f} ({error:.4f}), {fits:.0f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def _held_out(name: str, method: str, seed: int) -> tuple[float, int]:
    """The score on the other half of the data, and the fits spent."""
    from sklearn.model_selection import train_test_split

    X, y, estimator, space = DATA[name]()
    stratify = y if name != "diabetes" else None
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, random_state=seed, stratify=stratify
    )
    model, fits = METHODS[method](estimator, space, train, y_train, seed)
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


DATA: dict[str, Callable[[], tuple[Any, Any, Any, dict[str, Any]]]] = {
    "iris": lambda: _svm("load_iris"),
    "wine": lambda: _forest("load_wine"),
    "breast cancer": lambda: _svm("load_breast_cancer"),
    "digits": lambda: _svm("load_digits"),
    "diabetes": _boosting,
}


def _ours(estimator: Any, space: Any, X: Any, y: Any, seed: int) -> tuple[Any, int]:
    from noregret.integrations.sklearn import NoRegretSearchCV

    search = NoRegretSearchCV(
        estimator, space, n_iter=CONFIGURATIONS, cv=FOLDS, random_state=seed
    ).fit(X, y)
    return search, search.n_fits_


def _random(estimator: Any, space: Any, X: Any, y: Any, seed: int) -> tuple[Any, int]:
    from sklearn.model_selection import RandomizedSearchCV

    search = RandomizedSearchCV(
        estimator, space, n_iter=CONFIGURATIONS, cv=FOLDS, random_state=seed
    ).fit(X, y)
    return search, CONFIGURATIONS * FOLDS


def _halving(estimator: Any, space: Any, X: Any, y: Any, seed: int) -> tuple[Any, int]:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV

    search = HalvingRandomSearchCV(estimator, space, cv=FOLDS, random_state=seed).fit(X, y)
    return search, FOLDS * sum(search.n_candidates_)


def _optuna(estimator: Any, space: Any, X: Any, y: Any, seed: int) -> tuple[Any, int]:
    import optuna
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    def values(trial: Any) -> dict[str, Any]:
        return {name: _suggest(trial, name, one) for name, one in space.items()}

    def objective(trial: Any) -> float:
        model = clone(estimator).set_params(**values(trial))
        return float(cross_val_score(model, X, y, cv=FOLDS).mean())

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=CONFIGURATIONS)
    best = clone(estimator).set_params(**values(study.best_trial))
    return best.fit(X, y), CONFIGURATIONS * FOLDS


def _suggest(trial: Any, name: str, one: Any) -> Any:
    if isinstance(one, list):
        return trial.suggest_categorical(name, one)
    low, high = one.support()
    if one.dist.name == "randint":
        return trial.suggest_int(name, int(low), int(high))
    return trial.suggest_float(name, low, high, log=True)


METHODS: dict[str, Callable[[Any, Any, Any, Any, int], tuple[Any, int]]] = {
    "noregret": _ours,
    "RandomizedSearchCV": _random,
    "HalvingRandomSearchCV": _halving,
    "Optuna TPE": _optuna,
}
