"""What the suites for lists and boxes share: a problem of two variables, and common tests."""

import inspect
import io
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from noregret.algorithms import load
from noregret.kernels import RBF, Kernel
from noregret.optimizer import Optimizer
from noregret.results import Batch
from noregret.spaces import Domain
from noregret.testing import moves

#: runs that test bounds, rounds of each, and how many may fail with δ = 0.1: four or more fail
#: with probability 0.005
_RUNS, _ROUNDS, _MISSES = 8, 6, 3


@contextmanager
def refused(
    *words: str, by: tuple[type[Exception], ...] = (ValueError, TypeError)
) -> Iterator[None]:
    """The block must raise one of these errors, with one of the ``words`` in its message."""
    message = None
    try:
        yield
    except by as error:
        message = str(error)
    assert message is not None, f"nothing was refused; expected an error that names {words}"
    assert not words or any(word in message for word in words), (
        f"the error must name {' or '.join(words)}, it says: {message}"
    )


def reload(optimizer: Optimizer) -> Optimizer:
    """The optimiser, written to a file and read again."""
    file = io.BytesIO()
    optimizer.save(file)
    file.seek(0)
    functions = {name: v for name, v in optimizer.settings().items() if callable(v)}
    return load(file, algorithm=type(optimizer), **functions)


def fingerprint(optimizer: Optimizer) -> dict[str, bytes]:
    """Everything that is saved, to compare states."""
    file = io.BytesIO()
    optimizer.save(file)
    file.seek(0)
    with np.load(file) as archive:
        return {name: archive[name].tobytes() for name in archive.files}


def same_arrays(ones: Any, others: Any) -> None:
    """Two sequences of arrays must be equal, bit for bit."""
    for one, other in zip(ones, others, strict=True):
        np.testing.assert_array_equal(one, other)


def run_all(suite: "Suite") -> None:
    """Run every test of a suite; an error says which test it is from, and what that tests."""
    for name in dir(suite):
        if not name.startswith("test_"):
            continue
        test = getattr(suite, name)
        try:
            test()
        except Exception as error:
            error.add_note(f"{type(suite).__name__}.{name}: {inspect.getdoc(test)}")
            raise


class Suite(ABC):
    """A problem of two variables, and tests that lists and boxes both pass."""

    #: how many sequences of moves are played, and how many moves the longest one has
    examples, longest = 3, 10

    def make(self, domain: Any, kernel: Kernel | str, **options: Any) -> Optimizer:
        """The algorithm under test."""
        raise TypeError("say how to build the algorithm: override make(domain, kernel, **options)")

    @abstractmethod
    def domain(self) -> Domain:
        """What may be chosen."""

    @property
    @abstractmethod
    def probe(self) -> Any:
        """Choices at which predictions are compared, as ``predict`` takes them."""

    @property
    @abstractmethod
    def old_data(self) -> Any:
        """Choices that were evaluated before, one of them twice."""

    @property
    def kernel(self) -> Kernel:
        """The kernel that is given, if none is to be learnt."""
        return RBF(0.5)

    def build(
        self, seed: int | None = 0, kernel: Kernel | str | None = None, **options: Any
    ) -> Optimizer:
        """The algorithm on a smooth function of two variables; the suite's kernel if none is given.

        ``options`` replace the suite's own.
        """
        options = {"noise": 0.1, "norm": 2.0, "delta": 0.1, "lam": 0.1, "seed": seed, **options}
        return self.make(self.domain(), self.kernel if kernel is None else kernel, **options)

    def evaluate(self, batch: Batch, seed: int = 0) -> Any:
        """Noisy values of a batch, repeatable (n)."""
        noise = np.random.default_rng(seed).standard_normal(len(batch))
        return 0.4 * (np.sin(4 * batch.points[:, 0]) + batch.points[:, 1]) + 0.1 * noise

    def play(self, optimizer: Optimizer, rounds: int, first: int = 0) -> list[Any]:
        """Ask and tell; the points of every round."""
        asked = []
        for i in range(first, first + rounds):
            batch = optimizer.ask()
            asked.append(batch.points)
            optimizer.tell(batch, self.evaluate(batch, i))
        return asked

    # -- the same calls, the same answers ----------------------------------------------------

    def test_looks_and_files_change_nothing(self) -> None:
        """Any moves give the same batches, bit for bit, with looking and saving in between."""
        moves.check_looks(self, self.examples, self.longest)

    def test_same_seed_same_answers(self) -> None:
        """Two runs with one seed and the same rewards ask the same.

        NumPy's global generator is neither used nor changed. Without a seed one is drawn.
        """
        np.random.seed(1)  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
        first = self.play(self.build(seed=7), 4)
        np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002
        np.random.seed(2)  # noqa: NPY002
        same_arrays(first, self.play(self.build(seed=7), 4))
        drawn = self.build(seed=None)
        same_arrays([drawn.ask().points], [self.build(seed=drawn.seed).ask().points])

    def test_a_file_continues_bit_for_bit(self) -> None:
        """A run saved with a batch in flight goes on exactly as one that was never interrupted."""
        straight = self.build(seed=4)
        self.play(straight, 3)
        waiting = straight.ask()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.npz"
            straight.save(path)
            resumed = load(path, algorithm=type(straight))
        assert type(resumed) is type(straight)
        assert (resumed.t, resumed.pending, resumed.seed) == (straight.t, straight.pending, 4)
        for optimizer in (straight, resumed):
            optimizer.tell(waiting, self.evaluate(waiting))
        same_arrays(self.play(straight, 3, first=4), self.play(resumed, 3, first=4))
        same_arrays(straight.predict(self.probe), resumed.predict(self.probe))

    # -- bounds ------------------------------------------------------------------------------

    def test_proved_bounds_hold(self) -> None:
        """With a width that is called proved, values lie in their intervals, and gaps are true.

        The functions have exactly the norm that is given. A run may fail with probability δ. With
        learnt settings nothing is proved.
        """
        built = self.build()
        for width in () if built.learnt else built.parts().proved:
            wrong = [why for seed in range(_RUNS) if (why := self._miss(width, seed))]
            assert len(wrong) <= _MISSES, (
                f"parts().proved names the width {width!r}, but {len(wrong)} of {_RUNS} runs with "
                f"delta=0.1 contradict it, the first because {wrong[0]}"
            )

    def _miss(self, width: str, seed: int) -> str | None:
        """Play a run on a function whose norm is as given; how a bound fails, if one does."""
        optimizer, rng = self.build(width=width, seed=seed), np.random.default_rng(seed)
        kernel, domain = optimizer.assumed.kernel, optimizer.domain
        where = domain.locate(self.probe)[1]
        # A single centre makes a value as large as the norm allows.
        centres = where[-1:] if seed % 4 else domain.sample(4, rng)[1]
        weights = rng.standard_normal(len(centres))
        scale = 2.0 / np.sqrt(weights @ kernel(centres, centres) @ weights)

        def value(points: Any) -> Any:
            return scale * (kernel(points, centres) @ weights)

        for _ in range(_ROUNDS):
            batch = optimizer.ask()
            optimizer.tell(batch, value(batch.points) + 0.1 * rng.standard_normal(len(batch)))
            mean, std = optimizer.predict(self.probe, pending=False)
            misfit, allowed = np.abs(value(where) - mean), optimizer.beta * std
            if np.any(misfit > allowed + 1e-9):
                worst = int(np.argmax(misfit - allowed))
                return f"a value is {misfit[worst]:.3g} from the mean, β·std {allowed[worst]:.3g}"
        if any(event["event"] == "refuted" for event in optimizer.events):
            return "the rewards refuted assumptions that are true"
        best = optimizer.recommend()
        own = float(value(domain.locate([best.point] if best.id < 0 else [best.id])[1])[0])
        if not best.lower - 1e-9 <= own <= best.upper + 1e-9:
            return f"the best value is {own:.3g}, not in [{best.lower:.3g}, {best.upper:.3g}]"
        left = float(value(where).max()) - own if optimizer.proved else 0.0
        return f"the gap is {left:.3g}, not {best.gap:.3g}" if left > best.gap + 1e-9 else None

    # -- pending points and feedback ---------------------------------------------------------

    def test_pending_points_never_move_the_mean(self) -> None:
        """Asking changes no mean and raises no deviation; cancelling undoes it, once."""
        optimizer = self.build()
        self.play(optimizer, 3)
        mean, std = optimizer.predict(self.probe)
        batch = optimizer.ask(2)
        assert optimizer.pending == len(batch)
        after_mean, after_std = optimizer.predict(self.probe)
        np.testing.assert_array_equal(mean, after_mean)
        assert np.all(after_std <= std + 1e-9)
        optimizer.cancel(batch)
        assert optimizer.pending == 0
        np.testing.assert_allclose(optimizer.predict(self.probe), (mean, std), atol=1e-9)
        with refused("pending"):
            optimizer.cancel(batch)
        self.play(optimizer, 1)

    def test_several_batches_in_flight_partial_and_out_of_order(self) -> None:
        """Feedback may come late, in parts, in any order."""
        optimizer = self.build()
        self.play(optimizer, 2)
        told = optimizer.t
        flights = [optimizer.ask(3) for _ in range(3)]
        total = sum(len(batch) for batch in flights)
        assert optimizer.pending == total
        parts = [batch[i : i + 1] for batch in reversed(flights) for i in range(len(batch))]
        for part in parts[::2] + parts[1::2]:
            optimizer.tell(part, self.evaluate(part))
        assert optimizer.pending == 0
        assert optimizer.t == told + total
        self.play(optimizer, 2)

    def test_evaluations_nobody_asked_for(self) -> None:
        """Old data can be told at any time, repeated choices included."""
        optimizer, values = self.build(), np.array([0.1, 0.2, 0.3, 0.4])
        optimizer.tell(self.old_data, values)
        assert optimizer.t == 4
        self.play(optimizer, 2)
        optimizer.tell(self.old_data, values)
        self.play(optimizer, 1)
        history = optimizer.history
        np.testing.assert_array_equal(history.rewards[:4], values)
        _, points = optimizer.domain.locate(self.old_data)
        np.testing.assert_array_equal(history.points[:4], points)

    def test_ask_n(self) -> None:
        """``ask(n)`` gives n or, where the batch rule decides, at most n; filled up exactly n."""
        optimizer = self.build()
        for n in (1, 4):
            batch = optimizer.ask(n)
            assert 1 <= len(batch) <= n
            assert optimizer.adaptive or len(batch) == n
            optimizer.tell(batch, self.evaluate(batch))
            full = optimizer.ask(n, fill=True)
            assert len(full) == n
            optimizer.tell(full, self.evaluate(full))
        with refused("n must be given"):
            optimizer.ask(fill=True)

    def test_predictions_and_recommendations(self) -> None:
        """Means, deviations and intervals are there before and after the first reward."""
        optimizer = self.build()
        with refused("points"):
            optimizer.predict()
        for rounds in (0, 3):
            self.play(optimizer, rounds)
            mean, std = optimizer.predict(self.probe)
            assert mean.shape == std.shape == (len(self.probe),)
            assert np.all(np.isfinite(mean) & np.isfinite(std) & (std >= 0))
            for best in (optimizer.recommend(), *optimizer.top(3)):
                assert best.id == -1
                _, points = optimizer.domain.locate([best.point])
                assert points.shape == (1, optimizer.domain.dimension)
                assert best.lower <= best.mean <= best.upper
                assert best.gap >= 0
            assert optimizer.alive is None

    # -- settings ----------------------------------------------------------------------------

    def test_settings_are_frozen_and_replaced(self) -> None:
        """Assigning raises; ``replace`` makes a new optimiser that is told the same."""
        optimizer = self.build()
        assert "__dataclass_params__" in vars(type(optimizer)), (
            f"{type(optimizer).__name__} must be a dataclass of its own, so that its settings are "
            "frozen: write @dataclass(frozen=True, kw_only=True, eq=False, repr=False) above it"
        )
        self.play(optimizer, 3)
        optimizer.ask(2)
        for name in ("width", "delta", "norm", "t", "anything"):
            with refused(name, by=(AttributeError,)):
                setattr(optimizer, name, 0.5)
        before = fingerprint(optimizer)
        made = optimizer.replace(delta=0.05)
        assert (optimizer.delta, made.delta) == (0.1, 0.05)
        assert (made.t, made.pending) == (optimizer.t, optimizer.pending)
        same_arrays(
            (optimizer.history.points, optimizer.history.rewards),
            (made.history.points, made.history.rewards),
        )
        assert fingerprint(optimizer) == before
        made.ask()

    def test_a_width_of_your_own(self) -> None:
        """A function of the evidence is the width in use, as a number would be."""
        seen = []

        def width(evidence: Any) -> float:
            seen.append((evidence.t, evidence.lam, evidence.noise, evidence.delta))
            return 1.5

        own, number = self.build(width=width), self.build(width=1.5)
        for optimizer in (own, number):
            optimizer.tell(self.old_data, [0.1, 0.2, 0.3, 0.4])
            np.testing.assert_allclose(optimizer.beta, 1.5)
        same_arrays([own.ask().points], [number.ask().points])
        assert max(t for t, *_ in seen) >= 1

    def test_an_override_without_effect_is_refused(self) -> None:
        """An algorithm is defined by its parts; other methods cannot be overridden."""
        cls = type(self.build())
        for name in ("beta", "beliefs", "ask", "tell", "predict", "recommend"):
            for member in (lambda self: None, property(lambda self: None), 2.0):
                with refused(name, by=(TypeError,)):
                    type("Mine", (cls,), {name: member})
                with refused(name, by=(TypeError,)):
                    type("Mine", (type("Mixin", (), {name: member}), cls), {})

    def test_bad_options_are_refused_by_name(self) -> None:
        """The error names the option."""
        bad: list[tuple[str, Any]] = [
            ("noise", -1.0),
            ("noise", float("nan")),
            ("norm", 0.0),
            ("delta", 0.0),
            ("delta", 1.0),
            ("lam", 0.0),
            ("lam", -1.0),
            ("seed", -1),
            ("seed", "one"),
            ("width", "no such width"),
            ("width", -1.0),
            ("repeats", 0),
            ("repeats", 1.5),
            ("aim", 0),
        ]
        for name, value in bad:
            with refused(name):
                self.build(**{name: value})

    def test_everything_public_is_documented(self) -> None:
        """The class and its public methods have docstrings."""
        cls = type(self.build())
        assert inspect.getdoc(cls), f"{cls.__name__} must have a docstring"
        for name, member in inspect.getmembers(cls):
            if not name.startswith("_") and callable(member):
                assert inspect.getdoc(member), f"{cls.__name__}.{name} must have a docstring"
