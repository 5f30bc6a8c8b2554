"""Which configuration gets the next fit, without any tool."""

import numpy as np
from scipy import stats

from noregret.integrations.sklearn_race import Race
from noregret.integrations.sklearn_spaces import Codec


def race():
    return Race(Codec({"a": stats.uniform()}), folds=5, seed=0, error_score=np.nan)


def test_one_configuration_gets_all_its_folds_at_once():
    assert race().next(5, left=5) == [(0, fold) for fold in range(5)]


def test_the_last_fits_complete_configurations():
    """One with a fold missing cannot win: the last fits go to those that can get all of theirs."""
    run, left = race(), 30
    before_the_end = 0
    while wanted := run.next(1, left):
        ((config, fold),) = wanted
        run.tell(config, fold, {"test_score": run.points[config]["a"]})
        left -= 1
        if left == 5:
            before_the_end = len(run.points)
    assert len(run.points) == before_the_end > 6
    assert all(len(each) == 5 or 5 - len(each) > left for each in run.scores)
    assert run.points[run.best()]["a"] > 0.9


def test_a_grid_is_searched_until_every_configuration_has_all_folds():
    run = Race(Codec({"a": [1, 2, 3]}), folds=5, seed=0, error_score=np.nan)
    fits = 0
    while wanted := run.next(2, left=100 - fits):
        for config, fold in wanted:
            run.tell(config, fold, {"test_score": run.points[config]["a"]})
        fits += len(wanted)
    assert fits == 15
