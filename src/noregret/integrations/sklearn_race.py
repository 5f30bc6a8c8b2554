"""Which configuration gets the next fit, on which fold: bounds decide."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret._types import Floats
from noregret.algorithms import TrustRegionUCB
from noregret.integrations.sklearn_space import Codec

#: this many configurations must have both of two folds before the difference is estimated
_FEWEST = 3
#: one in this many configurations, the best by the model's mean, may get more folds
_RIVALS = 4
#: one in this many new configurations is drawn at random, for the sake of exploration
_RANDOM = 4


@dataclass
class Race:
    """Configurations, their folds so far, and which of them gets the next fit."""

    codec: Codec
    folds: int
    seed: int
    points: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[int, dict[str, float]]] = field(default_factory=list)
    fits: int = 0
    works: bool = False  # whether any fit has succeeded

    def __post_init__(self) -> None:
        self._opt = TrustRegionUCB(
            self.codec.space, "auto", noise="auto", norm="auto", width=2.0, seed=self.seed
        )
        self._started: list[int] = []  # folds handed out, by configuration
        self._rng = np.random.default_rng(self.seed)

    def next(self, count: int, left: int) -> list[tuple[int, int]]:
        """What to fit next: configurations with their folds (at most ``count``)."""
        wanted: list[tuple[int, int]] = []
        while len(wanted) < count:
            contender = self._contender(final=left - len(wanted) <= self.folds)
            if contender is None:
                contender = self._new()
            wanted.append((contender, self._started[contender]))
            self._started[contender] += 1
        return wanted

    def _new(self) -> int:
        """A configuration to start with, as a rule a new one."""
        if len(self.points) % _RANDOM == _RANDOM - 1:
            _, drawn = self.codec.space.sample(1, self._rng)
            self._opt.expect(drawn)
            point = self.codec.space.decode(drawn)[0]
        else:
            point = self._opt.ask(1).values[0]
        if point in self.points and self._started[self.points.index(point)] < self.folds:
            return self.points.index(point)
        self.points.append(point)
        self.scores.append({})
        self._started.append(0)
        return len(self.points) - 1

    def _contender(self, final: bool) -> int | None:
        """A configuration that earns another fold: the best one at the end, else a rival."""
        done = [i for i, scores in enumerate(self.scores) if scores]
        if not done or not self._opt.t:
            return None
        lower, mean, upper = self._bounds(done)
        order = np.argsort(-(lower if final else mean), kind="stable")
        most = 1 if final else len(done) // _RIVALS
        for i in order[:most].tolist():
            config = int(done[i])
            if self._started[config] < self.folds and upper[i] >= lower.max():
                return config
        return None

    def _bounds(self, configs: list[int]) -> tuple[Floats, Floats, Floats]:
        mean, std = self._opt.predict([self.points[i] for i in configs])
        return mean - 2.0 * std, mean, mean + 2.0 * std

    def tell(self, config: int, fold: int, result: dict[str, float]) -> None:
        """Take in the result of a fit."""
        self.fits += 1
        self.scores[config][fold] = result
        score = result["test_score"]
        if math.isfinite(score):
            self.works = True
            self._opt.tell([self.points[config]], [score - self._offset(fold)])
        else:  # it counts as the worst score, so that it is not tried again
            known = [s["test_score"] for each in self.scores for s in each.values()]
            worst = min((s for s in known if math.isfinite(s)), default=0.0)
            self._opt.tell([self.points[config]], [worst])

    def _offset(self, fold: int) -> float:
        """How much better scores are on a fold than on the first, over configurations with both."""
        pairs = [
            each[fold]["test_score"] - each[0]["test_score"]
            for each in self.scores
            if fold in each and 0 in each
        ]
        pairs = [one for one in pairs if math.isfinite(one)]
        return float(np.mean(pairs)) if len(pairs) >= _FEWEST else 0.0

    def best(self) -> int:
        """The configuration with all folds, none of them failed, and the largest estimate."""
        known = np.isfinite(self._table("test_score")).all(axis=1)
        whole = np.flatnonzero(known).tolist()
        whole = whole or list(range(len(self.scores)))
        return whole[int(np.argmax(self._bounds(whole)[1]))]

    def summary(self) -> str:
        """One line on how far the search is."""
        _, mean, _ = self._bounds(list(range(len(self.points))))
        return f"{len(self.points)} configurations, best estimate {mean.max():.5g}"

    def results(self, train: bool) -> dict[str, Any]:
        """``cv_results_``."""
        params = [self.codec.params(point) for point in self.points]
        # The model predicts scores on the first fold.
        shift = float(np.mean([self._offset(fold) for fold in range(self.folds)]))
        lower, mean, upper = (each + shift for each in self._bounds(list(range(len(self.points)))))
        found: dict[str, Any] = {}
        for time in ("fit_time", "score_time"):
            table = self._table(time)
            found[f"mean_{time}"] = np.nanmean(table, axis=1)
            found[f"std_{time}"] = np.nanstd(table, axis=1)
        for name in self.codec.names:
            values = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=False)
            values[:] = [one[name] for one in params]
            found[f"param_{name}"] = values
        found["params"] = params
        for kind in ("test", "train") if train else ("test",):
            table = self._table(f"{kind}_score")
            for fold in range(self.folds):
                found[f"split{fold}_{kind}_score"] = table[:, fold]
            # As in scikit-learn, a configuration has no mean if one of its fits failed.
            fits = [[one[f"{kind}_score"] for one in each.values()] for each in self.scores]
            found[f"mean_{kind}_score"] = np.array([np.mean(each) for each in fits])
            found[f"std_{kind}_score"] = np.array([np.std(each) for each in fits])
        found["rank_test_score"] = np.array([1 + int((mean > one).sum()) for one in mean])
        found["estimate"], found["estimate_lower"], found["estimate_upper"] = mean, lower, upper
        found["n_fits"] = np.array([len(each) for each in self.scores])
        return found

    def _table(self, name: str) -> Floats:
        """A number by configuration and fold (n × folds), NaN if there was no fit."""
        table = np.full((len(self.scores), self.folds), np.nan)
        for row, each in zip(table, self.scores, strict=True):
            for fold, result in each.items():
                row[fold] = result[name]
        return table
