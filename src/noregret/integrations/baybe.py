"""A BayBE recommender with our optimiser behind it, for discrete search spaces.

    from noregret.integrations.baybe import NoRegretRecommender

    campaign = Campaign(searchspace, objective, NoRegretRecommender(seed=0))

Needs BayBE: ``pip install "noregret[baybe]"``.
"""

from typing import Any

import numpy as np
from scipy.spatial import KDTree

try:
    from baybe.exceptions import IncompatibleSearchSpaceError, NotEnoughPointsLeftError
    from baybe.searchspace import SearchSpaceType
except ImportError as error:
    raise ImportError(
        'noregret.integrations.baybe needs BayBE: pip install "noregret[baybe]"'
    ) from error

from noregret._types import Floats, Ints
from noregret.algorithms import BBKB
from noregret.integrations.shared.settings import checked_settings
from noregret.spaces import Candidates


class NoRegretRecommender:
    """Recommends rows of a discrete search space, in BayBE's own encoding of its parameters.

    BayBE hands over all measurements at every call, so nothing is kept between calls. Nothing is
    proved: kernel, noise and norm are learnt. The objective must have one output, such as a single
    target or a desirability.

    Parameters
    ----------
    seed
        Makes recommendations repeatable.
    **options
        Settings of the algorithm; see :class:`~noregret.BBKB`.
    """

    def __init__(self, *, seed: int | None = None, **options: Any) -> None:
        self._settings = checked_settings(BBKB, seed, options, [[0.0], [1.0]])

    def recommend(
        self,
        batch_size: int,
        searchspace: Any,
        objective: Any = None,
        measurements: Any = None,
        pending_experiments: Any = None,
    ) -> Any:
        """The next experiments, as rows of the search space.

        Parameters
        ----------
        batch_size
            How many.
        searchspace
            A discrete search space. If BayBE has filtered it, only what is left is recommended.
        objective
            Says which target is measured and what is better; needed if there are measurements.
        measurements, pending_experiments
            Experiments so far and those under way: frames with a column for each parameter, and for
            measurements one for each target.
        """
        if searchspace.type is not SearchSpaceType.DISCRETE:
            raise IncompatibleSearchSpaceError(
                f"searchspace must be discrete, got one of type {searchspace.type.name}"
            )
        space = searchspace.discrete
        allowed, _ = space.get_candidates()
        if len(allowed) < batch_size:
            raise NotEnoughPointsLeftError(
                f"batch_size must be at most {len(allowed)}, the number of candidates left, got "
                f"{batch_size}"
            )
        candidates = _scaled(space.comp_rep, space)
        opt = BBKB(Candidates(candidates), **self._settings)
        if measurements is not None and len(measurements):
            opt.tell(_rows(candidates, space, measurements), _rewards(objective, measurements))
        if pending_experiments is not None and len(pending_experiments):
            opt.expect(_rows(candidates, space, pending_experiments))
        left = space.exp_rep.index.get_indexer(allowed.index)
        opt.set_aside(np.setdiff1d(np.arange(len(candidates)), left))
        return space.exp_rep.iloc[opt.ask(batch_size, fill=True).ids]


def _scaled(encoded: Any, space: Any) -> Floats:
    """Encoded experiments (n × d), each column from 0 to 1 over the search space."""
    low, high = space.comp_rep.min(), space.comp_rep.max()
    return np.asarray((encoded - low) / (high - low).where(high > low, 1.0), dtype=np.float64)


def _rows(candidates: Floats, space: Any, experiments: Any) -> Ints:
    """The rows of experiments in the search space (n): those with the nearest encodings.

    The numbers of an experiment may differ from those of the search space within a tolerance.
    """
    encoded = _scaled(space.transform(experiments, allow_extra=True), space)
    return np.asarray(KDTree(candidates).query(encoded)[1], dtype=np.int64)


def _rewards(objective: Any, measurements: Any) -> Floats:
    """What is maximised (n)."""
    if objective is None:
        raise ValueError("objective must be given with measurements: it says what is better")
    values = objective.transform(measurements, allow_extra=True)
    if values.shape[1] != 1:
        raise ValueError(
            f"objective must have one output: noregret optimises one number, got {values.shape[1]}"
        )
    return np.asarray(values.to_numpy(dtype=np.float64)[:, 0])
