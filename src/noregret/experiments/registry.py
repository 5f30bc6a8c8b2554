"""All experiments, by their id."""

from noregret.experiments import bkb, heavy, heavy_data, heavy_robust, heavy_truncation
from noregret.experiments.experiment import Experiment

#: modules with experiments, in the order of the papers
_MODULES = (bkb, heavy, heavy_data, heavy_truncation, heavy_robust)


def experiments() -> dict[str, Experiment]:
    """Every experiment by id, in the order of the papers and their figures."""
    return {one.id: one for module in _MODULES for one in module.EXPERIMENTS}


def find(name: str) -> Experiment:
    """The experiment with this id."""
    known = experiments()
    if name not in known:
        raise ValueError(f"ID must be one of {', '.join(known)}; got {name!r}")
    return known[name]
