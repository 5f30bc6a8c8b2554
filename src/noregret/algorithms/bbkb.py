"""BBKB (Calandriello et al., ICML 2020): adaptive batches on a dictionary, near-linear time."""

import math
from dataclasses import InitVar, dataclass
from typing import Literal

from noregret import _checks
from noregret.algorithms.bkb import check_qbar, checked_dictionary
from noregret.batching import BatchRule, GlobalRatio, LocalRatio
from noregret.learning.learner import Learning, is_auto
from noregret.models.fantasy import Fantasy
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.boxes.spectral_ratio import SpectralRatio
from noregret.picking.chooser import Chooser
from noregret.picking.draws import DrawnFunctions, draws
from noregret.picking.explore import until_certain
from noregret.picking.turns import WideTurns
from noregret.picking.ucb import ucb
from noregret.running.members import beside_property
from noregret.widths import gaussian
from noregret.widths.evidence import Evidence, theory

#: the widths that a theorem covers
_PROVED = ("theory", "paper")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BBKB(Optimizer):
    """BBKB: adaptive batches on a sparse GP, in near-linear time.

    Dictionary and feedback are frozen within a batch. The batch ends when posterior variances may
    have shrunk by more than C̃ since its start, so batches grow as the run goes on.

    Proved: with ``width="theory"``, for any q̄, f lies within the bounds, for all choices and at
    all times, with probability 1 − δ (the Proofs page). Inside a batch deviations are multiplied by
    √C̃, and the bounds are intersected with those of the batch start. With ``width="paper"`` the
    same holds by Theorem 2 of the paper, for ``qbar="theory"`` and ``dictionary="resample"``. Not
    proved: other widths, learnt settings, ``acquisition="thompson"``.

    With a learnt kernel and a width that is not proved, bounds are twice as wide in every third
    batch: such a kernel underestimates what lies far from the evaluations. Fits of settings see
    rewards moved to within 3 robust deviations of their median.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, bounds, search, repeats, aim
        As for :class:`~noregret.GPUCB`.
    width
        ``"theory"``: the tightest that the library can prove; arms are then added to the dictionary
        until what it leaves out hardly widens the bounds. ``"paper"``: C̃·β̃ of Theorem 2.
        ``"practical"``: √λF + ξ√(C̃ Σ log(1 + σ̃²) + log 1/δ), divided by √λ, what the authors run.
        A number or a function: see :class:`~noregret.Optimizer`. Inside a batch only the deviations
        of ``"theory"`` are multiplied by √C̃; ``"paper"`` has C̃ in place of √C̃. Otherwise bounds
        are mean ± β·std with the deviation after the picks so far.
    qbar
        Oversampling q̄: larger is more accurate and slower. ``"theory"``: 72 C̃ log(4t/δ).
    ratio
        C̃ ≥ 1; 1 gives batches of one.
    batch_rule
        ``"global"``: Lemma 1. ``"local"``: the ratio itself over the candidates looked at (Section
        4), for the longest batches; on a box Lemma 3 for all points at once, by the largest
        eigenvalue of the picks' posterior covariance matrix.
    min_batch
        P: first sample where the variance is largest until every leverage is at most 1/P
        (Algorithm 3), after which batches have at least P(C̃ − 1)/3 points (A.5).
    dictionary
        ``"grow"``: old inducing points stay, and each arm told is drawn once. ``"resample"``: a new
        draw at every batch, exactly as in the paper.
    acquisition
        ``"ucb"``: the largest upper bound. ``"thompson"``: each pick is the maximiser of a
        function drawn from the posterior at the batch start (Section 6); on a box, the best of
        fresh Sobol points and the best points told, moved uphill by gradients. No theorem covers
        these choices. The paper calls the extension of its Theorem 2 straightforward, but regret
        bounds for Thompson sampling of a fixed f (Chowdhury & Gopalan 2017, GP-TS) are about draws
        whose deviations are multiplied by the width β̃. Ours have the posterior's own, which explore
        far less. Bounds hold as with ``"ucb"``, as they do for any choices.
    """

    qbar: float | Literal["theory"] = 2.0
    ratio: float = 2.0
    batch_rule: Literal["global", "local"] = "global"
    min_batch: int | None = None
    dictionary: InitVar[Literal["grow", "resample"]] = beside_property("grow")
    acquisition: Literal["ucb", "thompson"] = "ucb"

    adaptive = True

    def __post_init__(self, dictionary: str) -> None:
        object.__setattr__(self, "dictionary", dictionary)
        super().__post_init__()

    def parts(self) -> Parts:
        """A dictionary that is frozen within a batch, and a rule that ends the batch."""
        check_qbar(self.qbar)
        _checks.at_least_one("ratio", self.ratio)
        _checks.one_of("batch_rule", self.batch_rule, ("global", "local"))
        _checks.one_of("acquisition", self.acquisition, ("ucb", "thompson"))
        chooser: Chooser = ucb(self.domain, self.search)
        if self.acquisition == "thompson":
            chooser = DrawnFunctions(chooser, draws(self.domain, self.search))
        elif is_auto(self.kernel) and self.width not in _PROVED:
            chooser = WideTurns(chooser)
        return Parts(
            chooser=until_certain(chooser, self.min_batch, self.domain, self.search),
            widths={"theory": theory, "paper": _paper, "practical": _practical},
            proved=_PROVED,
            learning=Learning(winsorises=True),
            dictionary=checked_dictionary(self),
            qbar=self._qbar,
            ratio=self.ratio,
            rule=self._rule,
            # With the local rule, picks outside the span shrink no variance and would never end a
            # batch.
            frozen=self.batch_rule == "global",
            inflation={"theory": math.sqrt(self.ratio), "paper": self.ratio},
            many=True,
        )

    def _rule(self, fantasy: Fantasy) -> BatchRule:
        if self.batch_rule == "global":
            return GlobalRatio(self.ratio, fantasy.pending)
        if self.domain.size is None:
            return SpectralRatio(self.ratio, fantasy.posterior, fantasy.pending)
        return LocalRatio(self.ratio)

    def _qbar(self, t: int) -> float:
        if isinstance(self.qbar, str):
            return gaussian.bbkb_qbar(self.ratio, t, self.delta)
        return self.qbar


def _paper(e: Evidence) -> float:
    return gaussian.bbkb(e.noise, e.norm, e.lam, e.delta, e.summed_three)


def _practical(e: Evidence) -> float:
    return gaussian.practical(e.noise, e.norm, e.lam, e.delta, e.ratio, e.summed)
