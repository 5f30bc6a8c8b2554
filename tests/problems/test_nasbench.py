"""The NAS-Bench-101 subset: what is known is kept, what is modelled has the published spread."""

import numpy as np
import pytest
from data_sets import needs

from noregret.problems.nasbench import nasbench101


@pytest.fixture(scope="module")
def networks():
    return nasbench101()


@needs("nasbench101")
def test_networks_are_prepared_as_the_paper_says(networks):
    """Two constant edges less: 13 + 4 columns, each half with norms of at most one."""
    assert networks.features.shape == (12_416, 19)
    assert np.all(networks.features[:, [0, 14]] == 1)
    assert networks.X.shape == (12_416, 17)
    for half, bits in ((networks.X[:, :13], slice(1, 14)), (networks.X[:, 13:], slice(15, 19))):
        assert np.linalg.norm(half, axis=1).max() == pytest.approx(1.0)
        # One factor for the whole half: distances are those of the bits.
        np.testing.assert_allclose(half, networks.features[:, bits] * half.max(), atol=1e-15)
    assert len(np.unique(networks.X, axis=0)) == 12_416


@needs("nasbench101")
def test_modelled_repeats_keep_what_is_known(networks):
    """Means are the known accuracies; deviations have the published quantiles."""
    runs_that_failed = (networks.repeats < 0.5).sum(axis=1)
    good = runs_that_failed == 0
    assert (~good).sum() == runs_that_failed.sum() == 157  # one of three
    np.testing.assert_allclose(networks.repeats.mean(axis=1), networks.f)
    assert np.median(networks.f[good]) == pytest.approx(0.9099, abs=1e-3)
    assert networks.f.max() == pytest.approx(0.9442, abs=1e-4)
    deviations = 100 * networks.repeats[good].std(axis=1, ddof=1)
    np.testing.assert_allclose(np.quantile(deviations, [0.5, 0.9]), [0.328, 0.786], rtol=0.05)
    assert np.all((networks.repeats > 0) & (networks.repeats < 1))
    np.testing.assert_array_equal(nasbench101().repeats, networks.repeats)


@needs("nasbench101")
def test_modelled_training_times(networks):
    """The line that the data's notes give: 1081.5 + 676.06 macs/10⁹, here at two networks."""
    np.testing.assert_allclose(
        networks.seconds[:2], 1081.5 + 676.06 * np.array([0.593785472, 0.534972672]), rtol=1e-4
    )


def test_the_tables_say_where_they_come_from(monkeypatch):
    monkeypatch.delenv("NOREGRET_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"NOREGRET_DATA.*ObfuNAS"):
        nasbench101()
