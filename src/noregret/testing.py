"""Suites that every algorithm passes; run them on your own by subclassing in a test module.

>>> class TestMine(AlgorithmSuite):
...     def make(self, domain, kernel, **options):
...         return MyAlgorithm(domain, kernel, **options)

Needs pytest. ``options`` are those of :class:`~noregret.Optimizer`: ``noise``, ``norm``, ``delta``,
``lam`` and ``seed``. :class:`AlgorithmSuite` plays on a list, :class:`BoxSuite` on a box.
"""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noregret.algorithms.base import Optimizer
from noregret.kernels import RBF, Kernel
from noregret.results import Batch
from noregret.spaces import Box, Candidates
from noregret.state import load


class _Suite:
    """What both suites need: a problem of two variables."""

    def make(self, domain: Any, kernel: Kernel, **options: Any) -> Optimizer:
        """The algorithm under test."""
        raise TypeError("say how to build the algorithm: override make(domain, kernel, **options)")

    def build(self, seed: int = 0, **options: Any) -> Optimizer:
        """The algorithm on a smooth function of two variables."""
        options = {"noise": 0.1, "norm": 2.0, "delta": 0.1, "lam": 0.1, "seed": seed, **options}
        return self.make(self.domain(), RBF(0.5), **options)  # type: ignore[attr-defined]

    def evaluate(self, batch: Batch, seed: int = 0) -> Any:
        """Noisy values of a batch, repeatable (n)."""
        noise = np.random.default_rng(seed).standard_normal(len(batch))
        return np.sin(4 * batch.points[:, 0]) + batch.points[:, 1] + 0.1 * noise

    def play(self, optimizer: Optimizer, rounds: int, first: int = 0) -> list[Any]:
        """Ask and tell; the points of every round."""
        asked = []
        for i in range(first, first + rounds):
            batch = optimizer.ask()
            asked.append(batch.points)
            optimizer.tell(batch, self.evaluate(batch, i))
        return asked

    def fingerprint(self, optimizer: Optimizer, folder: Path) -> dict[str, bytes]:
        """Everything that is saved, to compare states."""
        path = folder / "fingerprint.npz"
        optimizer.save(path)
        with np.load(path) as archive:
            return {name: archive[name].tobytes() for name in archive.files}


class AlgorithmSuite(_Suite):
    """What users may rely on, whatever the algorithm, on a list of candidates."""

    #: candidates in the list that the tests use
    size = 40

    def domain(self) -> Candidates | Box:
        """A list of points in the unit square."""
        return Candidates(np.random.default_rng(12345).uniform(size=(self.size, 2)))

    def test_batches_have_ids_and_points(self) -> None:
        """Batches name rows of the list."""
        optimizer = self.build()
        for i in range(5):
            batch = optimizer.ask()
            assert len(batch) == len(batch.ids) == len(batch.points) >= 1
            assert batch.ids.dtype.kind == "i"
            assert np.all((batch.ids >= 0) & (batch.ids < self.size))
            np.testing.assert_array_equal(batch.points, optimizer.domain.points[batch.ids])  # type: ignore[union-attr]
            optimizer.tell(batch, self.evaluate(batch, i))
        assert optimizer.t == len(optimizer.history)

    def test_ask_n_gives_at_most_n(self) -> None:
        """``ask(n)`` never gives more than n, and at least one."""
        optimizer = self.build()
        for n in (1, 2, 7):
            batch = optimizer.ask(n)
            assert 1 <= len(batch) <= n
            optimizer.tell(batch, self.evaluate(batch))

    def test_predictions_and_recommendations_have_their_shapes(self) -> None:
        """Means, deviations and intervals are there before and after the first reward."""
        optimizer = self.build()
        for rounds in (0, 3):
            self.play(optimizer, rounds)
            mean, std = optimizer.predict()
            assert mean.shape == std.shape == (self.size,)
            assert np.all(np.isfinite(mean))
            assert np.all(np.isfinite(std) & (std >= 0))
            some_mean, some_std = optimizer.predict([3, 1, 3])
            np.testing.assert_allclose(some_mean, mean[[3, 1, 3]], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(some_std, std[[3, 1, 3]], rtol=1e-9, atol=1e-12)
            best = optimizer.recommend()
            assert 0 <= best.id < self.size
            assert best.lower <= best.mean <= best.upper
            assert best.gap >= 0
            assert optimizer.beta >= 0

    def test_same_seed_same_answers(self) -> None:
        """Two optimisers with one seed and the same rewards ask the same."""
        one, two = self.build(seed=7), self.build(seed=7)
        for a, b in zip(self.play(one, 6), self.play(two, 6), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_no_global_random_state(self) -> None:
        """NumPy's global generator is neither used nor changed."""
        np.random.seed(1)  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
        first = self.play(self.build(seed=3), 3)
        np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002
        np.random.seed(2)  # noqa: NPY002
        for a, b in zip(first, self.play(self.build(seed=3), 3), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_a_seed_is_always_there(self) -> None:
        """Without a seed one is drawn, and repeats the run."""
        optimizer = self.build(seed=None)  # type: ignore[arg-type]
        again = self.build(seed=optimizer.seed)
        for a, b in zip(self.play(optimizer, 3), self.play(again, 3), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_pending_points_never_move_the_mean(self) -> None:
        """Asking changes no mean and raises no deviation."""
        optimizer = self.build()
        self.play(optimizer, 3)
        mean, std = optimizer.predict()
        batch = optimizer.ask()
        assert optimizer.pending == len(batch)
        after_mean, after_std = optimizer.predict()
        np.testing.assert_array_equal(mean, after_mean)
        assert np.all(after_std <= std + 1e-9)

    def test_several_batches_in_flight_partial_and_out_of_order(self) -> None:
        """Feedback may come late, in parts, in any order."""
        optimizer = self.build()
        self.play(optimizer, 2)
        told = optimizer.t
        flights = [optimizer.ask(4) for _ in range(3)]
        total = sum(len(batch) for batch in flights)
        assert optimizer.pending == total
        parts = [batch[i : i + 1] for batch in reversed(flights) for i in range(len(batch))]
        for part in parts[::2] + parts[1::2]:
            optimizer.tell(part, self.evaluate(part))
        assert optimizer.pending == 0
        assert optimizer.t == told + total
        self.play(optimizer, 2)

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

    def test_evaluations_nobody_asked_for(self) -> None:
        """Old data can be told at any time, repeated ids included."""
        optimizer = self.build()
        ids = np.array([0, 5, 5, 9])
        optimizer.tell(ids, [0.1, 0.2, 0.3, 0.4])
        assert optimizer.t == 4
        self.play(optimizer, 2)
        optimizer.tell(ids, [0.1, 0.2, 0.3, 0.4])
        self.play(optimizer, 2)
        np.testing.assert_array_equal(optimizer.history.ids[:4], ids)
        np.testing.assert_array_equal(optimizer.history.rewards[:4], [0.1, 0.2, 0.3, 0.4])

    def test_cancelled_points_are_pending_no_longer(self) -> None:
        """A point that will never be told can be taken back, once."""
        optimizer = self.build()
        self.play(optimizer, 2)
        before = optimizer.predict()
        batch = optimizer.ask()
        optimizer.cancel(batch)
        assert optimizer.pending == 0
        np.testing.assert_allclose(optimizer.predict(), before, rtol=1e-9, atol=1e-12)
        with pytest.raises(ValueError, match="pending"):
            optimizer.cancel(batch)
        self.play(optimizer, 1)

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
        for i in range(2):
            batch = optimizer.ask()
            np.testing.assert_array_equal(batch.points, fresh[batch.ids])
            optimizer.tell(batch, self.evaluate(batch, i))

    @pytest.mark.parametrize("rounds", [0, 1, 4])
    @pytest.mark.parametrize("in_flight", [False, True])
    def test_save_and_load_continue_bit_for_bit(
        self, rounds: int, in_flight: bool, tmp_path: Path
    ) -> None:
        """At any point, a loaded run goes on exactly as one that was never interrupted."""
        straight, stopped = self.build(seed=4), self.build(seed=4)
        self.play(straight, rounds)
        self.play(stopped, rounds)
        waiting = [o.ask() for o in (straight, stopped)] if in_flight else []
        stopped.save(tmp_path / "run.npz")
        resumed = load(tmp_path / "run.npz")
        assert type(resumed) is type(stopped)
        assert (resumed.t, resumed.pending, resumed.seed) == (stopped.t, stopped.pending, 4)
        for optimizer, batch in zip((straight, resumed), waiting, strict=False):
            optimizer.tell(batch, self.evaluate(batch))
        ahead, again = self.play(straight, 4, first=rounds), self.play(resumed, 4, first=rounds)
        for a, b in zip(ahead, again, strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(straight.predict(), resumed.predict(), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_bad_input_is_refused_and_changes_nothing(self, tmp_path: Path) -> None:
        """Each mistake is a ValueError or TypeError, and the state is untouched."""
        optimizer = self.build()
        self.play(optimizer, 2)
        batch = optimizer.ask()
        good = self.evaluate(batch)
        before = self.fingerprint(optimizer, tmp_path)
        bad_values = [
            np.full(len(batch), np.nan),
            np.full(len(batch), np.inf),
            np.append(good, 1.0),
            ["high"] * len(batch),
        ]
        for values in bad_values:
            with pytest.raises((ValueError, TypeError)):
                optimizer.tell(batch, values)
        for ids in ([-1], [self.size], [0.5], ["a"], [[0, 1]]):
            with pytest.raises((ValueError, TypeError)):
                optimizer.tell(ids, np.zeros(np.size(ids)))
            with pytest.raises((ValueError, TypeError)):
                optimizer.predict(ids)
        for n in (0, -1, 1.5, "many"):
            with pytest.raises((ValueError, TypeError)):
                optimizer.ask(n)  # type: ignore[arg-type]
        for candidates in (np.zeros((0, 2)), np.full((3, 2), np.nan), np.zeros((3, 5))):
            with pytest.raises((ValueError, TypeError)):
                optimizer.replace_candidates(candidates)
        assert self.fingerprint(optimizer, tmp_path) == before
        optimizer.tell(batch, good)

    @pytest.mark.parametrize(
        "options",
        [
            {"noise": -1.0},
            {"noise": float("nan")},
            {"norm": 0.0},
            {"delta": 0.0},
            {"delta": 1.0},
            {"lam": 0.0},
            {"lam": -1.0},
            {"seed": -1},
            {"seed": "one"},
        ],
    )
    def test_bad_options_are_refused_by_name(self, options: dict[str, Any]) -> None:
        """The error names the option."""
        (name,) = options
        with pytest.raises((ValueError, TypeError), match=name):
            self.build(**options)

    def test_everything_public_is_documented(self) -> None:
        """The class and its public methods have docstrings."""
        cls = type(self.build())
        assert inspect.getdoc(cls)
        for name, member in inspect.getmembers(cls):
            if not name.startswith("_") and callable(member):
                assert inspect.getdoc(member), name


class BoxSuite(_Suite):
    """What users may rely on, whatever the algorithm, on a box."""

    #: points that predictions are compared at
    probe = np.random.default_rng(5).uniform(size=(7, 2))

    def domain(self) -> Candidates | Box:
        """The unit square."""
        return Box([(0, 1), (0, 1)])

    def test_batches_are_points_of_the_box(self) -> None:
        """Points lie inside; ids are −1; ``ask(n)`` gives at most n."""
        optimizer = self.build()
        for i, n in enumerate((1, 3, None, 2)):
            batch = optimizer.ask(n)
            assert 1 <= len(batch) <= (n or len(batch))
            assert batch.points.shape == (len(batch), 2)
            assert np.all((batch.points >= 0) & (batch.points <= 1))
            assert np.all(batch.ids == -1)
            optimizer.tell(batch, self.evaluate(batch, i))
        assert optimizer.t == len(optimizer.history)

    def test_predictions_and_recommendations(self) -> None:
        """Means, deviations and intervals are there before and after the first reward."""
        optimizer = self.build()
        with pytest.raises(ValueError, match="points"):
            optimizer.predict()
        for rounds in (0, 3):
            self.play(optimizer, rounds)
            mean, std = optimizer.predict(self.probe)
            assert mean.shape == std.shape == (7,)
            assert np.all(np.isfinite(mean) & np.isfinite(std) & (std >= 0))
            best = optimizer.recommend()
            assert best.id == -1
            assert best.point.shape == (2,)
            assert np.all((best.point >= 0) & (best.point <= 1))
            assert best.lower <= best.mean <= best.upper
            assert best.gap >= 0

    def test_pending_points_never_move_the_mean(self) -> None:
        """Asking changes no mean and raises no deviation; cancelling undoes it."""
        optimizer = self.build()
        self.play(optimizer, 3)
        mean, std = optimizer.predict(self.probe)
        batch = optimizer.ask(2)
        after_mean, after_std = optimizer.predict(self.probe)
        np.testing.assert_array_equal(mean, after_mean)
        assert np.all(after_std <= std + 1e-9)
        optimizer.cancel(batch)
        assert optimizer.pending == 0
        np.testing.assert_allclose(optimizer.predict(self.probe), (mean, std), atol=1e-9)

    def test_feedback_in_any_order_and_unasked(self) -> None:
        """Several batches in flight, told in parts; old data at any time."""
        optimizer = self.build()
        optimizer.tell([[0.2, 0.3], [0.2, 0.3]], [0.1, 0.2])
        self.play(optimizer, 2)
        told = optimizer.t
        flights = [optimizer.ask(3) for _ in range(3)]
        parts = [batch[i : i + 1] for batch in reversed(flights) for i in range(len(batch))]
        for part in parts[::2] + parts[1::2]:
            optimizer.tell(part, self.evaluate(part))
        assert optimizer.pending == 0
        assert optimizer.t == told + len(parts)

    def test_same_seed_same_answers_whatever_is_recommended(self) -> None:
        """Asking for a recommendation does not change the run."""
        one, two = self.build(seed=7), self.build(seed=7)
        for i in range(4):
            (a,), (b,) = self.play(one, 1, first=i), self.play(two, 1, first=i)
            np.testing.assert_array_equal(a, b)
            one.predict(self.probe)  # some algorithms take in rewards only when they are looked at
            two.recommend()

    @pytest.mark.parametrize("in_flight", [False, True])
    def test_save_and_load_continue_bit_for_bit(self, in_flight: bool, tmp_path: Path) -> None:
        """A loaded run goes on exactly as one that was never interrupted."""
        straight, stopped = self.build(seed=4), self.build(seed=4)
        self.play(straight, 4)
        self.play(stopped, 4)
        waiting = [o.ask() for o in (straight, stopped)] if in_flight else []
        stopped.save(tmp_path / "run.npz")
        resumed = load(tmp_path / "run.npz")
        for optimizer, batch in zip((straight, resumed), waiting, strict=False):
            optimizer.tell(batch, self.evaluate(batch))
        ahead, again = self.play(straight, 3, first=4), self.play(resumed, 3, first=4)
        for a, b in zip(ahead, again, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(straight.predict(self.probe), resumed.predict(self.probe))

    def test_bad_input_is_refused_and_changes_nothing(self, tmp_path: Path) -> None:
        """Points outside, of the wrong length or not finite, and bad rewards."""
        optimizer = self.build()
        self.play(optimizer, 2)
        before = self.fingerprint(optimizer, tmp_path)
        for points in ([[0.5, 1.5]], [[0.5]], [[0.5, np.nan]], "ab", [[-0.1, 0.5]]):
            with pytest.raises((ValueError, TypeError)):
                optimizer.tell(points, [0.0])
            with pytest.raises((ValueError, TypeError)):
                optimizer.predict(points)
        for rewards in ([np.nan], [0.0, 1.0], ["high"]):
            with pytest.raises((ValueError, TypeError)):
                optimizer.tell([[0.5, 0.5]], rewards)
        with pytest.raises(TypeError, match="box"):
            optimizer.replace_candidates(np.zeros((3, 2)))
        assert self.fingerprint(optimizer, tmp_path) == before
