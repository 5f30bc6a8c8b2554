"""The papers' data sets, where they are at hand."""

import numpy as np
import pytest
from data_sets import needs

from noregret.problems import datasets


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("abalone", marks=needs("abalone")),
        pytest.param("california_housing", marks=needs("cadata")),
    ],
)
def test_data_sets_are_what_they_say(name):
    data = getattr(datasets, name)()
    assert data.X.shape == {"abalone": (4177, 8), "california_housing": (20640, 8)}[name]
    assert abs(data.X.mean(axis=0)).max() < 1e-9
    assert data.f.min() == 0
    assert data.f.max() == 1


@needs("lightsensor")
def test_light_sensors_have_the_papers_sizes_and_means():
    data = datasets.light_sensors()
    assert data.train.shape == (601, 41)
    assert data.test.shape == (192, 41)
    assert data.coordinates.shape == (41, 2)
    means = data.test.mean(axis=0)
    assert means.argmax() == 3
    assert (means.min().round(1), means.max().round(1)) == (164.2, 945.5)


@needs("stocks")
def test_stocks():
    data = datasets.stocks()
    assert data.prices.shape == (len(data.dates), len(data.names)) == (823, 29)
    assert (str(data.dates[0]), str(data.dates[-1])) == ("2016-01-04", "2019-04-10")
    assert np.all(np.diff(data.dates) > np.timedelta64(0, "D"))
    assert data.prices[0, data.names.index("AAPL")] == pytest.approx(99.49, abs=0.01)
