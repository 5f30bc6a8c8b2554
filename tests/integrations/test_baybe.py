"""The BayBE recommender: campaigns on discrete search spaces."""

import numpy as np
import pytest

pytest.importorskip("baybe")

import pandas as pd
from baybe import Campaign
from baybe.exceptions import IncompatibleSearchSpaceError, NotEnoughPointsLeftError
from baybe.objectives import DesirabilityObjective, ParetoObjective, SingleTargetObjective
from baybe.parameters import (
    CategoricalParameter,
    NumericalContinuousParameter,
    NumericalDiscreteParameter,
)
from baybe.recommenders.base import RecommenderProtocol
from baybe.searchspace import SearchSpace
from baybe.targets import NumericalTarget

from noregret.integrations.baybe import NoRegretRecommender

pytestmark = pytest.mark.filterwarnings("ignore")
LESS_WASTE = SingleTargetObjective(NumericalTarget("waste", minimize=True))


def space():
    return SearchSpace.from_product(
        [
            NumericalDiscreteParameter("temperature", np.linspace(20, 100, 21)),
            NumericalDiscreteParameter("hours", [1, 2, 4, 8, 16], tolerance=0.1),
            CategoricalParameter("solvent", ["water", "oil", "alcohol"]),
        ]
    )


def waste(rows):
    hot = (rows["temperature"] / 60 - 1) ** 2
    return hot + 0.1 * np.log2(rows["hours"] / 4) ** 2 + (rows["solvent"] == "water")


def test_it_is_a_recommender():
    assert isinstance(NoRegretRecommender(), RecommenderProtocol)


def test_a_campaign_finds_the_best_and_repeats_nothing():
    campaign = Campaign(space(), LESS_WASTE, NoRegretRecommender(seed=0))
    for _ in range(5):
        plate = campaign.recommend(8)
        assert len(plate) == 8
        plate["waste"] = waste(plate)
        campaign.add_measurements(plate)
    done = campaign.measurements
    assert len(done.drop_duplicates(["temperature", "hours", "solvent"])) == 40
    assert done["waste"].min() < 0.1


def test_numbers_within_the_tolerance_and_pending_experiments():
    recommender, where = NoRegretRecommender(seed=0, repeats=1), space()
    measured = where.discrete.exp_rep.sample(30, random_state=0).reset_index(drop=True)
    measured["hours"] += 0.05
    measured["waste"] = waste(measured)
    first = recommender.recommend(4, where, LESS_WASTE, measured)
    pd.testing.assert_frame_equal(first, recommender.recommend(4, where, LESS_WASTE, measured))
    others = recommender.recommend(4, where, LESS_WASTE, measured, pending_experiments=first)
    assert not set(first.index) & set(others.index)


def test_a_desirability_is_one_number():
    targets = [
        NumericalTarget.normalized_ramp("gain", (0, 1)),
        NumericalTarget.normalized_ramp("waste", (0, 1), descending=True),
    ]
    measured = space().discrete.exp_rep.iloc[:20].copy()
    measured["gain"], measured["waste"] = np.linspace(0, 1, 20), np.linspace(1, 0, 20)
    found = NoRegretRecommender(seed=0).recommend(
        2, space(), DesirabilityObjective(targets), measured
    )
    assert len(found) == 2


def test_what_cannot_be_done_is_refused():
    recommender, where = NoRegretRecommender(), space()
    measured = where.discrete.exp_rep.iloc[:3].assign(waste=1.0, gain=1.0)
    continuous = SearchSpace.from_product([NumericalContinuousParameter("x", (0, 1))])
    with pytest.raises(IncompatibleSearchSpaceError, match="must be discrete, got"):
        recommender.recommend(1, continuous)
    with pytest.raises(NotEnoughPointsLeftError, match="at most 315"):
        recommender.recommend(1000, where)
    with pytest.raises(ValueError, match="objective must be given"):
        recommender.recommend(1, where, None, measured)
    both = ParetoObjective([NumericalTarget("waste", minimize=True), NumericalTarget("gain")])
    with pytest.raises(ValueError, match="one output"):
        recommender.recommend(1, where, both, measured)


def test_an_unknown_setting_is_refused():
    with pytest.raises(TypeError, match="BBKB has no setting 'widht'"):
        NoRegretRecommender(widht=2.0)
