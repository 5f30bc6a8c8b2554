"""Settings that an optimiser cannot have, and parts that are none."""

import numpy as np
import pytest

import noregret as nr


def test_more_candidates_than_there_are_cannot_be_looked_for():
    assert nr.GPUCB(np.eye(3), nr.RBF(), aim=3, seed=0).aim == 3
    with pytest.raises(ValueError, match=r"aim must be at most the 3 candidates, got 4"):
        nr.GPUCB(np.eye(3), nr.RBF(), aim=4, seed=0)


@pytest.mark.parametrize("settings", [{"aim": 2}, {"repeats": 1}])
def test_points_of_a_box_cannot_be_counted(settings):
    with pytest.raises(ValueError, match="repeats and aim are for lists"):
        nr.GPUCB(nr.Box([(0, 1)]), nr.RBF(), seed=0, **settings)


def test_parts_that_are_none_are_refused():
    class Mine(nr.GPUCB):
        def parts(self):
            return self.domain

    with pytest.raises(TypeError, match=r"Mine\.parts\(\) must return Parts, got Candidates"):
        Mine(np.eye(2), nr.RBF())


@pytest.mark.parametrize("width", [lambda: 2.0, lambda t, delta: 2.0])
def test_a_width_takes_the_evidence_alone(width):
    with pytest.raises(TypeError, match="width must take one argument"):
        nr.GPUCB(np.eye(2), nr.RBF(), width=width)
