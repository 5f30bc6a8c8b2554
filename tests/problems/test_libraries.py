"""Libraries measured in plates, as problems."""

import numpy as np
from data_sets import needs

from noregret.problems.libraries import Docking, enamine50k, yield_library


def test_the_share_of_the_top_counts_ties():
    data = Docking(["C"] * 6, np.array([-3.0, -1.0, -2.0, -2.0, 0.0, -2.0]))
    assert data.share_of_top(np.array([0]), k=2) == 0.5
    assert data.share_of_top(np.array([0, 2, 3, 5, 0]), k=2) == 1.0
    assert data.share_of_top(np.array([1, 4]), k=2) == 0.0
    assert data.share_of_top(np.array([2, 3]), k=2) == 0.5  # one of the two best scores is −2
    assert data.share_of_molecules(np.array([2, 3]), k=2) == 1 / 3  # one of three may belong


def test_a_yield_library_has_six_descriptors_two_categories_and_noise():
    data = yield_library(500, seed=1)
    assert data.encoded.shape == (500, 20)
    assert np.allclose(data.descriptors.std(axis=0), 1.0)
    assert 0.0 <= data.yields.min() < data.yields.max() <= 90.0
    assert np.array_equal(data.yields, yield_library(500, seed=1).yields)
    measured = data.measure(np.zeros(4000, dtype=int), np.random.default_rng(0))
    assert abs(measured.std() - data.noise) < 0.3


@needs("enamine50k")
def test_docking_scores_are_shuffled():
    data = enamine50k()
    assert len(data.smiles) == len(data.scores) == 49_706
    assert (data.scores.min(), data.scores.max()) == (-9.9, 0.0)
    assert abs(np.corrcoef(np.arange(len(data.scores)), data.scores)[0, 1]) < 0.02
