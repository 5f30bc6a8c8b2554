"""What users may rely on, whatever the algorithm, on a space of several types."""

from typing import Any

import numpy as np

from noregret.kernels import RBF
from noregret.spaces import Bool, Choice, Float, Int, Space
from noregret.testing.suite import Suite, fingerprint, refused, reload


class SpaceSuite(Suite):
    """What users may rely on, whatever the algorithm, on a space of several types."""

    examples, longest = 2, 5

    def domain(self) -> Space:
        """A number, a whole number on a logarithmic scale, a choice and a boolean."""
        return Space(
            {
                "rate": Float(0, 1),
                "units": Int(1, 4, log=True),
                "kind": Choice(["a", "b", "c"]),
                "bias": Bool(),
            }
        )

    @property
    def probe(self) -> Any:
        """Seven points."""
        return self.domain().sample(7, np.random.default_rng(5))[1]

    @property
    def old_data(self) -> Any:
        """Points, one of them twice."""
        return self.domain().encode(
            [
                {"rate": 0.2, "units": 3, "kind": "a", "bias": False},
                {"rate": 0.9, "units": 1, "kind": "c", "bias": True},
                {"rate": 0.9, "units": 1, "kind": "c", "bias": True},
                {"rate": 0.5, "units": 4, "kind": "b", "bias": True},
            ]
        )

    @property
    def kernel(self) -> RBF:
        """A lengthscale for each column."""
        return RBF([0.5, 0.8, 1.0, 0.7])

    def test_batches_are_points_of_the_space(self) -> None:
        """Every point asked for has a dict that means the same point and can be told."""
        optimizer = self.build()
        space = optimizer.domain
        for i, n in enumerate((1, 3, None, 2)):
            batch = optimizer.ask(n)
            assert np.all(batch.ids == -1)
            assert batch.values == space.decode(batch.points)
            np.testing.assert_array_equal(space.encode(batch.values), batch.points)
            for point in batch.values:
                assert [type(value) for value in point.values()] == [float, int, str, bool]
            optimizer.tell(batch.values, self.evaluate(batch, i))
            assert optimizer.pending == 0
        assert optimizer.t == len(optimizer.history)

    def test_a_file_brings_the_space_back(self) -> None:
        """After loading, names, types and ranges are those of the run."""
        optimizer = self.build()
        again = reload(optimizer).domain
        assert again.names == optimizer.domain.names
        assert again.parameters == optimizer.domain.parameters

    def test_bad_input_is_refused_and_changes_nothing(self) -> None:
        """Values outside, of the wrong type or missing are refused by the parameter's name."""
        optimizer = self.build()
        self.play(optimizer, 2)
        before = fingerprint(optimizer)
        good = {"rate": 0.5, "units": 2, "kind": "a", "bias": True}
        bad: list[tuple[str, Any]] = [
            ("rate", 1.5),
            ("rate", "high"),
            ("units", 5),
            ("units", 1.5),
            ("kind", "d"),
            ("bias", 2),
        ]
        for name, value in bad:
            with refused(name):
                optimizer.tell([{**good, name: value}], [0.0])
        missing = {key: value for key, value in good.items() if key != "kind"}
        for point in (missing, {**good, "kinds": "a"}, [[0.5, 0.1, 0.0, 0.0]], [[0.5]]):
            with refused("points"):
                optimizer.tell(point, [0.0])
        for rewards in ([np.nan], [0.0, 1.0], ["high"]):
            with refused("rewards"):
                optimizer.tell(good, rewards)
        with refused("space"):
            optimizer.replace_candidates(np.zeros((3, 4)))
        assert fingerprint(optimizer) == before
