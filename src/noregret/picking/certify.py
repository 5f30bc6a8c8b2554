"""A certificate from a run: what the exact posterior of what was told proves."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.learning.beliefs import Beliefs, log_det_bounds
from noregret.models.assumptions import noise_lams
from noregret.models.posterior import Posterior
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.picking.chooser import Interval
from noregret.spaces import Candidates, Space
from noregret.widths import proved
from noregret.widths.certificate import AllowedFunctions, Certificate, ListValues

#: multiplications that an exact certificate on a list may take
_MOST_WORK = 1e12
#: as many points of a box may be told for an exact certificate
_MOST_POINTS = 2000
#: candidates looked at at a time
_PIECE = 8192


class Values(Protocol):
    """The values that allowed functions can have, on a list or in a box."""

    def interval(self, norm: float) -> tuple[float, float]:
        """Lower and upper bound of the recommended choice."""

    def gap(self, norm: float) -> float:
        """By how much some choice may be better than the recommended one."""

    def alive(self, norm: float) -> int | None:
        """How many candidates can still be the best; ``None`` in a box."""

    def largest_norm(self, tol: float, start: float) -> float:
        """The largest norm for which the gap is at most ``tol``; 0 where none is."""


def certificate(
    optimizer: Any,
    observations: Observations,
    beliefs: Beliefs,
    norm: float | None,
    tol: float | None,
) -> Certificate:
    """A certificate for the recommendation of an optimiser.

    Parameters
    ----------
    optimizer
        For its domain, settings and recommendation.
    observations, beliefs
        What has been seen, and what is believed.
    norm, tol
        As for :meth:`noregret.Optimizer.certify`.
    """
    norm = None if norm is None else _checks.positive("norm", norm)
    tol = None if tol is None else _checks.positive("tol", tol)
    assumed, space = beliefs.assumed, optimizer.domain
    found = optimizer.chooser.ranking(optimizer.situation(pending=False), 1)[0]
    over: OverList | OverBox = OverBox(space) if isinstance(space, Space) else OverList(space)
    model = _model(over, beliefs, observations)
    allowed = _allowed(model, beliefs, observations, optimizer.delta)
    values = over.values(model.posterior(), allowed, found)
    norm = assumed.norm if norm is None else norm
    lower, upper = values.interval(norm)
    smallest = allowed.smallest_norm()
    certified, why = _grounds(optimizer, beliefs, norm, smallest)
    unit = assumed.unit
    return Certificate(
        id=found.id,
        point=space.labels(np.array([found.id]), [found.point])[0],
        lower=float(assumed.reward(lower)),
        upper=float(assumed.reward(upper)),
        gap=unit * values.gap(norm),
        alive=values.alive(norm),
        certified=certified,
        assumptions=why,
        norm=norm,
        smallest_norm=smallest,
        largest_norm=None if tol is None else values.largest_norm(tol / unit, norm),
        tol=tol,
    )


@dataclass(frozen=True)
class OverList:
    """What certificates on a list need."""

    space: Candidates

    def too_much(self, arms: int) -> str | None:
        """Why so many arms told are too many for the exact posterior; ``None`` if they are not."""
        size = len(self.space)
        if size * float(arms) ** 2 <= _MOST_WORK:
            return None
        return f"{size:,} × {arms:,}² multiplications here, more than {_MOST_WORK:g}"

    def values(self, posterior: Posterior, allowed: AllowedFunctions, found: Interval) -> Values:
        """The values that allowed functions can have, around the recommended choice."""
        best = max(found.id, 0)
        means, leverages, apart = _everywhere(posterior, self.space, best)
        return ListValues(allowed, means, leverages, best, apart)


@dataclass(frozen=True)
class OverBox:
    """What certificates in a box or space need."""

    space: Space

    def too_much(self, arms: int) -> str | None:
        """Why so many arms told are too many for the exact posterior; ``None`` if they are not."""
        if arms <= _MOST_POINTS:
            return None
        return f"at most {_MOST_POINTS:,} different points here, got {arms:,}"

    def values(self, posterior: Posterior, allowed: AllowedFunctions, found: Interval) -> Values:
        """The values that allowed functions can have, around the recommended choice."""
        from noregret.picking.boxes.gaps import BoxValues  # lists do not need it

        return BoxValues(allowed, posterior, self.space, found.point[None])


def _model(over: OverList | OverBox, beliefs: Beliefs, observations: Observations) -> SparseGP:
    """The exact posterior, or the run's own if that would take too long."""
    why = over.too_much(int((observations.told > 0).sum()))
    if why is None:
        return _exact_model(beliefs, observations)
    if not isinstance(beliefs, Beliefs):
        raise ValueError(
            f"certify takes {why}, and this algorithm has no single sparse model to use instead"
        )
    return beliefs.model


def _exact_model(beliefs: Beliefs, observations: Observations) -> SparseGP:
    """The posterior with every arm told as an inducing point, for a grid of λ fixed beforehand."""
    assumed, told = beliefs.assumed, np.flatnonzero(observations.told)
    lams = noise_lams(assumed.noise, assumed.scale, many=True)
    points = observations.points[told]
    model = SparseGP(assumed.kernel, lams, points[:0], assumed.scale)
    sums = np.asarray(assumed.seen(observations.sums, observations.told))[told]
    model.rebuild(points, observations.told[told], sums, np.arange(len(told)))
    return model


def _allowed(
    model: SparseGP, beliefs: Beliefs, observations: Observations, delta: float
) -> AllowedFunctions:
    """All functions that the rewards allow."""
    ridges = model.ridge(observations.scatter / beliefs.assumed.unit**2)()
    square = proved.squared_radius(beliefs.assumed.noise, delta, log_det_bounds(model), ridges)
    return AllowedFunctions(np.array(model.lams), ridges, square, model.trace())


def _everywhere(
    posterior: Posterior, space: Candidates, best: int
) -> tuple[Floats, Floats, Floats]:
    """Means and leverages of all candidates, and those of their differences to one (g × A each)."""
    shape = (len(posterior.lams), len(space))
    means, leverages, apart = np.empty(shape), np.empty(shape), np.empty(shape)
    one = space.at(np.array([best]))
    z = posterior.embed(one)[0]
    for start in range(0, len(space), _PIECE):
        ids = np.arange(start, min(start + _PIECE, len(space)))
        points = space.at(ids)
        Z = posterior.embed(points)
        means[:, ids] = posterior.thetas @ Z.T
        leverages[:, ids] = posterior.leverages(Z, posterior.residual(Z, points))
        apart[:, ids] = posterior.leverages(*posterior.apart(points, Z, one, z))
    return means, leverages, apart


def _grounds(optimizer: Any, beliefs: Beliefs, norm: float, smallest: float) -> tuple[bool, str]:
    """Whether there is a proof, and its assumptions or why there is none."""
    assumed = beliefs.assumed
    if optimizer.learnt:
        learnt = ", ".join(optimizer.learnt)
        return False, f"Learnt from the same rewards, so nothing is proved: {learnt}."
    if beliefs.allows_heavy_tails:
        return False, (
            f"{type(optimizer).__name__} allows for noise with heavy tails. A certificate needs "
            "sub-Gaussian noise, so it proves nothing here: see opt.recommend() and opt.proved."
        )
    if smallest > norm:
        return False, f"The rewards refute a norm of {norm:.4g}: they need {smallest:.4g} at least."
    return True, (
        f"With probability {1 - optimizer.delta:g}, for the kernel {assumed.kernel!r}, a norm of "
        f"at most {norm:.4g} and {assumed.noise:.4g}-sub-Gaussian noise."
    )
