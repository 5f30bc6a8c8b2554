"""The one optimiser: ask and tell, made of the parts that an algorithm names."""

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import IO, Any, Literal, Self

import numpy as np

from noregret import _checks
from noregret._types import Floats, Ints, Points
from noregret.kernels import AnyKernel
from noregret.learning.beliefs import Beliefs
from noregret.linalg.threads import one_blas_thread
from noregret.models.assumptions import Assumptions
from noregret.parts import Parts, Width
from noregret.picking.certify import certificate
from noregret.picking.chooser import Chooser, Situation
from noregret.picking.recommend import prediction, prediction_at, recommendations, top_gap
from noregret.results import Batch, History, Recommendation
from noregret.running import failures, members, state
from noregret.running.asking import MOST_ASKED, look, pick, room_of
from noregret.running.changed_lists import domain_for, list_for
from noregret.running.run import Run, located
from noregret.running.settings import learnt_settings
from noregret.running.setup import Setup
from noregret.spaces import Candidates, as_domain, list_to_change
from noregret.widths.certificate import Certificate


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Optimizer(ABC):
    """An optimiser of a noisy function over a list of candidates or a box, by ask and tell.

    Its settings are frozen: :meth:`replace` makes a new optimiser with other settings. Methods that
    only look (``predict``, ``recommend``, ``beta``, …) leave the run as it is, bit for bit.

    Parameters
    ----------
    domain
        :class:`~noregret.Candidates` (or what makes them), a :class:`~noregret.Box`, or a
        :class:`~noregret.Space`.
    kernel
        A kernel, a scikit-learn kernel object or any callable ``k(xs, ys) -> matrix``. ``"auto"``:
        Matérn 5/2 with a lengthscale per dimension (on a list also for logarithms of columns that
        span decades), times Hamming for choices; :class:`~noregret.Tanimoto` for packed bits and 64
        or more columns of 0 and 1. Fitted after 10 draws, then as evaluations grow by a quarter.
    noise
        ξ, the standard deviation of the noise (its sub-Gaussian constant). ``"auto"``: fitted; if
        the rewards show heavy tails, the run goes on as with ``"heavy"`` (see ``opt.events``).
        ``"heavy"``: rewards have outliers; the mean is a Huber regression and the scale is fitted,
        as for :class:`~noregret.HuberGPUCB`, and no theorem covers the bounds.
    norm
        F, a bound on the function's norm in the kernel's RKHS; ``"auto"``: fitted first, and
        doubled whenever rewards contradict the bounds (see ``opt.events``).
    delta
        The bounds hold with probability at least 1 − δ.
    lam
        λ, the regularisation; by default ξ², as for a GP (at least 1e-8 of the largest k(x, x)).
    seed
        Makes every answer repeatable. By default it is drawn at random; read it at ``opt.seed``.
    width
        How wide bounds are: a name that the algorithm knows, a number β for mean ± β·std, or a
        function of an :class:`~noregret.widths.evidence.Evidence` that gives β.
    bounds
        ``"intersected"``: every candidate of a list keeps its smallest upper bound so far; the
        default if the width is proved. ``"current"``: each bound as the posterior now gives it, the
        papers' rule; the default for other widths and if settings are learnt. Equal on a box.
    search
        How a box is searched: ``"gradients"`` (climbs from many starts) or ``"direct"`` (DIRECT).
    repeats
        The most evaluations of one candidate of a list, until :attr:`exhausted`. ``None``: any
        number; one while others are left if the noise is learnt and repeats agree exactly.
    aim
        k, how many of the best candidates of a list are looked for. With k > 1 the pick has the
        largest upper bound outside the k best so far, or the smallest lower bound of these k,
        whichever is less certain (:class:`~noregret.PlateUCB` has a rule of its own). Refused by
        algorithms that look for one best choice: Thompson sampling, π-GP-UCB, simple baselines.
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
    #: how many points ``ask()`` gives if the batch rule is not adaptive
    batch_size = 1
    #: what stays as it is and what changes; both are made when the optimiser is made
    _setup: Setup = field(init=False)
    _run: Run = field(init=False)

    @abstractmethod
    def parts(self) -> Parts:
        """What the algorithm is made of, for the settings given."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        members.refuse_overrides(cls, Optimizer)

    def __new__(cls, *given: Any, **settings: Any) -> Self:
        """Refuse misspelt settings before the generated ``__init__`` does, without a hint."""
        members.refuse_unknown(cls, given, settings)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        members.refuse_hidden_settings(self)
        vars(self).update({name: _checks.plain(value) for name, value in vars(self).items()})
        vars(self)["domain"] = domain_for(self.kernel, as_domain(self.domain))
        if self.seed is None:
            vars(self)["seed"] = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
        vars(self)["_setup"] = Setup.of(self)
        vars(self)["_run"] = self._setup.start()

    # -- ask and tell ------------------------------------------------------------------------

    def ask(self, n: int | None = None, *, fill: bool = False) -> Batch:
        """What to evaluate next.

        A sequential rule gives one point, or exactly ``n`` with ``ask(n)``. An adaptive rule gives
        a whole batch, of at most ``n`` points with ``ask(n)``. ``ask(n, fill=True)`` always gives
        ``n``. Points not told yet count in the variance, never in the mean.

        A full batch of a list is a *plate*. It holds no candidate twice, unless ``repeats`` is 2 or
        more or the list is too short. The first plate is spread over the list. If ``repeats``
        leaves fewer than ``n``, the plate is shorter; it is empty once all is :attr:`exhausted`.
        An adaptive batch without ``n`` has at most 10,000 points.
        """
        if n is not None:
            n = _checks.count("n", n, most=MOST_ASKED)
        elif fill:
            raise ValueError("n must be given with fill=True: how many points to give")
        setup, run = self._setup, self._run
        if not (room := room_of(setup, run, n if fill else None)).open:
            return Batch(room.closed[:0], self.domain.nothing, [])
        with one_blas_thread():
            run.take_in(setup.rules)
            picks, rows = pick(setup, run, room, n, fill=fill)
        return run.batch(picks, rows, self.domain.labels(picks.ids, picks.points.copy()))

    def tell(self, points: Batch | Any, rewards: Any, *, unasked: bool = False) -> None:
        """Report evaluations: a batch (or part of one, ``batch[:3]``), or ids, with n rewards.

        Evaluations may come in any order, in parts and late, also of choices nobody asked for, such
        as old data. On a box or space give points (n × d, or dicts by name) in place of ids. With
        ``unasked``, pending evaluations of the same choices stay pending.
        """
        run = self._run
        if (rows := run.batch_rows(points)) is None:
            ids, where = located(self.domain, points)
            values = _checks.rewards(rewards, len(ids))
            rows = run.observations.rows(ids, where)
        else:
            values = _checks.rewards(rewards, len(rows))
        run.tell(rows, values, unasked=unasked)

    def expect(self, points: Any, *, uniform: bool = False) -> None:
        """Count these ids, or points of a box, as pending; ``uniform``: they are uniform draws."""
        self._run.expect(*located(self.domain, points), uniform=uniform)

    def cancel(self, points: Batch | Any) -> None:
        """These pending points will never be told: they stop counting in the variance."""
        self._run.take_back(self._run.asked_rows(self.domain, points))

    def fail(self, points: Batch | Any) -> None:
        """These pending points were evaluated and gave no value, as after a crash or a NaN.

        A point that fails stays pending. If it mostly failed, or each of the three most similar
        choices did, the model is told a bad reward, the lowest that is no outlier. This reward
        counts in ``t``, not in ``history``; with proved bounds or equal rewards there is none.
        """
        proved = self.width in self._setup.parts.proved and not self.learnt
        failures.fail(self._run, self._run.asked_rows(self.domain, points), may_invent=not proved)

    def set_aside(self, ids: Any) -> None:
        """Stop asking for these candidates of a list; what is known of them stays."""
        self._run.observations.set_aside(list_to_change(self.domain, "set aside").some(ids))

    def bring_back(self, ids: Any) -> None:
        """Ask again for candidates that were set aside."""
        self._run.observations.bring_back(list_to_change(self.domain, "brought back").some(ids))

    def replace_candidates(self, candidates: Any) -> None:
        """Choose from another list: ids are now its row numbers. History and open batches stay."""
        domain = list_for(self, self._setup.parts, candidates)
        self._run.replace_list(domain)
        self._choose_from(domain)

    def add_candidates(self, candidates: Any) -> None:
        """Add candidates at the end of the list; the ids of the others stay.

        Bounds of the new ones start from the prior. Lists in files and on a cluster cannot grow.
        """
        domain = list_for(self, self._setup.parts, candidates, added=True)
        self._run.extend_list(domain, len(domain) - len(self.domain))
        self._choose_from(domain)

    def _choose_from(self, domain: Candidates) -> None:
        vars(self)["domain"] = domain
        vars(self)["_setup"] = self._setup.renewed()

    # -- what is known: looking changes nothing ----------------------------------------------

    @property
    def beliefs(self) -> Beliefs:
        """What is believed with everything told taken in, as the next ask will have it."""
        return self._run.looked(self._setup.rules)

    @property
    def chooser(self) -> Chooser:
        """The part that picks the next points, with what it remembers."""
        return self._run.chooser

    def situation(self, *, pending: bool = True) -> Situation:
        """What the chooser knows now, for a look."""
        return look(self._setup, self._run, pending=pending)

    def predict(self, points: Any = None, *, pending: bool = True) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation of some ids (all by default), or points of a box.

        Pending points count in the deviation (not with ``pending=False``), never in the mean.
        """
        ids, where = self.domain.locate_all() if points is None else located(self.domain, points)
        with one_blas_thread():
            return prediction(self._run.chooser, self.situation(pending=pending), ids, where)

    def predict_points(self, points: Any, *, pending: bool = True) -> tuple[Floats, Floats]:
        """As :meth:`predict`, for any points (n × d), on the list or not."""
        with one_blas_thread():
            return prediction_at(self.situation(pending=pending), self.domain.any_points(points))

    def recommend(self) -> Recommendation:
        """Of the choices told, the one with the largest lower bound; with its interval and gap."""
        return self.top(1)[0]

    def top(self, k: int) -> list[Recommendation]:
        """Of the choices told, the k with the largest lower bounds, best first.

        With intervals, counts and means of rewards; one choice if nothing has been told. Once the
        rewards refute the assumptions, intervals are mean ± max(beta, 2) · std, gaps infinite.
        """
        with one_blas_thread():
            return recommendations(self._run.chooser, self.situation(pending=False), k)

    def top_gap(self, k: int | None = None) -> float:
        """How much better than the worst of ``top(k)`` a candidate outside of them can be (lists).

        0: ``top(k)`` are the k best. Holds with probability 1 − δ if :attr:`proved` is true;
        infinite once the rewards have refuted the assumptions. By default k is :attr:`aim`.
        """
        k = self.aim if k is None else k
        with one_blas_thread():
            return top_gap(self._run.chooser, self.situation(pending=False), k)

    @property
    def exhausted(self) -> bool:
        """Whether each candidate is set aside or has ``repeats`` evaluations, told or pending."""
        return not room_of(self._setup, self._run).open

    @property
    def aside(self) -> Ints:
        """Candidates that are not asked for, in rising order (ids); see :meth:`set_aside`."""
        return self._run.observations.aside_ids

    def failing(self, times: int) -> Ints:
        """Candidates of a list that failed this often, and more often than they gave values."""
        return self._run.observations.failing_ids(_checks.count("times", times))

    def certify(self, *, norm: float | None = None, tol: float | None = None) -> Certificate:
        """How far from the best the recommendation can still be, and under which assumptions.

        Computed from the exact posterior (A·u² multiplications for A candidates and u arms told);
        above 10¹², from the run's own. On a box by branch and bound: seconds in three dimensions,
        minutes in six. It needs sub-Gaussian noise. ``norm``: another bound on the norm, for which
        no new run is needed. ``tol``: also find the largest norm for which the gap is at most this.
        """
        with one_blas_thread():
            return certificate(self, self._run.observations, self.beliefs, norm, tol)

    @property
    def alive(self) -> int | None:
        """How many can still be the best; ``None`` on a box, for baselines, and without a proof.

        The number can rise a little from one look to the next; the smallest one seen holds.
        """
        with one_blas_thread():
            return self._run.chooser.alive(self.situation(pending=False))

    @property
    def proved(self) -> bool:
        """Whether intervals and gaps are proved, for the settings given.

        Not for widths without a theorem, learnt settings, or settings that the rewards refute. On a
        box only with ``width="theory"``, RBF or Matérn or a multiple, and up to 8 dimensions.
        """
        now = self.situation(pending=False)
        return self._setup.covered and not now.beliefs.refuted and self.chooser.proves_gaps(now)

    @property
    def learnt(self) -> tuple[str, ...]:
        """Which of kernel, noise and norm are learnt from the rewards."""
        return learnt_settings(self)

    @property
    def beta(self) -> float:
        """The width in use: bounds are mean ± beta · std."""
        with one_blas_thread():
            return self.situation().beta

    @property
    def assumed(self) -> Assumptions:
        """Kernel, noise, norm, λ and units in use: as given, or learnt so far."""
        return self.beliefs.assumed

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
        return self._run.observations.counts(*located(self.domain, points))

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
        """The inducing points: ids (m; −1 if of a replaced list), or points of a box (m × d)."""
        ids = self._run.observations.ids[self.beliefs.dictionary]
        return self.domain.references(ids, self.dictionary_points)

    @property
    def dictionary_points(self) -> Points:
        """The inducing points (m × d, or m objects)."""
        return np.asarray(self._run.observations.points[self.beliefs.dictionary])

    def effective_dimension(self) -> float:
        """Σ leverage over all evaluations, the posterior's degrees of freedom (BKB eq. 5)."""
        return self.beliefs.effective_dimension()

    def information_gain(self) -> float:
        """½ log det(K_t/λ + I) of the evaluations told, on the dictionary's span."""
        return 0.5 * self.beliefs.log_det()

    # -- other settings, and files -----------------------------------------------------------

    def replace(self, **settings: Any) -> Self:
        """A new optimiser with some settings changed, told the same history in the same order."""
        given = {**self.settings(), "kernel": self.kernel, "domain": self.domain, **settings}
        made = type(self)(**given)
        made._run.repeat(self._run, self.domain, made.domain)
        return made

    def settings(self) -> dict[str, Any]:
        """The settings by name, without domain and kernel."""
        return {name: vars(self)[name] for name in members.setting_names(type(self))}

    def save(self, path: str | os.PathLike[str] | IO[bytes], *, candidates: bool = True) -> None:
        """Write the run to a file or binary file object, for ``nr.load``; the list is optional."""
        state.save(path, self, self._run, candidates=candidates)

    def save_look(self, file: IO[bytes]) -> bool:
        """Write the settings that looks have fitted since the last ask; whether there were any."""
        if look := self._run.fitted_look:
            state.save(file, self, look, candidates=False)
        return look is not None

    def use_look(self, saved: state.Saved) -> None:
        """Use what a look at the same run, after the same answers, has fitted."""
        self._run.use(saved.run(self.domain, self.kernel, like=self._run), self._setup.rules)

    def resume(self, saved: state.Saved, kernel: Any) -> None:
        """Go on from a run that was saved with these settings."""
        vars(self)["_run"] = saved.run(self.domain, kernel, like=self._run)
        self._run.go_on(self.domain)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r}, t={self.t})"
