"""The papers' data sets, where they are at hand."""

import os

import pytest

from noregret.experiments import datasets


@pytest.mark.parametrize("name", ["abalone", "california_housing"])
def test_data_sets_are_what_they_say(name):
    if not os.environ.get("NOREGRET_DATA"):
        pytest.skip("NOREGRET_DATA is not set: no data folder here")
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
