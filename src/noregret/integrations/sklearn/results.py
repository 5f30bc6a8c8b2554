"""The table of results, ``cv_results_``, with the columns of ``RandomizedSearchCV``."""

from typing import Any

import numpy as np

from noregret.integrations.sklearn.race import Race, ranks

#: stands for a parameter that a configuration does not have
_ABSENT = object()


def results(race: Race, names: list[str], *, train: bool) -> dict[str, Any]:
    """``cv_results_`` for scores of these names, with those on training data if asked for."""
    params = [race.codec.params(point) for point in race.points]
    found: dict[str, Any] = {}
    for time in ("fit_time", "score_time"):
        table = race.table(time)
        found[f"mean_{time}"] = np.nanmean(table, axis=1)
        found[f"std_{time}"] = np.nanstd(table, axis=1)
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
