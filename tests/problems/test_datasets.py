"""The papers' data sets, where they are at hand."""

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
    prices = datasets.stocks()
    assert prices.shape == (823, 29)
    assert prices[0, 0] == pytest.approx(99.49, abs=0.01)  # AAPL
