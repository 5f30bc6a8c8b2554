"""Real tuning problems with parameters of several types: ``maximize`` beside Optuna.

    python -m benchmarks tuning --seeds 3 --evaluations 40

Each evaluation trains a scikit-learn model on a random half of a bundled data set and scores it on
a quarter of the rest, so that answers are noisy. What a tool recommends is scored by the mean over
eight other splits. Seconds are the processor's, without the training.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from benchmarks import tables

#: a parameter of a search space: kind, ends or choices, and whether it has a log scale
Parameter = tuple[str, Any, bool]


class Problem(NamedTuple):
    """A data set of scikit-learn, a model made from settings by name, and their ranges."""

    data: str
    model: Callable[[dict[str, Any]], Any]
    ranges: dict[str, Parameter]


def _svc(p: dict[str, Any]) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    scaled = [StandardScaler()] if p["scaled"] else []
    return make_pipeline(*scaled, SVC(C=p["C"], gamma=p["gamma"], kernel=p["kernel"]))


def _forest(p: dict[str, Any]) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(
        n_estimators=p["trees"],
        max_depth=p["depth"],
        max_features=p["features"],
        criterion=p["criterion"],
        bootstrap=p["bootstrap"],
        random_state=0,
    )


def _ridge(p: dict[str, Any]) -> Any:
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = KernelRidge(alpha=p["alpha"], gamma=p["gamma"], kernel=p["kernel"], degree=p["degree"])
    return make_pipeline(StandardScaler(), model)


PROBLEMS: dict[str, Problem] = {
    "SVC on digits": Problem(
        "load_digits",
        _svc,
        {
            "C": ("float", (1e-3, 1e3), True),
            "gamma": ("float", (1e-6, 1.0), True),
            "kernel": ("choice", ["rbf", "poly", "sigmoid"], False),
            "scaled": ("choice", [True, False], False),
        },
    ),
    "extra trees on breast cancer": Problem(
        "load_breast_cancer",
        _forest,
        {
            "trees": ("int", (2, 40), True),
            "depth": ("int", (1, 12), False),
            "features": ("float", (0.05, 1.0), False),
            "criterion": ("choice", ["gini", "entropy"], False),
            "bootstrap": ("choice", [True, False], False),
        },
    ),
    "kernel ridge on diabetes": Problem(
        "load_diabetes",
        _ridge,
        {
            "alpha": ("float", (1e-4, 1e3), True),
            "gamma": ("float", (1e-5, 1.0), True),
            "kernel": ("choice", ["rbf", "laplacian", "poly"], False),
            "degree": ("int", (1, 4), False),
        },
    ),
}


def score(problem: Problem, settings: dict[str, Any], split: int) -> float:
    """Accuracy or R² (at least −1) of a model trained and tested on parts of the data."""
    from sklearn import datasets

    X, y = getattr(datasets, problem.data)(return_X_y=True)
    order = np.random.default_rng(split).permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 : len(X) // 2 + len(X) // 8]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = problem.model(settings).fit(X[train], y[train])
        return max(float(model.score(X[test], y[test])), -1.0)


def ours(f: Callable[[dict[str, Any]], float], problem: Problem, n: int, seed: int) -> Any:
    def parameter(kind: str, what: Any, log: bool) -> Any:
        if kind == "choice":
            return nr.Choice(what)
        low, high = what
        return nr.Float(low, high, log=log) if kind == "float" else nr.Int(low, high, log=log)

    space = nr.Space({name: parameter(*one) for name, one in problem.ranges.items()})
    return nr.maximize(f, space, n, seed=seed, progress=False).best.point


def tpe(f: Callable[[dict[str, Any]], float], problem: Problem, n: int, seed: int) -> Any:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def value(trial: Any, name: str, kind: str, what: Any, log: bool) -> Any:
        if kind == "choice":
            return trial.suggest_categorical(name, what)
        suggest = trial.suggest_float if kind == "float" else trial.suggest_int
        return suggest(name, *what, log=log)

    def objective(trial: Any) -> float:
        return f({name: value(trial, name, *one) for name, one in problem.ranges.items()})

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=n)
    return study.best_params


def run(method: Any, problem: Problem, n: int, seed: int) -> tuple[float, float]:
    """The score of what is recommended, and milliseconds a suggestion."""
    splits = iter(range(1000 * (seed + 1), 1000 * (seed + 2)))
    training = [0.0]

    def f(settings: dict[str, Any]) -> float:
        start = time.process_time()
        found = score(problem, settings, next(splits))
        training[0] += time.process_time() - start
        return found

    start = time.process_time()
    best = method(f, problem, n, seed)
    spent = time.process_time() - start - training[0]
    return float(np.mean([score(problem, best, i) for i in range(8)])), 1e3 * spent / n


def main(arguments: list[str] | None = None) -> None:
    parser = tables.parser("tuning", __doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--evaluations", type=int, default=40)
    given = parser.parse_args(arguments)
    print(tables.head("problem", "method", "score recommended: mean (smallest to largest)", "ms"))
    for name, problem in PROBLEMS.items():
        for label, method in (("ours", ours), ("tpe", tpe)):
            runs = [run(method, problem, given.evaluations, seed) for seed in range(given.seeds)]
            scores, spent = zip(*runs, strict=True)
            cell = f"{np.mean(scores):.4f} ({min(scores):.4f} to {max(scores):.4f})"
            tables.show(tables.line(name, label, cell, f"{np.mean(spent):.1f}"))
