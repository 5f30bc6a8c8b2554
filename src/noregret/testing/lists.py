"""What users may rely on, whatever the algorithm, on a list of candidates."""

from typing import Any

import numpy as np

from noregret.spaces import Candidates
from noregret.testing import moves
from noregret.testing.suite import Suite, fingerprint, refused, reload, same_arrays


class AlgorithmSuite(Suite):
    """What users may rely on, whatever the algorithm, on a list of candidates."""

    #: candidates in the list that the tests use
    size = 24

    def domain(self) -> Candidates:
        """A list of points in the unit square."""
        return Candidates(np.random.default_rng(12345).uniform(size=(self.size, 2)))

    @property
    def probe(self) -> Any:
        """Some ids, one of them twice."""
        return np.array([3, 1, 3, 22, 17])

    @property
    def old_data(self) -> Any:
        """Ids, one of them twice."""
        return np.array([0, 5, 5, 9])

    def test_batches_have_ids_and_points(self) -> None:
        """Batches name rows of the list."""
        optimizer = self.build()
        for i in range(5):
            batch = optimizer.ask()
            assert len(batch) == len(batch.ids) == len(batch.points) >= 1
            assert batch.ids.dtype.kind == "i"
            assert np.all((batch.ids >= 0) & (batch.ids < self.size))
            np.testing.assert_array_equal(batch.points, optimizer.domain.points[batch.ids])
            optimizer.tell(batch, self.evaluate(batch, i))
        assert optimizer.t == len(optimizer.history)

    def test_predictions_and_recommendations(self) -> None:
        """Means, deviations and intervals are there before and after the first reward."""
        optimizer = self.build()
        for rounds in (0, 3):
            self.play(optimizer, rounds)
            mean, std = optimizer.predict()
            assert mean.shape == std.shape == (self.size,)
            assert np.all(np.isfinite(mean))
            assert np.all(np.isfinite(std) & (std >= 0))
            some_mean, some_std = optimizer.predict(self.probe)
            np.testing.assert_allclose(some_mean, mean[self.probe], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(some_std, std[self.probe], rtol=1e-9, atol=1e-12)
            for best in (optimizer.recommend(), *optimizer.top(3)):
                assert 0 <= best.id < self.size
                assert best.lower <= best.mean <= best.upper
                assert best.gap >= 0
            assert optimizer.beta >= 0
            assert optimizer.alive is None or 1 <= optimizer.alive <= self.size

    def test_parts_add_up_to_the_whole(self) -> None:
        """A batch told in parts gives the predictions of one told at once."""
        one, two = self.build(), self.build()
        self.play(one, 2)
        self.play(two, 2)
        batch, same = one.ask(6), two.ask(6)
        values = self.evaluate(batch)
        one.tell(batch, values)
        for i in reversed(range(len(same))):
            two.tell(same[i : i + 1], values[i : i + 1])
        np.testing.assert_allclose(one.predict(), two.predict(), rtol=1e-6, atol=1e-6)

    def test_the_list_can_be_replaced(self) -> None:
        """History stays, ids mean the new list, old batches can still be told."""
        optimizer = self.build()
        self.play(optimizer, 3)
        late = optimizer.ask()
        told, rewards = optimizer.t, optimizer.history.rewards
        fresh = np.random.default_rng(99).uniform(size=(self.size + 5, 2))
        optimizer.replace_candidates(fresh)
        assert len(optimizer.predict()[0]) == self.size + 5
        optimizer.tell(late, self.evaluate(late))
        assert optimizer.t == told + len(late)
        np.testing.assert_array_equal(optimizer.history.rewards[:told], rewards)
        assert np.all(optimizer.history.ids == -1)
        assert optimizer.events[-1]["event"] == "list replaced"
        for i in range(2):
            batch = optimizer.ask()
            np.testing.assert_array_equal(batch.points, fresh[batch.ids])
            optimizer.tell(batch, self.evaluate(batch, i))

    def test_a_plate_holds_no_candidate_twice(self) -> None:
        """A full batch holds different candidates, also after saving and loading."""
        optimizer = self.build()
        for i in range(3):
            plate = optimizer.ask(12, fill=True)
            assert len(set(plate.ids.tolist())) == len(plate) == 12
            optimizer.tell(plate, self.evaluate(plate, i))
        straight, resumed = optimizer, reload(optimizer)
        same_arrays([straight.ask(9, fill=True).ids], [resumed.ask(9, fill=True).ids])

    def test_a_long_plate_repeats_candidates_evenly(self) -> None:
        """If the list is shorter than the plate, all candidates come equally often."""
        counts = np.bincount(self.build().ask(2 * self.size + 1, fill=True).ids)
        assert counts.max() <= 3

    def test_no_candidate_is_evaluated_more_often_than_repeats(self) -> None:
        """Told and pending evaluations count, cancelled ones do not; the last batch is empty.

        Looking, saving and loading in between change nothing.
        """
        repeats, start = 2, [4, 4, 7]
        plain, looked = self.build(repeats=repeats), self.build(repeats=repeats)
        for optimizer in (plain, looked):
            optimizer.tell(start, np.full(len(start), 0.3))
        counts = np.bincount(start, minlength=self.size)
        for i in range(3 * repeats * self.size):
            moves.look(self, looked, i)
            if i == 5:
                looked = reload(looked)
            batch, same = plain.ask(1 + i % 4), looked.ask(1 + i % 4)
            same_arrays([batch.ids, batch.points], [same.ids, same.points])
            if plain.exhausted and not len(batch):
                break
            if i % 5 == 3:
                plain.cancel(batch)
                looked.cancel(same)
                continue
            np.add.at(counts, batch.ids, 1)
            assert counts.max() <= repeats
            plain.tell(batch, self.evaluate(batch, i))
            looked.tell(same, self.evaluate(batch, i))
        assert np.all(counts == repeats)
        assert looked.exhausted
        before = fingerprint(plain)
        assert len(plain.ask(5, fill=True)) == len(plain.ask()) == 0
        assert fingerprint(plain) == before == fingerprint(looked)

    def test_candidates_set_aside_are_not_asked_for(self) -> None:
        """They come neither alone nor on plates, also after loading; once brought back, they do."""
        optimizer = self.build()
        self.play(optimizer, 2)
        kept = np.arange(0, self.size, 6)
        optimizer.set_aside(np.setdiff1d(np.arange(self.size), kept))
        optimizer = reload(optimizer)
        assert len(optimizer.aside) == self.size - len(kept)
        for i in range(6):
            batch = optimizer.ask(len(kept), fill=i % 2 == 0)
            assert len(batch)
            assert np.isin(batch.ids, kept).all()
            optimizer.tell(batch, self.evaluate(batch, i))
        optimizer.set_aside(kept)
        assert optimizer.exhausted
        assert not len(optimizer.ask(3))
        optimizer.bring_back([3, 4])
        assert set(optimizer.ask(4, fill=True).ids.tolist()) == {3, 4}

    def test_the_list_can_grow(self) -> None:
        """Old ids keep their meaning and their values, and old batches can still be told."""
        optimizer = self.build(repeats=2)
        self.play(optimizer, 3)
        late = optimizer.ask()
        before, told = optimizer.predict(pending=False), optimizer.t
        fresh = np.random.default_rng(98).uniform(size=(7, 2))
        optimizer.add_candidates(fresh)
        for wrong in (np.zeros((0, 2)), np.full((3, 2), np.nan), np.zeros((3, 5))):
            with refused("candidates"):
                optimizer.add_candidates(wrong)
        after = optimizer.predict(pending=False)
        assert len(after[0]) == self.size + 7
        same_arrays(before, (values[: self.size] for values in after))
        np.testing.assert_array_equal(optimizer.domain.points[self.size :], fresh)
        assert optimizer.events[-1]["event"] == "candidates added"
        optimizer.tell(late, self.evaluate(late))
        assert optimizer.t == told + len(late)
        resumed = reload(optimizer)
        seen: list[int] = []
        for i in range(3):
            batch, same = optimizer.ask(self.size, fill=True), resumed.ask(self.size, fill=True)
            same_arrays([batch.ids], [same.ids])
            for one in (optimizer, resumed):
                one.tell(batch, self.evaluate(batch, i))
            seen += batch.ids.tolist()
        assert set(range(self.size, self.size + 7)) <= set(seen)

    def test_the_best_few(self) -> None:
        """``top`` has counts and means of what was measured; ``top_gap`` falls to 0 at the end.

        With ``repeats=1`` every candidate is measured exactly once.
        """
        optimizer = self.build(repeats=1)
        while not optimizer.exhausted:
            plate = optimizer.ask(10, fill=True)
            optimizer.tell(plate, self.evaluate(plate))
        found, history = optimizer.top(3), optimizer.history
        assert sorted(history.ids.tolist()) == list(range(self.size))
        assert len({one.id for one in found}) == 3
        for one in found:
            assert one.evaluations == 1
            assert one.measured == history.rewards[history.ids == one.id][0]
        assert optimizer.top_gap(3) >= 0.0
        assert optimizer.top_gap(self.size) == 0.0
        assert self.build().top_gap(2) == np.inf

    def test_the_aim_is_followed_or_refused(self) -> None:
        """An algorithm picks for the best few, bit for bit the same when resumed, or says no."""
        if not self.build().chooser.follows_aim:
            with refused("aim"):
                self.build(aim=3)
            return
        optimizer = self.build(aim=3, repeats=2)
        while not optimizer.exhausted:
            resumed = reload(optimizer)
            plate, same = optimizer.ask(10, fill=True), resumed.ask(10, fill=True)
            same_arrays([plate.ids], [same.ids])
            optimizer.tell(plate, self.evaluate(plate))
        assert set(optimizer.counts(np.arange(self.size)).tolist()) == {2}
        assert optimizer.top_gap() == optimizer.top_gap(3)

    def test_bad_input_is_refused_and_changes_nothing(self) -> None:
        """Each mistake is an error that names the argument, and the state is untouched."""
        optimizer = self.build()
        self.play(optimizer, 2)
        batch = optimizer.ask()
        good = self.evaluate(batch)
        before = fingerprint(optimizer)
        bad_values: list[Any] = [
            np.full(len(batch), np.nan),
            np.full(len(batch), np.inf),
            np.append(good, 1.0),
            ["high"] * len(batch),
        ]
        for values in bad_values:
            with refused("rewards"):
                optimizer.tell(batch, values)
        for ids in ([-1], [self.size], [0.5], ["a"], [[0, 1]]):
            calls = (optimizer.predict, optimizer.expect, optimizer.cancel, optimizer.counts)
            for call in (*calls, optimizer.set_aside, optimizer.bring_back):
                with refused("ids"):
                    call(ids)
            with refused("ids"):
                optimizer.tell(ids, np.zeros(np.size(ids)))
        for n in (0, -1, 1.5, "many"):
            with refused("n must be"):
                optimizer.ask(n)  # type: ignore[arg-type]
            with refused("k must be"):
                optimizer.top(n)  # type: ignore[arg-type]
        for candidates in (np.zeros((0, 2)), np.full((3, 2), np.nan), np.zeros((3, 5))):
            with refused("candidates"):
                optimizer.replace_candidates(candidates)
        with refused("delta"):
            optimizer.replace(delta=2.0)
        assert fingerprint(optimizer) == before
        optimizer.tell(batch, good)
