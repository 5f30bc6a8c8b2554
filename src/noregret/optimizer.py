"""The one optimiser: ask and tell, made of the parts that an algorithm names."""

import copy
import inspect
import math
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, Literal, Self, cast

import numpy as np

from noregret import _checks, state
from noregret._types import Floats, Ints, Points
from noregret.batching import BatchRule, ToTheLimit
from noregret.kernels import AnyKernel, as_kernel
from noregret.learning.beliefs import Beliefs, Rules
from noregret.learning.learner import is_auto, is_heavy
from noregret.linalg.threads import one_blas_thread
from noregret.models.assumptions import Assumptions
from noregret.models.posterior import Fantasy
from noregret.parts import (
    Look,
    Parts,
    Run,
    Width,
    check_prior,
    check_width,
    domain_for,
    for_heavy_tails,
    start,
)
from noregret.picking.certify import certificate
from noregret.picking.chooser import Chooser, Interval, Moment, Picks, spread_picks, uniform_picks
from noregret.picking.room import Room
from noregret.picking.spread import first_plate
from noregret.results import Batch, BatchInfo, History, Recommendation
from noregret.spaces import Candidates, Domain, as_candidates, as_domain
from noregret.widths.certificate import Certificate
from noregret.widths.evidence import Evidence, theory

#: points of an adaptive batch that nobody limits
_LONGEST = 10_000
#: names the random numbers of a design that is spread over a box, beside the seed
_DESIGN = 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Optimizer(ABC):
    """An optimiser of a noisy function over a list of candidates or a box, by ask and tell.

    Its settings are frozen: :meth:`replace` makes a new optimiser with other ones. Whatever is only
    looked at (``predict``, ``recommend``, ``beta``, …) leaves the run as it is, bit for bit.

    Parameters
    ----------
    domain
        :class:`~noregret.Candidates` (or what makes them), a :class:`~noregret.Box`, or a
        :class:`~noregret.Space`.
    kernel
        A kernel, a scikit-learn kernel object or any callable ``k(xs, ys) -> matrix``.
        ``"auto"``: Matérn 5/2 with one lengthscale per dimension, times a Hamming kernel with one
        weight for each parameter that is a choice, or :class:`~noregret.Tanimoto` for packed bits
        and for 64 or more columns of 0 and 1; for standardised rewards, fitted to uniform draws:
        the first 10 (or 4 per dimension) and a fifth of what follows.
    noise
        ξ, the standard deviation of the noise (its sub-Gaussian constant). ``"auto"``: fitted, and
        where repeated evaluations show heavy tails the run goes on as with ``"heavy"`` (see
        ``opt.events``). ``"heavy"``: rewards have outliers; the mean is a Huber regression and the
        scale is fitted, as for :class:`~noregret.HuberGPUCB`, and no theorem covers the bounds.
    norm
        F, a bound on the function's norm in the kernel's RKHS; ``"auto"``: guessed, and doubled
        whenever rewards contradict the bounds (see ``opt.events``).
    delta
        The bounds hold with probability at least 1 − δ.
    lam
        λ, the regularisation. By default ξ² (at least 1e-8 of the largest k(x, x)), which makes the
        posterior that of a GP observed with that noise.
    seed
        Makes every answer repeatable; drawn at random, and to be read at ``opt.seed``, by default.
    width
        How wide bounds are: a name that the algorithm knows, a number β for mean ± β·std, or a
        function of an :class:`~noregret.widths.evidence.Evidence` that gives β.
    bounds
        ``"intersected"``: every candidate keeps its smallest upper bound so far; the default where
        the width is proved. ``"current"``: bounds of the moment, the papers' rule; the default for
        other widths and where kernel, noise or norm are learnt.
    search
        How a box is searched: ``"gradients"``, many starts by L-BFGS-B, or ``"direct"``, DIRECT and
        a climb, for at most three dimensions.
    repeats
        The most evaluations of one candidate of a list, told or pending: 1 where each is measured
        once, 2 or 3 for replicates; ``None``: any number. Once every candidate has been evaluated
        so often :attr:`exhausted` is true, and ``ask`` gives an empty batch. Intervals and gaps
        stay proved; bounds on the regret are not, as the best choice may not be repeated.
    aim
        How many of the best candidates are looked for. With more than one, algorithms that pick by
        bounds on a list pick for the k-th: of those outside the k best so far the one with the
        largest upper bound, or of those the one with the smallest lower bound, whichever is less
        certain. :meth:`top_gap` says how good the k best are.
    """

    domain: Any = field(kw_only=False)
    kernel: AnyKernel = field(kw_only=False)
    noise: float | Literal["auto", "heavy"] = 0.1
    norm: float | Literal["auto"] = 1.0
    delta: float = 0.1
    lam: float | None = None
    seed: int | None = None
    width: Width = "theory"
    bounds: Literal["intersected", "current"] | None = None
    search: Literal["gradients", "direct"] = "gradients"
    repeats: int | None = None
    aim: int = 1

    #: whether the batch rule decides how many points ``ask()`` gives
    adaptive = False
    #: points of one ``ask()`` of a rule that is not adaptive
    batch_size = 1
    #: set when the optimiser is put together
    _parts: Parts = field(init=False)
    _run: Run = field(init=False)
    _look: Look | None = field(init=False)

    @abstractmethod
    def parts(self) -> Parts:
        """What the algorithm is made of, for the settings given."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        annotations = vars(cls).get("__annotations__", {})
        for name in _FINAL & vars(cls).keys():
            if isinstance(annotations.get(name), InitVar):  # a setting of the same name
                continue
            raise TypeError(
                f"{cls.__name__}.{name} would have no effect on what is asked: an algorithm says "
                "what it is made of in parts(); for another width pass width=function"
            )

    # -- putting it together -----------------------------------------------------------------

    def __post_init__(self) -> None:
        self._set("domain", domain_for(self.kernel, as_domain(self.domain)))
        _checks.probability("delta", self.delta)
        if self.lam is not None:
            _checks.positive("lam", self.lam)
        if self.seed is None:
            self._set("seed", int(np.random.SeedSequence().generate_state(1, np.uint32)[0]))
        elif isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)):
            raise TypeError(f"seed must be a whole number of at least 0, got {self.seed!r}")
        elif self.seed < 0:
            raise ValueError(f"seed must be a whole number of at least 0, got {self.seed!r}")
        _checks.one_of("search", self.search, ("gradients", "direct"))
        if self.bounds is not None:
            _checks.one_of("bounds", self.bounds, ("intersected", "current"))
        if self.repeats is not None:
            _checks.count("repeats", self.repeats)
        _checks.count("aim", self.aim)
        if not self.domain.listed and (self.repeats, self.aim) != (None, 1):
            raise ValueError(
                "repeats and aim are for lists of candidates: the points of a box cannot be "
                "counted. Leave them out, or choose from a grid: box.grid(n)"
            )
        parts = self.parts()
        if is_heavy(self.noise):
            parts = for_heavy_tails(parts, type(self).__name__)
        check_width(self.width, parts)
        self._set("_parts", parts)
        self._set("_run", start(self, parts))
        self._set("_look", None)

    @property
    def _own_seed(self) -> int:
        """The seed, given or drawn."""
        return int(self.seed or 0)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _rules(self) -> Rules:
        parts, space, named = self._parts, self.domain, isinstance(self.width, str)
        return Rules(
            widths=self._widths,
            checked=self.width in parts.proved or (named and is_auto(self.norm)),
            limits_trace=named
            and parts.widths[str(self.width)] is theory
            and parts.dictionary != "complete",
            qbar=parts.qbar,
            delta=self.delta,
            ratio=parts.ratio,
            inflation=parts.inflation.get(str(self.width), 1.0),
            corners=space.corners if self._run.beliefs.learner.active else space.nothing,
            choices=len(space) if space.listed else 0,
            seed=self._own_seed,
        )

    def _widths(self, evidence: Evidence) -> tuple[Floats, bool]:
        """Factors of √leverage for every λ in use, and whether the assumptions are refuted."""
        if isinstance(self.width, str):
            found = self._parts.widths[self.width](evidence)
            return found if isinstance(found, tuple) else (np.array([found]), False)
        beta = self.width(evidence) if callable(self.width) else self.width
        return np.array([_checks.not_negative("width", beta) * math.sqrt(evidence.lam)]), False

    # -- ask and tell ------------------------------------------------------------------------

    def ask(self, n: int | None = None, *, fill: bool = False) -> Batch:
        """What to evaluate next.

        One point for a sequential rule, a whole adaptive batch for a batched one. ``ask(n)`` gives
        exactly ``n`` for the former and at most ``n`` for the latter, ``ask(n, fill=True)`` exactly
        ``n`` for all. Points handed out and not told yet count in the variance, never in the mean.

        Such a full batch of a list is a *plate*. It holds no candidate twice, unless ``repeats``
        is 2 or more or the list is too short; the first one is spread over the list. Where
        ``repeats`` leaves fewer than ``n`` candidates it is shorter, and empty at the end (see
        :attr:`exhausted`). An adaptive batch without ``n`` has at most 10,000 points.
        """
        if n is not None:
            n = _checks.count("n", n)
        elif fill:
            raise ValueError("n must be given with fill=True: how many points to give")
        room = self._room(n if fill else None)
        if not room.open:
            return Batch(room.closed[:0], self.domain.nothing, [])
        with one_blas_thread():
            self._take_in()
            picks, rows = self._pick(n, fill, room)
        beliefs = self._run.beliefs
        upper = beliefs.assumed.reward(picks.upper)
        beta = picks.width / math.sqrt(beliefs.assumed.lam)
        info = BatchInfo(upper, beta, picks.ratio, beliefs.size)
        return Batch(
            picks.ids,
            picks.points,
            self.domain.labels(picks.ids, picks.points),
            info,
            picks.uniform,
            picks.spread,
            self._run.observations.generation,
            rows,
        )

    def _room(self, plate: int | None = None) -> Room:
        """How often each candidate may be picked, now or on a plate of so many."""
        if not self.domain.listed:
            return Room()
        size, seen = len(self.domain), self._run.observations
        if self.repeats is None:
            return Room(size, each=None if plate is None else -(-plate // size))
        listed = np.flatnonzero(seen.ids >= 0)
        return Room(size, self.repeats, seen.ids[listed], (seen.told + seen.pending)[listed])

    def _pick(self, n: int | None, fill: bool, room: Room) -> tuple[Picks, Ints]:
        """The picks of an ask and their rows; where it fails nothing stays pending."""
        picks, rows = None, np.empty(0, dtype=np.int64)
        try:
            while True:
                more = self._choose(n if n is None else n - len(rows), fill, room)
                rows = np.concatenate([rows, self._hand_out(more)])
                picks = more if picks is None else picks.joined(more)
                if not fill or not len(more.ids) or n is None or len(rows) >= n:
                    return picks, rows
        except BaseException:
            self._take_back(rows)
            raise

    def _take_in(self) -> None:
        """Let the model take in what has been told: the start of a batch, and nowhere else."""
        run, look = self._run, self._look
        if look is not None and look.t == self.t and look.beliefs.is_current(run.observations):
            run.beliefs, run.rng, events = look.beliefs, look.rng, look.events
        else:
            events = run.beliefs.take_in(run.observations, self._rules(), run.rng)
        self._set("_look", None)
        for event in events:
            run.events.append({"t": self.t, **event})
            if event["event"] == "refuted":
                warnings.warn(_refutation(event, self.delta), RuntimeWarning, stacklevel=3)

    def _choose(self, n: int | None, plate: bool, room: Room) -> Picks:
        """Uniform draws where the learner wants some or nothing is known, else the chooser's."""
        run, asked = self._run, self.t + self.pending
        limit = (n or _LONGEST) if self.adaptive else (n or self.batch_size)
        learner, space = run.beliefs.learner, self.domain
        if plate and self._parts.spreads and space.listed and (not self.t or learner.unfitted):
            return first_plate(self._moment(run.beliefs, run.rng, room=room), space, limit)
        draws = learner.wanted(asked)
        if not draws and not asked and self._parts.starts_uniformly:
            # BKB 3.1, BBKB Algorithm 1, line 1
            draws = 1 if self.adaptive else limit
        now = self._moment(run.beliefs, run.rng, room=room, plate=plate)
        if not draws:
            picks = run.chooser.choose(now, limit)
            if n is None and self.adaptive and len(picks.ids) == _LONGEST:
                now.note("batch cut", points=_LONGEST)
            return picks
        # ask(n) of a sequential rule gives n points whatever they are.
        count = min(draws, limit) if self.adaptive else limit
        if run.beliefs.learner.how.spreads:
            return spread_picks(now, asked, count, np.random.default_rng([self._own_seed, _DESIGN]))
        return uniform_picks(now, count)

    def _hand_out(self, picks: Picks) -> Ints:
        run = self._run
        rows = run.observations.rows(picks.ids, picks.points)
        run.observations.ask(rows)
        if picks.uniform or picks.spread:
            run.beliefs.learner.asked(rows)
        return rows

    def _take_back(self, rows: Ints) -> None:
        """These rows, handed out last, will never be told."""
        run = self._run
        run.observations.cancel(rows)
        run.beliefs.learner.cancelled(run.observations.pending)

    def tell(self, points: Batch | Any, rewards: Any, *, unasked: bool = False) -> None:
        """Report evaluations: a batch (or part of one, ``batch[:3]``), or ids, with n rewards.

        In any order, in parts, late; also of choices nobody asked for, such as old data. On a box
        or space, points (n × d, or dicts by name) stand in place of ids. With ``unasked`` pending
        evaluations of the same choices stay pending.
        """
        run = self._run
        if isinstance(points, Batch) and points.generation != run.observations.generation:
            rows = self._old_rows(points)
            values = _checks.rewards(rewards, len(rows))
        else:
            ids, where = self._locate(points)
            values = _checks.rewards(rewards, len(ids))
            rows = run.observations.rows(ids, where)
        before = self.t
        run.observations.tell(rows, values, unasked=unasked)
        run.beliefs.learner.told(before, rows)

    def expect(self, points: Any) -> None:
        """These ids, or points of a box, are being evaluated already: they are pending now."""
        run = self._run
        run.observations.ask(run.observations.rows(*self._locate(points)))

    def cancel(self, points: Batch | Any) -> None:
        """These pending points will never be told: they stop counting in the variance."""
        self._take_back(self._asked_rows(points))
        self._set("_look", None)  # its learner still waits for them

    def fail(self, points: Batch | Any) -> None:
        """These pending points were evaluated and gave no value, as after a crash or a NaN.

        A point that fails stays pending, which lowers the deviation near it: something else is
        asked for next. Where the most similar choice evaluated has failed too, failing seems to
        belong to the place, and the model is told a bad reward: the lowest one so far that is no
        outlier (no more than 1.5 interquartile ranges below the lower quartile). Such a reward
        counts in ``t`` and is no part of ``history``. Where bounds are proved for settings that are
        given, an invented reward would void them: there failed points only stay pending.
        """
        run = self._run
        rows = self._asked_rows(points)
        run.observations.check_pending(rows)
        honest = self.width in self._parts.proved and not self.learnt
        for row in rows.tolist():
            seen = run.observations
            stands_in = not honest and seen.t > 0 and self._fails_nearby(row)
            before = seen.t
            seen.fail(row, _bad_reward(seen.rewards) if stands_in else None)
            if stands_in:
                run.beliefs.learner.told(before, np.array([row]))

    def _fails_nearby(self, row: int) -> bool:
        """Whether the most similar arm that was evaluated, this one or another, has failed."""
        seen, kernel = self._run.observations, self._run.beliefs.assumed.kernel
        failed = np.unique(np.array(seen.failed, dtype=np.int64))
        rows = np.union1d(np.flatnonzero(seen.told), failed)
        likeness = kernel(seen.points[[row]], seen.points[rows])[0]
        closest = rows[np.argmax(likeness / np.sqrt(kernel.diag(seen.points[rows])))]
        return bool(np.isin(closest, failed))

    def _asked_rows(self, points: Batch | Any) -> Ints:
        """The rows of a batch, or of ids or points; −1 for what was never asked for."""
        observations = self._run.observations
        if isinstance(points, Batch) and points.generation != observations.generation:
            return self._old_rows(points)
        return observations.known_rows(*self._locate(points))

    def replace_candidates(self, candidates: Any) -> None:
        """Choose from another list from now on; the history stays, ids mean the new list.

        Batches handed out before can still be told.
        """
        if not self.domain.listed:
            raise TypeError("only a list of candidates can be replaced, not a box or space")
        domain = as_candidates(domain_for(self.kernel, as_candidates(candidates)))
        old = self.domain
        if domain.are_objects != old.are_objects or domain.dimension != old.dimension:
            raise ValueError(f"candidates must be of the same kind as {old!r}, got {domain!r}")
        check_prior(self.assumed.kernel, domain)
        self._parts.check_list(domain, self.assumed)
        self._run.chooser.restart(domain)
        self._run.observations.replace_list()
        self._set("domain", domain)
        self._set("_look", None)
        self._run.events.append({"t": self.t, "event": "list replaced", "length": len(domain)})

    def add_candidates(self, candidates: Any) -> None:
        """Choose from more candidates from now on: they come after the others, whose ids stay.

        Bounds of the old candidates stay, new ones start from the prior. Lists in files and on a
        cluster cannot grow.
        """
        more = self.as_more(candidates)
        domain = as_candidates(self.domain).joined(more)
        self._parts.check_list(domain, self.assumed)
        self._run.chooser.extend(domain)
        self._set("domain", domain)
        self._set("_look", None)
        added = len(more)
        self._run.events.append({"t": self.t, "event": "candidates added", "candidates": added})

    def as_more(self, candidates: Any) -> Candidates:
        """Candidates that can be added, in the type that the list's points have; a look."""
        if not self.domain.listed:
            raise TypeError("candidates can be added to a list only, not to a box or space")
        old = as_candidates(self.domain)
        more = as_candidates(domain_for(self.kernel, as_candidates(candidates)))
        same = more.are_objects == old.are_objects and more.are_bits == old.are_bits
        if not same or more.dimension != old.dimension:
            raise ValueError(f"candidates must be of the same kind as {old!r}, got {more!r}")
        check_prior(self.assumed.kernel, more)
        return more

    def _locate(self, points: Batch | Any) -> tuple[Ints, Points]:
        """Ids and points of what a user gave, checked."""
        if isinstance(points, Batch):
            points = points.ids if self.domain.listed else points.points
        space: Domain = self.domain
        return space.locate(points)

    def _old_rows(self, batch: Batch) -> Ints:
        """The rows of a batch of a list that has been replaced since."""
        if batch.rows is None or (len(batch) and batch.rows.max() >= len(self._run.observations)):
            raise ValueError("this batch belongs to another optimiser or another list")
        return batch.rows

    # -- what is known: looking changes nothing ----------------------------------------------

    def _looked(self) -> Beliefs:
        """Beliefs with everything told taken in, as the next ask will have them."""
        run = self._run
        if run.beliefs.is_current(run.observations):
            return run.beliefs
        look = self._look
        if look is None or look.t != self.t or not look.beliefs.is_current(run.observations):
            beliefs, rng = copy.deepcopy((run.beliefs, run.rng))
            events = beliefs.take_in(run.observations, self._rules(), rng)
            look = Look(self.t, beliefs, rng, events)
            self._set("_look", look)
        return look.beliefs

    @property
    def chooser(self) -> Chooser:
        """Who is next? The part that picks, with what it remembers."""
        return self._run.chooser

    def moment(self, *, pending: bool = True) -> Moment:
        """What the chooser knows now, for a look."""
        return self._moment(self._looked(), pending=pending)

    def _moment(
        self,
        beliefs: Beliefs,
        rng: np.random.Generator | None = None,
        *,
        pending: bool = True,
        room: Room | None = None,
        plate: bool = False,
    ) -> Moment:
        """What a chooser needs to know; a look gets a generator of its own.

        Inside a plate deviations fall exactly with every pick and are not inflated: the picks have
        to differ, and no theorem of a batch covers those after its rule's end.
        """
        observations, parts = self._run.observations, self._parts
        rules, frozen, rule = self._rules(), parts.frozen, parts.rule
        if plate and self.domain.listed:
            rules, frozen = replace(rules, inflation=1.0), False
            rule = _to_the_limit(parts.rule)
        return Moment(
            self.domain,
            observations,
            beliefs,
            parts.view(beliefs, observations, rules, pending, frozen),
            self._intersects(beliefs),
            rule,
            self._room() if room is None else room,
            self.aim,
            rng or np.random.default_rng([self._own_seed, self.t]),
            self._run.events if rng else [],
        )

    def _intersects(self, beliefs: Beliefs) -> bool:
        """Whether bounds only fall."""
        if self.bounds is not None:
            return self.bounds == "intersected"
        proved = self.width in self._parts.proved and self.domain.listed
        return proved and not beliefs.learner.active

    def predict(self, points: Any = None, *, pending: bool = True) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation of some ids (all by default), or points of a box.

        Pending points count in the deviation (not with ``pending=False``), never in the mean.
        """
        ids, where = self.domain.locate_all() if points is None else self._locate(points)
        with one_blas_thread():
            now = self.moment(pending=pending)
            mean, variance = self._run.chooser.predict(now, ids, where)
        assumed = now.beliefs.assumed
        return assumed.reward(mean), assumed.unit * np.sqrt(variance)

    def predict_points(self, points: Any, *, pending: bool = True) -> tuple[Floats, Floats]:
        """The same for any points (n × d), on the list or not."""
        with one_blas_thread():
            now = self.moment(pending=pending)
            mean, leverage = now.bounds.evaluate(points)
        assumed = now.beliefs.assumed
        return assumed.reward(mean), assumed.unit * np.sqrt(assumed.lam * leverage)

    def recommend(self) -> Recommendation:
        """The choice with the largest lower bound of those told, with its interval and gap."""
        return self.top(1)[0]

    def top(self, k: int) -> list[Recommendation]:
        """The k choices with the largest lower bounds of those told, best first.

        Each with its interval, how often it was evaluated and the mean of its rewards. One choice
        where nothing has been told yet. Pending evaluations do not count.
        """
        k = _checks.count("k", k)
        with one_blas_thread():
            now = self.moment(pending=False)
            found = self._run.chooser.ranking(now, k)
        return [_recommendation(one, now) for one in found]

    def top_gap(self, k: int | None = None) -> float:
        """How much better than the worst of ``top(k)`` a candidate outside of them can be (lists).

        0 where none can be better: then ``top(k)`` are the k best. Holds with probability 1 − δ
        where :attr:`proved`. ``k`` is :attr:`aim` by default.
        """
        k = self.aim if k is None else _checks.count("k", k)
        if not self.domain.listed:
            raise ValueError("top_gap needs a list of candidates: a box has none to count")
        with one_blas_thread():
            now = self.moment(pending=False)
            found = self._run.chooser.ranking(now, k)
            best = np.array(sorted(interval.id for interval in found), dtype=np.int64)
            if len(best) < k:  # fewer have been told: any other candidate belongs to the k best
                return math.inf if len(best) < len(self.domain) else 0.0
            highest = self._run.chooser.highest(now, best)
            lowest = min(interval.lower for interval in found)
        return now.beliefs.assumed.unit * max(highest - lowest, 0.0)

    @property
    def exhausted(self) -> bool:
        """Whether every candidate has been evaluated ``repeats`` times, told or pending."""
        return not self._room().open

    def certify(self, *, norm: float | None = None, tol: float | None = None) -> Certificate:
        """How far from the best the recommendation can still be, and what that stands on.

        From the exact posterior over unique arms: O(A·u²) for A candidates and u arms told. Where
        that is more than 10¹² multiplications the run's own sparse posterior is used instead.

        Parameters
        ----------
        norm
            Another bound on the norm than the one assumed: no new run is needed for it.
        tol
            Also find the largest norm up to which no choice is better by more than this.
        """
        norm = None if norm is None else _checks.positive("norm", norm)
        tol = None if tol is None else _checks.positive("tol", tol)
        if not self.domain.listed:
            raise ValueError("certify needs a list of candidates: a box is searched, not proved")
        with one_blas_thread():
            found = self.recommend()
            return certificate(self, self._looked(), self._run.observations, found, norm, tol)

    @property
    def alive(self) -> int | None:
        """How many candidates can still be the best; ``None`` on a box, or without a proof."""
        with one_blas_thread():
            return self._run.chooser.alive(self.moment(pending=False))

    @property
    def proved(self) -> bool:
        """Whether intervals and gaps are proved, for the settings given.

        Not so for widths without a theorem, on a box (which is searched), where kernel, noise or
        norm are learnt, or once the rewards have refuted them.
        """
        beliefs = self._looked()
        covered = self.width in self._parts.proved and self.domain.listed
        return covered and not beliefs.learner.active and not beliefs.refuted

    @property
    def learnt(self) -> tuple[str, ...]:
        """Which of kernel, noise and norm are learnt from the rewards."""
        given = {"kernel": self.kernel, "noise": self.noise, "norm": self.norm}
        return tuple(name for name, value in given.items() if is_auto(value) or is_heavy(value))

    @property
    def beta(self) -> float:
        """The width in use: bounds are mean ± beta · std."""
        with one_blas_thread():
            now = self.moment()
        return now.bounds.width / math.sqrt(now.beliefs.assumed.lam)

    @property
    def assumed(self) -> Assumptions:
        """Kernel, noise, norm, λ and units in use: as given, or learnt so far."""
        return self._looked().assumed

    @property
    def standardisation(self) -> tuple[float, float]:
        """Shift and scale: the model sees (reward − shift) / scale; (0, 1) for a given kernel."""
        return self.assumed.shift, self.assumed.unit

    @property
    def t(self) -> int:
        """Evaluations told."""
        return self._run.observations.t

    @property
    def pending(self) -> int:
        """Evaluations asked for and not yet told."""
        return int(self._run.observations.pending.sum())

    def counts(self, points: Any) -> Ints:
        """Evaluations told of some ids, or points of a box (n)."""
        observations = self._run.observations
        rows = observations.known_rows(*self._locate(points))
        return np.where(rows >= 0, np.append(observations.told, 0)[rows], 0)

    @property
    def history(self) -> History:
        """Everything told, in order, without evaluations that failed."""
        seen = self._run.observations
        kept = np.delete(np.arange(seen.t), list(seen.stand_ins))
        rows = seen.history_rows[kept]
        return History(seen.ids[rows], seen.points[rows], seen.rewards[kept])

    @property
    def events(self) -> list[dict[str, Any]]:
        """What the algorithm did on its own, such as compacting its dictionary; each with its t."""
        return [dict(event) for event in self._run.events]

    @property
    def dictionary(self) -> Any:
        """The inducing points: ids (m; −1 for a replaced list's), or points of a box (m × d)."""
        if not self.domain.listed:
            return self.dictionary_points
        return self._run.observations.ids[self._looked().dictionary]

    @property
    def dictionary_points(self) -> Points:
        """The inducing points (m × d, or m objects)."""
        return np.asarray(self._run.observations.points[self._looked().dictionary])

    def effective_dimension(self) -> float:
        """Σ leverage over all evaluations, the posterior's degrees of freedom (BKB eq. 5)."""
        return self._looked().effective_dimension()

    def information_gain(self) -> float:
        """½ log det(K_t/λ + I) of the evaluations told, on the dictionary's span."""
        return 0.5 * self._looked().log_det()

    # -- other settings, and files -----------------------------------------------------------

    def replace(self, **settings: Any) -> Self:
        """A new optimiser with some settings changed, told the same history in the same order."""
        made = type(self)(
            **{**self.settings(), "kernel": self.kernel, "domain": self.domain, **settings}
        )
        seen = self._run.observations
        if (seen.ids[seen.history_rows] < 0).any() and self.domain.listed:
            raise ValueError("a history on a list that has been replaced cannot be told anew")
        where = seen.ids if self.domain.listed else seen.points
        if self.t:
            made.tell(where[seen.history_rows], seen.rewards)
        if self.pending:
            made.expect(np.repeat(where, seen.pending, axis=0))
        made._run.observations.note_failed(seen)
        return made

    def settings(self) -> dict[str, Any]:
        """The settings by name, without domain and kernel."""
        names = list(inspect.signature(type(self)).parameters)[2:]
        # A setting that shares its name with something to look at is kept with an underscore.
        return {name: vars(self).get(name, vars(self).get(f"_{name}")) for name in names}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file (arrays and JSON, no code); see :func:`noregret.load`."""
        state.replace_file(path, self.write)

    def write(self, file: Any, *, candidates: bool = True) -> None:
        """Write everything to a binary file object; without the list where it is kept elsewhere."""
        given = "auto" if is_auto(self.kernel) else as_kernel(self.kernel)
        about = {"algorithm": type(self).__name__.lower(), "settings": self.settings()}
        state.write(file, about, self.domain, given, self._run, candidates=candidates)

    def resume(self, saved: state.Saved, kernel: Any) -> None:
        """Go on from a run that was saved with these settings."""
        run: Run = saved.run(self.domain, kernel, like=self._run)
        self._set("_run", run)
        run.chooser.restart(self.domain, keep=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r}, t={self.t})"


_FINAL = {
    name
    for name, member in vars(Optimizer).items()
    if not name.startswith("_") and (callable(member) or isinstance(member, property))
} - {"parts"}


def _refutation(event: dict[str, Any], delta: float) -> str:
    """What to tell a user whose assumptions the rewards refute."""
    needed = event["smallest_norm"]
    norm = f"a norm of at least {needed:.3g}" if needed > event["norm"] else "more noise or norm"
    return (
        f"the rewards contradict norm={event['norm']:g}: with probability {1 - delta:g} they need "
        f"{norm}, or another kernel. Bounds prove nothing from here on: raise norm or noise, or "
        "pass norm='auto'"
    )


def _bad_reward(rewards: Floats) -> float:
    """The lowest reward that is no outlier: the lower whisker of a box plot."""
    low, high = np.quantile(rewards, [0.25, 0.75])
    return float(max(rewards.min(), low - 1.5 * (high - low)))


def _to_the_limit(rule: Callable[[Fantasy], BatchRule]) -> Callable[[Fantasy], BatchRule]:
    """Makes rules that do not end a batch, from one that makes rules that do."""
    return lambda fantasy: ToTheLimit(rule(fantasy))


def _recommendation(found: Interval, now: Moment) -> Recommendation:
    """In the units of the rewards, with the point as users see it and what was measured."""
    assumed, seen = now.beliefs.assumed, now.observations
    where = cast(Points, [found.point])  # one point, or one object
    row = int(seen.known_rows(np.array([found.id]), where)[0])
    # Rewards that stand in for failures were not measured.
    invented = np.array(seen.stand_ins, dtype=np.int64)
    invented = invented[seen.history_rows[invented] == row]
    count = int(seen.told[row]) - len(invented) if row >= 0 else 0
    return Recommendation(
        id=found.id,
        point=now.space.labels(np.array([found.id]), [found.point])[0],
        mean=assumed.reward(found.mean),
        lower=assumed.reward(found.lower),
        upper=assumed.reward(found.upper),
        gap=assumed.unit * max(found.highest - found.lower, 0.0),
        evaluations=count,
        measured=float(seen.sums[row] - seen.rewards[invented].sum()) / count if count else None,
    )
