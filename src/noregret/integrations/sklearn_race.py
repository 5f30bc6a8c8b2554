"""Which configuration gets the next fit, on which fold: bounds decide."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret._types import Floats
from noregret.algorithms import TrustRegionUCB
from noregret.integrations.sklearn_spaces import Codec

#: ranks, as scikit-learn has them
Ranks = NDArray[np.int32]

#: this many configurations must have both of two folds before the difference is estimated
_FEWEST = 3
#: one in this many configurations, the best by the model's mean, may get more folds
_RIVALS = 4
#: one in this many new configurations is drawn at random, for the sake of exploration
_RANDOM = 4
#: a space of at most this many configurations is searched until none is left
_FEW = 4096
#: so many draws may give configurations that are known before the search gives up
_DRAWS = 100


@dataclass
class Race:
    """Configurations, their folds so far, and which of them gets the next fit.

    Attributes
    ----------
    codec
        The space.
    folds
        How many folds there are.
    seed
        Seed of the choices.
    error_score
        The score of a fit that failed.
    guide
        The name of the score that decides.
    points, scores
        The configurations, and for each its results by fold.
    fits
        How many fits were made.
    errors
        What went wrong in the fits that failed.
    """

    codec: Codec
    folds: int
    seed: int
    error_score: float
    guide: str = "score"
    points: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[int, dict[str, float]]] = field(default_factory=list)
    fits: int = 0
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._opt = TrustRegionUCB(
            self.codec.space, "auto", noise="auto", norm="auto", width=2.0, seed=self.seed
        )
        self._started: list[int] = []  # folds handed out, by configuration
        self._rng = np.random.default_rng(self.seed)
        self._every = self.codec.every(_FEW)

    def next(self, count: int, left: int) -> list[tuple[int, int]]:
        """What to fit next: configurations with their folds (at most ``count``).

        ``left`` fits remain in all. Nothing if no further fit can change which one wins.
        """
        wanted: list[tuple[int, int]] = []
        while len(wanted) < count:
            # Only configurations with all folds can win: in the end, none is started any more.
            ends = left <= self.folds
            config = self._unfinished(left) if ends else self._contender()
            if config is None and ends and self.folds in self._started:
                break
            if config is None:
                config = self._new()
            if config is None:
                config = self._unfinished(self.folds)
            if config is None:
                break
            wanted.append((config, self._started[config]))
            self._started[config] += 1
            left -= 1
        return wanted

    def _new(self) -> int | None:
        """A configuration to start with, as a rule a new one; ``None`` if none is left."""
        if self._every is not None and len(self.points) >= len(self._every):
            return None
        at_random = len(self.points) % _RANDOM == _RANDOM - 1
        point = None if at_random else self._asked()
        if point in self.points:
            known = self.points.index(point)
            if self._started[known] < self.folds:
                return known
            self._opt.cancel([point])
            point = None
        if point is None:
            point = self._drawn()
            if point is None:
                return None
            self._opt.expect([point])
        self.points.append(point)
        self.scores.append({})
        self._started.append(0)
        return len(self.points) - 1

    def _asked(self) -> dict[str, Any]:
        """The optimiser's choice, which is pending."""
        asked: dict[str, Any] = self._opt.ask(1).values[0]
        point = self.codec.canonical(asked)
        if point != asked:
            self._opt.cancel([asked])
            self._opt.expect([point])
        return point

    def _drawn(self) -> dict[str, Any] | None:
        """A random configuration that is not known yet; ``None`` if none was found."""
        if self._every is not None:
            unknown = [point for point in self._every if point not in self.points]
            return unknown[int(self._rng.integers(len(unknown)))]
        for _ in range(_DRAWS):
            _, drawn = self.codec.space.sample(1, self._rng)
            point = self.codec.canonical(self.codec.space.decode(drawn)[0])
            if point not in self.points:
                return point
        return None

    def _contender(self) -> int | None:
        """A configuration that earns another fold: one of the best whose bounds are not settled."""
        done = [i for i, scores in enumerate(self.scores) if scores]
        if not done or not self._opt.t:
            return None
        lower, mean, upper = self._bounds(done)
        order = np.argsort(-mean, kind="stable")
        for i in order[: len(done) // _RIVALS].tolist():
            config = int(done[i])
            if self._started[config] < self.folds and upper[i] >= lower.max():
                return config
        return None

    def _unfinished(self, left: int) -> int | None:
        """The best of the configurations that lack folds, but not more than ``left``."""
        able = [i for i, started in enumerate(self._started) if 0 < self.folds - started <= left]
        if not able or not self._opt.t:
            return able[0] if able else None
        return able[int(np.argmax(self._bounds(able)[1]))]

    def _bounds(self, configs: list[int]) -> tuple[Floats, Floats, Floats]:
        mean, std = self._opt.predict([self.points[i] for i in configs])
        return mean - 2.0 * std, mean, mean + 2.0 * std

    def tell(self, config: int, fold: int, result: dict[str, float]) -> None:
        """Take in the result of a fit; a score that is no number counts as a failure."""
        if not math.isfinite(result.get(f"test_{self.guide}", 0.0)):
            self.errors.append(f"the score is {result[f'test_{self.guide}']}")
        self.fits += 1
        self.scores[config][fold] = result
        score = self._score(result)
        if math.isfinite(score):
            self._opt.tell([self.points[config]], [score - self._offset(fold)])
        else:  # it counts as the worst score, so that it is not tried again
            known = [self._score(one) for each in self.scores for one in each.values()]
            worst = min((s for s in known if math.isfinite(s)), default=0.0)
            self._opt.tell([self.points[config]], [worst])

    def fail(self, config: int, fold: int, error: str) -> None:
        """Take in that a fit failed."""
        self.errors.append(error)
        self.tell(config, fold, {"fit_time": 0.0, "score_time": 0.0})

    def _score(self, result: dict[str, float]) -> float:
        """The score that decides."""
        return result.get(f"test_{self.guide}", self.error_score)

    def _offset(self, fold: int) -> float:
        """How much better scores are on a fold than on the first, over configurations with both."""
        pairs = [
            self._score(each[fold]) - self._score(each[0])
            for each in self.scores
            if fold in each and 0 in each
        ]
        pairs = [one for one in pairs if math.isfinite(one)]
        return float(np.mean(pairs)) if len(pairs) >= _FEWEST else 0.0

    def intervals(self) -> tuple[Floats, Floats, Floats]:
        """Lower bounds, estimates and upper bounds of the mean over all folds (n each)."""
        # The model predicts scores on the first fold.
        shift = float(np.mean([self._offset(fold) for fold in range(self.folds)]))
        lower, mean, upper = self._bounds(list(range(len(self.points))))
        return lower + shift, mean + shift, upper + shift

    def best(self) -> int:
        """The configuration with all folds, none of them failed, and the largest estimate."""
        return int(np.argmin(self.ranks()))

    def ranks(self) -> Ranks:
        """Ranks by the estimate (n), from 1 on; those with all folds come before the others."""
        _, estimate, _ = self.intervals()
        whole = np.isfinite(self.table(f"test_{self.guide}").sum(axis=1))
        return ranks(np.where(whole, estimate - estimate.min() + 1.0, estimate - estimate.max()))

    def summary(self) -> str:
        """One line on how far the search is."""
        _, mean, _ = self._bounds(list(range(len(self.points))))
        return f"{len(self.points)} configurations, best estimate {mean.max():.5g}"

    def table(self, name: str) -> Floats:
        """A number by configuration and fold (n × folds), NaN if there was no fit."""
        table = np.full((len(self.scores), self.folds), np.nan)
        for row, each in zip(table, self.scores, strict=True):
            for fold, result in each.items():
                row[fold] = result.get(name, self.error_score)
        return table


def ranks(values: Floats) -> Ranks:
    """Ranks from 1 on, the largest value first (n)."""
    return np.array([1 + np.count_nonzero(values > one) for one in values], dtype=np.int32)
