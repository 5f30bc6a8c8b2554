"""The one optimiser: ask and tell, made of the parts that an algorithm names."""

import inspect
import math
import os
import warnings
from abc import ABC, abstractmethod
from dataclasses import InitVar, dataclass, field
from typing import Any, Literal, Self

import numpy as np

from noregret import _checks, state
from noregret._types import Floats, Ints, Points
from noregret.kernels import AnyKernel, as_kernel
from noregret.learning.beliefs import Beliefs
from noregret.learning.learner import is_auto, is_heavy
from noregret.linalg.threads import one_blas_thread
from noregret.models.assumptions import Assumptions
from noregret.moment import moment_of_ask, moment_of_look, room_now, rules_for
from noregret.parts import (
    Parts,
    Width,
    as_list_like,
    check_settings,
    check_width,
    domain_for,
    for_heavy_tails,
)
from noregret.picking.certify import certificate
from noregret.picking.chooser import Chooser, Moment, Picks, spread_picks, uniform_picks
from noregret.picking.recommend import recommendations, top_gap
from noregret.picking.room import Room
from noregret.picking.spread import first_plate
from noregret.results import Batch, BatchInfo, History, Recommendation
from noregret.run import Look, Run, refutation, start
from noregret.spaces import Candidates, Domain, as_candidates, as_domain
from noregret.widths.certificate import Certificate

#: the most points of an adaptive batch that is asked for without a limit
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
        if self.seed is None:
            self._set("seed", int(np.random.SeedSequence().generate_state(1, np.uint32)[0]))
        check_settings(self)
        parts = self.parts()
        if is_heavy(self.noise):
            parts = for_heavy_tails(parts, type(self).__name__)
        check_width(self.width, parts)
        self._set("_parts", parts)
        self._set("_run", start(self, parts))
        self._set("_look", None)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

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
        room = room_now(self, self._run, n if fill else None)
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

    def _pick(self, n: int | None, fill: bool, room: Room) -> tuple[Picks, Ints]:
        """The picks of an ask and their rows; where it fails nothing stays pending."""
        picks, rows = None, np.empty(0, dtype=np.int64)
        try:
            while True:
                more = self._choose(n if n is None else n - len(rows), fill, room)
                rows = np.concatenate([rows, self._run.hand_out(more)])
                picks = more if picks is None else picks.joined(more)
                if not fill or not len(more.ids) or n is None or len(rows) >= n:
                    return picks, rows
        except BaseException:
            self._run.take_back(rows)
            raise

    def _take_in(self) -> None:
        """Let the model take in what has been told: the start of a batch, and nowhere else."""
        run = self._run
        events = run.take_in(rules_for(self, self._parts, run), self._look)
        self._set("_look", None)
        for event in events:
            run.note(**event)
            if event["event"] == "refuted":
                warnings.warn(refutation(event, self.delta), RuntimeWarning, stacklevel=3)

    def _choose(self, n: int | None, plate: bool, room: Room) -> Picks:
        """Uniform draws where the learner wants some or nothing is known, else the chooser's."""
        run, asked = self._run, self.t + self.pending
        limit = (n or _LONGEST) if self.adaptive else (n or self.batch_size)
        learner, space = run.beliefs.learner, self.domain
        if plate and self._parts.spreads and space.listed and (not self.t or learner.unfitted):
            now = moment_of_ask(self, self._parts, run, room, plate=False)
            return first_plate(now, space, limit)
        draws = learner.wanted(asked)
        if not draws and not asked and self._parts.starts_uniformly:
            # BKB 3.1, BBKB Algorithm 1, line 1
            draws = 1 if self.adaptive else limit
        now = moment_of_ask(self, self._parts, run, room, plate=plate)
        if not draws:
            picks = run.chooser.choose(now, limit)
            if n is None and self.adaptive and len(picks.ids) == _LONGEST:
                now.note("batch cut", points=_LONGEST)
            return picks
        # ask(n) of a sequential rule gives n points whatever they are.
        count = min(draws, limit) if self.adaptive else limit
        if run.beliefs.learner.how.spreads:
            rng = np.random.default_rng([int(self.seed or 0), _DESIGN])
            return spread_picks(now, asked, count, rng)
        return uniform_picks(now, count)

    def tell(self, points: Batch | Any, rewards: Any, *, unasked: bool = False) -> None:
        """Report evaluations: a batch (or part of one, ``batch[:3]``), or ids, with n rewards.

        In any order, in parts, late; also of choices nobody asked for, such as old data. On a box
        or space, points (n × d, or dicts by name) stand in place of ids. With ``unasked`` pending
        evaluations of the same choices stay pending.
        """
        run = self._run
        rows = run.old_rows(points)
        if rows is None:
            ids, where = self._locate(points)
            values = _checks.rewards(rewards, len(ids))
            rows = run.observations.rows(ids, where)
        else:
            values = _checks.rewards(rewards, len(rows))
        before = self.t
        run.observations.tell(rows, values, unasked=unasked)
        run.beliefs.learner.told(before, rows)

    def expect(self, points: Any) -> None:
        """These ids, or points of a box, are being evaluated already: they are pending now."""
        run = self._run
        run.observations.ask(run.observations.rows(*self._locate(points)))

    def cancel(self, points: Batch | Any) -> None:
        """These pending points will never be told: they stop counting in the variance."""
        self._run.take_back(self._asked_rows(points))
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
        proved = self.width in self._parts.proved and not self.learnt
        for row in rows.tolist():
            run.fail(row, may_invent=not proved)

    def set_aside(self, ids: Any) -> None:
        """Ask for these candidates of a list no more; what is known of them stays."""
        self._run.observations.set_aside(_checks.candidates("set aside", self.domain, ids))

    def bring_back(self, ids: Any) -> None:
        """Candidates that were set aside may be asked for again."""
        self._run.observations.bring_back(_checks.candidates("brought back", self.domain, ids))

    def _asked_rows(self, points: Batch | Any) -> Ints:
        """The rows of a batch, or of ids or points; −1 for what was never asked for."""
        rows = self._run.old_rows(points)
        if rows is None:
            return self._run.observations.known_rows(*self._locate(points))
        return rows

    def replace_candidates(self, candidates: Any) -> None:
        """Choose from another list from now on; the history stays, ids mean the new list.

        Batches handed out before can still be told.
        """
        if not self.domain.listed:
            raise TypeError("only a list of candidates can be replaced, not a box or space")
        domain = self._list_like(candidates, same_type=False)
        self._parts.check_list(domain, self.assumed)
        self._run.chooser.restart(domain)
        self._run.observations.replace_list()
        self._choose_from(domain)
        self._run.note("list replaced", length=len(domain))

    def add_candidates(self, candidates: Any) -> None:
        """Choose from more candidates from now on: they come after the others, whose ids stay.

        Bounds of the old candidates stay, new ones start from the prior. Lists in files and on a
        cluster cannot grow.
        """
        more = self.as_more(candidates)
        domain = as_candidates(self.domain).joined(more)
        self._parts.check_list(domain, self.assumed)
        self._run.chooser.extend(domain)
        self._choose_from(domain)
        self._run.note("candidates added", candidates=len(more))

    def as_more(self, candidates: Any) -> Candidates:
        """Candidates that can be added, in the type that the list's points have; a look."""
        if not self.domain.listed:
            raise TypeError("candidates can be added to a list only, not to a box or space")
        return self._list_like(candidates, same_type=True)

    def _list_like(self, candidates: Any, *, same_type: bool) -> Candidates:
        """Candidates of the same kind as the list's, checked."""
        old = as_candidates(self.domain)
        kernel = self.assumed.kernel
        return as_list_like(old, candidates, self.kernel, kernel, same_type=same_type)

    def _choose_from(self, domain: Candidates) -> None:
        """Use another list from now on; beliefs worked out for a look are for the old one."""
        self._set("domain", domain)
        self._set("_look", None)

    def _locate(self, points: Batch | Any) -> tuple[Ints, Points]:
        """Ids and points of what a user gave, checked."""
        if isinstance(points, Batch):
            points = points.ids if self.domain.listed else points.points
        space: Domain = self.domain
        return space.locate(points)

    # -- what is known: looking changes nothing ----------------------------------------------

    def _looked(self) -> Beliefs:
        """Beliefs with everything told taken in, as the next ask will have them."""
        run = self._run
        if run.beliefs.is_current(run.observations):
            return run.beliefs
        look = self._look
        if look is None or not look.is_current(run.observations):
            look = run.look(rules_for(self, self._parts, run))
            self._set("_look", look)
        return look.beliefs

    @property
    def chooser(self) -> Chooser:
        """Who is next? The part that picks, with what it remembers."""
        return self._run.chooser

    def moment(self, *, pending: bool = True) -> Moment:
        """What the chooser knows now, for a look."""
        beliefs = self._looked()
        return moment_of_look(self, self._parts, self._run, beliefs, pending=pending)

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
        where nothing has been told yet. Pending evaluations do not count. Once the rewards have
        refuted the assumptions, intervals are mean ± max(beta, 2) · std and gaps are infinite.
        """
        k = _checks.count("k", k)
        with one_blas_thread():
            return recommendations(self._run.chooser, self.moment(pending=False), k)

    def top_gap(self, k: int | None = None) -> float:
        """How much better than the worst of ``top(k)`` a candidate outside of them can be (lists).

        0 where none can be better: then ``top(k)`` are the k best. Holds with probability 1 − δ
        where :attr:`proved`; infinite once the rewards have refuted the assumptions. ``k`` is
        :attr:`aim` by default.
        """
        k = self.aim if k is None else _checks.count("k", k)
        if not self.domain.listed:
            raise ValueError("top_gap needs a list of candidates: a box has none to count")
        with one_blas_thread():
            return top_gap(self._run.chooser, self.moment(pending=False), k)

    @property
    def exhausted(self) -> bool:
        """Whether every candidate is set aside or was evaluated ``repeats`` times, or is being."""
        return not room_now(self, self._run).open

    @property
    def aside(self) -> Ints:
        """Candidates that are not asked for, in rising order (ids); see :meth:`set_aside`."""
        return self._run.observations.aside_ids

    def failing(self, times: int) -> Ints:
        """Candidates of a list that have failed so often, in rising order (ids)."""
        return self._run.observations.failing(_checks.count("times", times))

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
        return self._run.observations.counts(*self._locate(points))

    @property
    def history(self) -> History:
        """Everything told, in order, without evaluations that failed."""
        return self._run.history()

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
