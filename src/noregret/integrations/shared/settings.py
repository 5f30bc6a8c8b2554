"""Settings of an algorithm that users of another tool give by name."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from noregret import _checks
from noregret.kernels import as_kernel
from noregret.learning.learner import is_auto
from noregret.optimizer import Optimizer
from noregret.running.members import setting_names

#: what the algorithms learn by themselves unless the user says otherwise
LEARNT = {"kernel": "auto", "noise": "auto", "norm": "auto", "width": 2.0}


def checked_settings(
    algorithm: type[Optimizer], seed: int | None, options: Mapping[str, Any], example: Any
) -> dict[str, Any]:
    """All settings of an algorithm; names that it does not have, and wrong values, are refused.

    ``example`` is a domain of the kind that the algorithm will have. Its dimension may differ, so
    that a kernel is not tried out on it.
    """
    if seed is not None and (not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0):
        raise TypeError(f"seed must be None or a whole number of at least 0, got {seed!r}")
    known = ["kernel", *setting_names(algorithm)]
    _checks.known_names(algorithm.__name__, "setting", options, known)
    settings = {**LEARNT, "seed": seed, **options}
    if not is_auto(settings["kernel"]):
        as_kernel(settings["kernel"])
    algorithm(example, **{**settings, "kernel": "auto"})
    return settings
