"""What changes while an optimiser runs, and how a run starts."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints
from noregret.kernels import Kernel, as_kernel
from noregret.learning.beliefs import Beliefs, Rules
from noregret.learning.learner import (
    Learner,
    design_size,
    fingerprint_kernel,
    is_auto,
    is_heavy,
    starting_kernel,
)
from noregret.models.assumptions import Assumptions, noise_lams
from noregret.observations import Observations
from noregret.parts import PROBE, Parts, check_prior
from noregret.picking.chooser import Chooser, Picks
from noregret.results import Batch, History


@dataclass(frozen=True)
class Look:
    """What the next ask will believe, worked out on a copy for somebody who looks."""

    t: int
    beliefs: Beliefs
    rng: np.random.Generator
    events: list[dict[str, Any]]

    def is_current(self, observations: Observations) -> bool:
        """Whether nothing has been told since."""
        return self.t == observations.t and self.beliefs.is_current(observations)


@dataclass
class Run:
    """Everything that changes while an optimiser runs."""

    observations: Observations
    beliefs: Beliefs
    chooser: Chooser
    rng: np.random.Generator
    events: list[dict[str, Any]]

    def note(self, event: str, **details: Any) -> None:
        """Write down what was done, with the number of evaluations told."""
        self.events.append({"t": self.observations.t, "event": event, **details})

    def look(self, rules: Rules) -> Look:
        """What the next ask will believe; nothing changes."""
        beliefs, rng = copy.deepcopy((self.beliefs, self.rng))
        events = beliefs.take_in(self.observations, rules, rng)
        return Look(self.observations.t, beliefs, rng, events)

    def take_in(self, rules: Rules, look: Look | None) -> list[dict[str, Any]]:
        """Let the model take in what has been told; what there is to note about it.

        Where somebody has looked already that work is used.
        """
        if look is None or not look.is_current(self.observations):
            return self.beliefs.take_in(self.observations, rules, self.rng)
        self.beliefs, self.rng = look.beliefs, look.rng
        return look.events

    def hand_out(self, picks: Picks) -> Ints:
        """Make picks pending; their rows (n)."""
        rows = self.observations.rows(picks.ids, picks.points)
        self.observations.ask(rows)
        if picks.uniform or picks.spread:
            self.beliefs.learner.asked(rows)
        return rows

    def take_back(self, rows: Ints) -> None:
        """These pending rows will never be told."""
        self.observations.cancel(rows)
        self.beliefs.learner.cancelled(self.observations.pending)

    def fail(self, row: int, *, may_invent: bool) -> None:
        """A pending row gave no value; where the place seems bad a bad reward may be invented."""
        seen = self.observations
        before = seen.t
        invented = may_invent and seen.t > 0 and self._fails_nearby(row)
        seen.fail(row, _bad_reward(seen.rewards) if invented else None)
        if invented:
            self.beliefs.learner.told(before, np.array([row]))

    def _fails_nearby(self, row: int) -> bool:
        """Whether the most similar arm that was evaluated, this one or another, has failed."""
        seen, kernel = self.observations, self.beliefs.assumed.kernel
        failed = np.unique(np.array(seen.failed, dtype=np.int64))
        rows = np.union1d(np.flatnonzero(seen.told), failed)
        likeness = kernel(seen.points[[row]], seen.points[rows])[0]
        closest = rows[np.argmax(likeness / np.sqrt(kernel.diag(seen.points[rows])))]
        return bool(np.isin(closest, failed))

    def history(self) -> History:
        """Everything told, in order, without evaluations that failed."""
        seen = self.observations
        kept = np.delete(np.arange(seen.t), list(seen.stand_ins))
        rows = seen.history_rows[kept]
        return History(seen.ids[rows], seen.points[rows], seen.rewards[kept])

    def old_rows(self, batch: Any) -> Ints | None:
        """The rows of a batch of a list that has been replaced since; ``None`` for all else."""
        seen = self.observations
        if not isinstance(batch, Batch) or batch.generation == seen.generation:
            return None
        if batch.rows is None or (len(batch) and batch.rows.max() >= len(seen)):
            raise ValueError("this batch belongs to another optimiser or another list")
        return batch.rows


def _bad_reward(rewards: Floats) -> float:
    """The lowest reward that is no outlier: the lower whisker of a box plot."""
    low, high = np.quantile(rewards, [0.25, 0.75])
    return float(max(rewards.min(), low - 1.5 * (high - low)))


def start(settings: Any, parts: Parts) -> Run:
    """The run of an optimiser with these settings, before anything has been asked or told."""
    space = settings.domain
    kernel, events = _starting_kernel(settings, parts)
    learner = _learner(settings, parts, kernel)
    assumed = _assumptions(settings, parts, learner, kernel)
    if parts.beliefs is not None:
        beliefs = parts.beliefs(assumed, learner, space.nothing)
    else:
        beliefs = Beliefs(assumed, learner, parts.estimate, parts.dictionary, space.nothing)
    rng = np.random.default_rng(settings.seed)
    return Run(Observations(space.nothing), beliefs, parts.chooser, rng, events)


def _starting_kernel(settings: Any, parts: Parts) -> tuple[Kernel, list[dict[str, Any]]]:
    """The kernel before anything has been learnt, and what to note about it."""
    if not is_auto(settings.kernel):
        return parts.replaced_kernel(as_kernel(settings.kernel)), []
    space = settings.domain
    if parts.kernel is not None:
        return parts.kernel, []
    some = space.spread(PROBE, np.random.default_rng(0))
    kernel = fingerprint_kernel(some) if space.listed else None
    if kernel is None:
        return starting_kernel(space.corners, categories=space.categories), []
    why = "the candidates are packed bits" if space.are_bits else "all columns are 0 or 1"
    return kernel, [{"t": 0, "event": "kernel", "kernel": repr(kernel), "why": why}]


def _learner(settings: Any, parts: Parts, kernel: Kernel) -> Learner:
    """What is to be learnt."""
    given = {"kernel": settings.kernel, "noise": settings.noise, "norm": settings.norm}
    learnt = {name: is_auto(value) for name, value in given.items()}
    learnt["noise"] = learnt["noise"] or is_heavy(settings.noise)
    if not any(learnt[name] for name in parts.learning.fits_for):
        learnt = dict.fromkeys(learnt, False)
    many = parts.many and settings.lam is None and settings.width == "theory"
    return Learner(
        kernel=learnt["kernel"],
        noise=learnt["noise"],
        norm=learnt["norm"],
        lam=settings.lam is None and (learnt["kernel"] or parts.lam is None),
        many=many,
        design=parts.learning.design or design_size(settings.domain.dimension, kernel),
        how=parts.learning,
    )


def _assumptions(settings: Any, parts: Parts, learner: Learner, kernel: Kernel) -> Assumptions:
    """What is assumed before anything has been learnt."""
    norm = 1.0 if is_auto(settings.norm) else _checks.positive("norm", settings.norm)
    if is_auto(settings.noise) or is_heavy(settings.noise):
        # Without a fit the estimate of rewards finds the noise, and starts from the norm.
        noise = 0.1 if learner.noise else norm
    else:
        noise = _checks.not_negative("noise", settings.noise)
    scale = check_prior(kernel, settings.domain)
    lam = settings.lam if settings.lam is not None or learner.kernel else parts.lam
    lams = noise_lams(noise, scale, many=learner.many) if lam is None else (lam,)
    return Assumptions(kernel, noise, norm, lams, scale)


def refutation(event: dict[str, Any], delta: float) -> str:
    """What to tell a user whose assumptions the rewards refute."""
    needed = event["smallest_norm"]
    norm = f"a norm of at least {needed:.3g}" if needed > event["norm"] else "more noise or norm"
    return (
        f"the rewards contradict norm={event['norm']:g}: with probability {1 - delta:g} they need "
        f"{norm}, or another kernel. Bounds prove nothing from here on: raise norm or noise, or "
        "pass norm='auto'"
    )
