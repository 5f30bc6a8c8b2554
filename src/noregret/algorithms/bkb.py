"""BKB (Calandriello et al., COLT 2019): GP-UCB on a dictionary drawn by leverage scores."""

from dataclasses import InitVar, dataclass
from typing import Any, Literal

from noregret import _checks
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.ucb import ucb
from noregret.running.members import beside_property
from noregret.widths import gaussian
from noregret.widths.evidence import Evidence, theory


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BKB(Optimizer):
    """BKB: GP-UCB on a dictionary, one point at a time.

    Proved: with ``width="theory"``, for any q̄, f lies within the bounds, for all choices and at
    all times, with probability 1 − δ (the Proofs page). With ``width="paper"`` the same holds by
    Theorem 2 of the paper, for ``qbar="theory"`` and ``dictionary="resample"``. Not proved: other
    widths, learnt settings.

    Parameters
    ----------
    domain, kernel, noise, norm, delta, lam, seed, bounds, search, repeats, aim
        As for :class:`~noregret.GPUCB`.
    width
        ``"theory"``: the tightest that the library can prove; arms are then added to the dictionary
        until what it leaves out hardly widens the bounds. ``"paper"``: β̃ of Theorem 2 for
        ``epsilon``. ``"practical"``: √λF + ξ√(Σ log(1 + σ̃²) + log 1/δ), divided by √λ. A number
        or a function: see :class:`~noregret.Optimizer`.
    qbar
        Oversampling q̄: larger is more accurate and slower. ``"theory"``: Theorem 2's.
    epsilon
        ε of Theorem 2, the accuracy of the dictionary.
    dictionary
        ``"grow"``: old inducing points stay, and each arm told is drawn once. ``"resample"``: a new
        draw at every step, exactly as in the paper.
    """

    qbar: float | Literal["theory"] = 2.0
    epsilon: float = 0.5
    dictionary: InitVar[Literal["grow", "resample"]] = beside_property("grow")

    def __post_init__(self, dictionary: str) -> None:
        object.__setattr__(self, "dictionary", dictionary)
        super().__post_init__()

    def parts(self) -> Parts:
        """A dictionary drawn by leverage scores, and the largest upper bound is next."""
        check_qbar(self.qbar)
        _checks.probability("epsilon", self.epsilon)
        return Parts(
            chooser=ucb(self.domain, self.search),
            widths={"theory": theory, "paper": self._paper, "practical": _practical},
            proved=("theory", "paper"),
            dictionary=checked_dictionary(self),
            qbar=self._qbar,
            many=True,
        )

    def _paper(self, e: Evidence) -> float:
        shared = (e.noise, e.norm, e.lam, e.delta)
        trace = e.prior_sum
        return gaussian.bkb(*shared, e.effective_dimension, trace, self.epsilon)

    def _qbar(self, t: int) -> float:
        if isinstance(self.qbar, str):
            return gaussian.bkb_qbar(self.epsilon, t, self.delta)
        return self.qbar


def checked_dictionary(optimizer: Optimizer) -> str:
    """How inducing points are drawn, the setting ``dictionary``; an unknown way is refused."""
    way = optimizer.settings()["dictionary"]
    return _checks.one_of("dictionary", way, ("grow", "resample"))


def check_qbar(qbar: Any) -> None:
    """Refuse a ``qbar`` that is not allowed."""
    if isinstance(qbar, str):
        _checks.one_of("qbar", qbar, ("theory",))
    else:
        _checks.positive("qbar", qbar)


def _practical(e: Evidence) -> float:
    return gaussian.practical(e.noise, e.norm, e.lam, e.delta, 1.0, e.summed)
