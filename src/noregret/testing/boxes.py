"""What users may rely on, whatever the algorithm, on a box."""

from typing import Any

import numpy as np

from noregret.spaces import Box
from noregret.testing.suite import Suite, fingerprint, refused


class BoxSuite(Suite):
    """What users may rely on, whatever the algorithm, on a box."""

    examples, longest = 2, 6

    def domain(self) -> Box:
        """The unit square."""
        return Box([(0, 1), (0, 1)])

    @property
    def probe(self) -> Any:
        """Seven points."""
        return np.random.default_rng(5).uniform(size=(7, 2))

    @property
    def old_data(self) -> Any:
        """Points, one of them twice."""
        return np.array([[0.2, 0.3], [0.9, 0.1], [0.9, 0.1], [0.5, 0.5]])

    def test_batches_are_points_of_the_box(self) -> None:
        """Points lie inside; ids are −1."""
        optimizer = self.build()
        for i, n in enumerate((1, 3, None, 2)):
            batch = optimizer.ask(n)
            assert batch.points.shape == (len(batch), 2)
            assert np.all((batch.points >= 0) & (batch.points <= 1))
            assert np.all(batch.ids == -1)
            optimizer.tell(batch, self.evaluate(batch, i))
        assert optimizer.t == len(optimizer.history)

    def test_counts_of_candidates_are_for_lists(self) -> None:
        """A box has no candidates to count."""
        with refused("repeats"):
            self.build(repeats=1)
        with refused("repeats"):
            self.build(aim=3)
        optimizer = self.build()
        assert not optimizer.exhausted
        with refused("box"):
            optimizer.add_candidates(np.zeros((3, 2)))
        with refused("box"):
            optimizer.top_gap(2)

    def test_bad_input_is_refused_and_changes_nothing(self) -> None:
        """Points outside, of the wrong length or not finite, and bad rewards."""
        optimizer = self.build()
        self.play(optimizer, 2)
        before = fingerprint(optimizer)
        for points in ([[0.5, 1.5]], [[0.5]], [[0.5, np.nan]], "ab", [[-0.1, 0.5]]):
            with refused("points"):
                optimizer.tell(points, [0.0])
            with refused("points"):
                optimizer.predict(points)
        for rewards in ([np.nan], [0.0, 1.0], ["high"]):
            with refused("rewards"):
                optimizer.tell([[0.5, 0.5]], rewards)
        with refused("box"):
            optimizer.replace_candidates(np.zeros((3, 2)))
        assert fingerprint(optimizer) == before
