"""The papers' data sets, where they are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest

from noregret.problems import datasets


def needs(folder):
    """Skip where the data folder, or this part of it, is not there."""
    there = Path(os.environ.get("NOREGRET_DATA", "nowhere"), folder).exists()
    return pytest.mark.skipif(not there, reason=f"NOREGRET_DATA holds no {folder} here")


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


def test_a_wrong_data_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("NOREGRET_DATA", str(tmp_path))
    (tmp_path / "abalone").mkdir()
    (tmp_path / "abalone" / "abalone.data").write_text("M,1,2,3\n")
    with pytest.raises(ValueError, match="SHA-256"):
        datasets.abalone()


def test_a_table_that_has_no_address_says_where_it_comes_from(monkeypatch):
    monkeypatch.delenv("NOREGRET_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"NOREGRET_DATA.*ObfuNAS"):
        datasets.nasbench101()


@needs("lightsensor")
def test_light_sensors():
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
    assert np.all(np.diff(data.dates) > np.timedelta64(0))
    assert data.prices[0, data.names.index("AAPL")] == pytest.approx(99.49, abs=0.01)


@pytest.fixture(scope="module")
def cells():
    return datasets.nasbench101()


@needs("nasbench101")
def test_cells_are_prepared_as_the_paper_says(cells):
    """Two constant edges less: 13 + 4 columns, each half with norms of at most one."""
    assert cells.features.shape == (12_416, 19)
    assert np.all(cells.features[:, [0, 14]] == 1)
    assert cells.X.shape == (12_416, 17)
    for half, bits in ((cells.X[:, :13], slice(1, 14)), (cells.X[:, 13:], slice(15, 19))):
        assert np.linalg.norm(half, axis=1).max() == pytest.approx(1.0)
        # One factor for the whole half: distances are those of the bits.
        np.testing.assert_allclose(half, cells.features[:, bits] * half.max(), atol=1e-15)
    assert len(np.unique(cells.X, axis=0)) == 12_416


@needs("nasbench101")
def test_modelled_repeats_keep_what_is_known(cells):
    """Means are the known accuracies; deviations have the published quantiles."""
    good = ~cells.failed
    assert cells.failed.sum() == 157
    np.testing.assert_allclose(cells.repeats.mean(axis=1), cells.f)
    assert np.median(cells.f[good]) == pytest.approx(0.9099, abs=1e-3)
    assert cells.f.max() == pytest.approx(0.9442, abs=1e-4)
    deviations = 100 * cells.repeats[good].std(axis=1, ddof=1)
    np.testing.assert_allclose(np.quantile(deviations, [0.5, 0.9]), [0.328, 0.786], rtol=0.05)
    assert np.all((cells.repeats > 0) & (cells.repeats < 1))
    # A failed cell has one failed run of three.
    np.testing.assert_array_equal((cells.repeats < 0.5).sum(axis=1), cells.failed)
    np.testing.assert_array_equal(datasets.nasbench101().repeats, cells.repeats)


@needs("nasbench101")
def test_modelled_training_times(cells):
    """The line that the data's notes give: 1081.5 + 676.06 macs/10⁹, here at two cells."""
    np.testing.assert_allclose(
        cells.seconds[:2], 1081.5 + 676.06 * np.array([0.593785472, 0.534972672]), rtol=1e-4
    )


def test_what_cannot_be_fetched_is_named(monkeypatch):
    monkeypatch.delenv("NOREGRET_DATA", raising=False)
    nowhere = datasets._File("x/y.csv", "http://localhost:9/y.csv", "0" * 64)
    with pytest.raises(OSError, match=r"x/y.csv could not be fetched from http://localhost:9"):
        datasets._content(nowhere)
