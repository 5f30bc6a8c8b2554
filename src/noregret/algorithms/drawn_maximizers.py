"""Parts and looks that the algorithms share which choose maximisers of drawn functions."""

from typing import Any, cast

from noregret import _checks
from noregret.algorithms.uniform import SPARSE_WIDTHS
from noregret.learning.learner import Learning
from noregret.linalg.threads import one_blas_thread
from noregret.optimizer import Optimizer
from noregret.parts import Parts
from noregret.picking.thompson import FEATURES, Thompson, paths
from noregret.picking.ucb import ucb

#: q̄: twice the usual value, so that draws differ from the exact posterior's by hundredths only
_QBAR = 4.0
#: the spread of F_t, in units of the space, at which a run has converged
CONVERGED = 0.02


def thompson_parts(
    optimizer: Optimizer, xi: float, n_init: int, features: str | None, fit_on: str = "random"
) -> Parts:
    """The parts of algorithms that choose maximisers of functions drawn from the posterior.

    Settings are fitted to the uniform draws, or with ``fit_on="all"`` to all evaluations.
    """
    if _checks.not_negative("xi", xi) > 1:
        raise ValueError(f"xi must be a probability, got {xi!r}")
    _checks.count("n_init", n_init)
    _checks.count("batch_size", optimizer.batch_size)
    if features is not None:
        _checks.one_of("features", features, FEATURES)
    domain, search = optimizer.domain, optimizer.search
    by_bounds, drawn = ucb(domain, search), paths(domain, search)
    assert optimizer.seed is not None
    return Parts(
        chooser=Thompson(by_bounds, drawn, features, xi, n_init, optimizer.seed),
        widths=SPARSE_WIDTHS,
        proved=("theory",),
        dictionary="grow",
        qbar=_qbar,
        learning=Learning(
            design=max(n_init, 2),  # a fit needs two evaluations
            fit_on=fit_on,
            # The average of points that were chosen is no prior mean.
            fits_mean=fit_on == "all",
            max_points=1000,
            share=0.0,  # uniform draws come with probability ξ
            expects_signal=False,
        ),
    )


def refuse_features(optimizer: Optimizer) -> None:
    """Refuse features that the kernel or the space does not have."""
    cast(Thompson, optimizer.chooser).prepare(optimizer.assumed.kernel)


def maximizer_samples(optimizer: Optimizer, n: int) -> Any:
    """n draws of the maximiser: ids (n), or points of a box (n × d)."""
    n = _checks.count("n", n)
    with one_blas_thread():
        ids, points = cast(Thompson, optimizer.chooser).maximisers(optimizer.situation(), n)
    return optimizer.domain.references(ids, points)


def converged(optimizer: Optimizer, tol: float) -> bool:
    """Whether the spread of the maximiser's draws is below ``tol``."""
    tol = _checks.positive("tol", tol)
    with one_blas_thread():
        return cast(Thompson, optimizer.chooser).spread(optimizer.situation()) < tol


def _qbar(t: int) -> float:
    return _QBAR
