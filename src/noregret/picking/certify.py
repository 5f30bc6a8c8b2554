"""A certificate from a run: the exact posterior of what was told, at every candidate."""

from typing import Any

import numpy as np

from noregret import _checks
from noregret._types import Floats
from noregret.learning.beliefs import Beliefs, log_det_bounds
from noregret.models.assumptions import noise_lams
from noregret.models.posterior import Posterior
from noregret.models.sparse import SparseGP
from noregret.observations import Observations
from noregret.results import Recommendation
from noregret.widths import proved
from noregret.widths.certificate import Certificate, ConfidenceSet

#: multiplications that an exact certificate may take
_MOST_WORK = 1e12
#: candidates looked at at a time
_PIECE = 8192


def certificate(
    optimizer: Any,
    observations: Observations,
    beliefs: Beliefs,
    norm: float | None,
    tol: float | None,
) -> Certificate:
    """A certificate for the recommendation of an optimiser on a list.

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
    if not space.listed:
        raise ValueError("certify needs a list of candidates: a box is searched, not proved")
    found: Recommendation = optimizer.recommend()
    arms = int((observations.told > 0).sum())
    exact = len(space) * float(arms) ** 2 <= _MOST_WORK
    if not exact and not isinstance(beliefs, Beliefs):
        raise ValueError(
            f"certify takes {len(space):,} × {arms:,}² multiplications here, more than "
            f"{_MOST_WORK:g}, and this algorithm has no single sparse model to use instead"
        )
    model = _exact_model(beliefs, observations) if exact else beliefs.model
    best = max(found.id, 0)
    allowed = _confidence_set(model, beliefs, observations, optimizer.delta, space, best)
    norm = assumed.norm if norm is None else norm
    lower, upper = allowed.bounds(norm)
    smallest = allowed.smallest_norm()
    certified, why = _grounds(optimizer, beliefs, norm, smallest)
    unit = assumed.unit
    return Certificate(
        id=found.id,
        point=found.point,
        lower=float(assumed.reward(lower[best])),
        upper=float(assumed.reward(upper[best])),
        gap=unit * allowed.gap(norm),
        alive=int(((upper >= lower.max()) & (allowed.better(norm) >= 0.0)).sum()),
        certified=certified,
        assumptions=why,
        norm=norm,
        smallest_norm=smallest,
        largest_norm=None if tol is None else allowed.largest_norm(tol / unit, norm),
        tol=tol,
    )


def _exact_model(beliefs: Beliefs, observations: Observations) -> SparseGP:
    """The posterior with every arm told as an inducing point, for a grid of λ fixed beforehand."""
    assumed, told = beliefs.assumed, np.flatnonzero(observations.told)
    lams = noise_lams(assumed.noise, assumed.scale, many=True)
    points = observations.points[told]
    model = SparseGP(assumed.kernel, lams, points[:0], assumed.scale)
    sums = np.asarray(assumed.seen(observations.sums, observations.told))[told]
    model.rebuild(points, observations.told[told], sums, np.arange(len(told)))
    return model


def _confidence_set(
    model: SparseGP,
    beliefs: Beliefs,
    observations: Observations,
    delta: float,
    space: Any,
    best: int,
) -> ConfidenceSet:
    """All functions that the rewards allow, with the recommended candidate's id."""
    ridges = model.ridges(observations.scatter / beliefs.assumed.unit**2)
    square = proved.squared_radius(beliefs.assumed.noise, delta, log_det_bounds(model), ridges)
    means, leverages, apart = _everywhere(model.posterior(), space, best)
    lams, trace = np.array(model.lams), model.trace()
    return ConfidenceSet(lams, ridges, means, leverages, best, apart, square, trace)


def _everywhere(posterior: Posterior, space: Any, best: int) -> tuple[Floats, Floats, Floats]:
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
    if smallest > norm:
        return False, f"The rewards refute a norm of {norm:.4g}: they need {smallest:.4g} at least."
    return True, (
        f"With probability {1 - optimizer.delta:g}, for the kernel {assumed.kernel!r}, a norm of "
        f"at most {norm:.4g} and {assumed.noise:.4g}-sub-Gaussian noise."
    )
