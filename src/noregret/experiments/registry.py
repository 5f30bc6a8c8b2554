"""All experiments, by their id."""

from noregret.experiments import bkb, pi, ts
from noregret.experiments.experiment import Experiment

#: modules with experiments, in the order of the papers
_MODULES = (bkb, ts, pi)


def experiments() -> dict[str, Experiment]:
    """Every experiment by id, in the order of the papers and their figures."""
    return {one.id: one for module in _MODULES for one in module.EXPERIMENTS}


def find(name: str) -> Experiment:
    """The experiment with this id."""
    known = experiments()
    if name not in known:
        raise ValueError(f"ID must be one of {', '.join(known)}; got {name!r}")
    return known[name]
