"""When is a batch full? Each rule is told every pick, and answers whether it is the last one.

The pick that crosses the threshold still belongs to its batch (BBKB Algorithm 1, line 5), so a
threshold of 1 gives batches of one. ``ratio`` is the bound so far on the posterior variance at the
batch start divided by that of now.
"""

from typing import Protocol

import numpy as np

from noregret._types import Floats
from noregret.models.fantasy import Block

#: a pick with no leverage left adds nothing to a sum, so it must end the batch itself
NOTHING_LEFT = 1e-12


class BatchRule(Protocol):
    """Decides when a batch ends.

    Attributes
    ----------
    ratio
        The bound on the ratio of variances reached so far.
    compares
        Whether the rule compares all candidates looked at: the block must hold them all, with
        leverages that count every pick before. Otherwise only the pick's own has to.
    """

    ratio: float
    compares: bool = False

    def add(self, block: Block, position: int) -> bool:
        """Whether the batch ends with the pick of a point of this block."""

    def has_passed(self, block: Block) -> bool:
        """Whether the batch ends before another pick, as the picks so far pass the threshold.

        Only rules that compare are asked, with a block whose leverages count all picks.
        """
        return False


class FixedSize(BatchRule):
    """No bound: the caller's limit ends the batch."""

    def __init__(self) -> None:
        self.ratio = 1.0

    def add(self, block: Block, position: int) -> bool:
        """Never full."""
        return False


class ToTheLimit(BatchRule):
    """Goes on where another rule ends: the caller's limit ends the batch.

    Parameters
    ----------
    rule
        The other rule, whose ratio it reports.
    """

    def __init__(self, rule: BatchRule) -> None:
        self._rule = rule
        self.compares = rule.compares
        self.ratio = rule.ratio

    def add(self, block: Block, position: int) -> bool:
        """Never full."""
        self._rule.add(block, position)
        self.ratio = self._rule.ratio
        return False

    def has_passed(self, block: Block) -> bool:
        """Never."""
        self._rule.has_passed(block)
        self.ratio = self._rule.ratio
        return False


class ProductRule(BatchRule):
    """∏(1 + σ²_{s−1}(x_s)) ≤ C.  GP-BUCB (BBKB Algorithm 2, Proposition 1).

    ``pending`` is the sum of leverages of points handed out earlier and not told yet.
    """

    def __init__(self, threshold: float, pending: float = 0.0) -> None:
        self.threshold = threshold
        self.ratio = 1.0 + pending

    def add(self, block: Block, position: int) -> bool:
        """Full once the product passes the threshold."""
        now = float(block.leverage[position])
        self.ratio *= 1.0 + now
        return self.ratio > self.threshold or now <= NOTHING_LEFT


class GlobalRatio(BatchRule):
    """1 + Σσ̃²_fb(x_s) ≤ C̃.  BBKB Lemma 1.

    ``pending`` is the sum over points handed out earlier and not told yet.
    """

    def __init__(self, threshold: float, pending: float = 0.0) -> None:
        self.threshold = threshold
        self.ratio = 1.0 + pending

    def add(self, block: Block, position: int) -> bool:
        """Full once the sum passes the threshold."""
        told = block.told.item(position)
        self.ratio += told
        return self.ratio > self.threshold or told <= NOTHING_LEFT


class LocalRatio(BatchRule):
    """σ̃²_fb(x)/σ̃²_t(x) ≤ C̃ for every candidate x that has been looked at.  BBKB Section 4.

    This is the ratio itself, not a bound on it. A candidate that was not looked at keeps its bound
    from the batch start, so its ratio does not matter.
    """

    compares = True

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.ratio = 1.0

    def add(self, block: Block, position: int) -> bool:
        """Full once the ratio of some candidate passes the threshold with this pick."""
        now = float(block.leverage[position])
        if now <= NOTHING_LEFT:
            return True
        # The leverages are those before this pick, which multiplies its own ratio by 1 + leverage.
        ratios = _shrinking(block)
        self.ratio = float(max(ratios.max(), ratios[position] * (1.0 + now)))
        return self.ratio > self.threshold

    def has_passed(self, block: Block) -> bool:
        """Whether a pick has passed the threshold for another candidate than itself."""
        self.ratio = max(self.ratio, float(_shrinking(block).max()))
        return self.ratio > self.threshold


class LeverageGoal(BatchRule):
    """Full at the first pick whose leverage is at most a goal.  BBKB Algorithm 3.

    Attributes
    ----------
    useful
        How many picks had a leverage above the goal.
    """

    def __init__(self, goal: float) -> None:
        self.ratio = 1.0
        self.useful = 0
        self._goal = goal

    def add(self, block: Block, position: int) -> bool:
        """Whether the pick's leverage is at most the goal; such a pick is not useful."""
        if float(block.leverage[position]) <= self._goal:
            return True
        self.useful += 1
        return False


def _shrinking(block: Block) -> Floats:
    """By what factor the variances of a block have shrunk since the batch start (n)."""
    return np.asarray(block.told / np.maximum(block.leverage, NOTHING_LEFT))
