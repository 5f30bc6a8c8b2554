"""All experiments, by their id."""

from noregret.experiments import (
    bkb,
    heavy,
    heavy_data,
    heavy_truncation,
    nas,
    pi,
    regression,
    ts,
)
from noregret.experiments.experiment import Experiment

#: modules with experiments, in the order of the papers
_MODULES = (bkb, regression, nas, heavy, heavy_data, heavy_truncation, ts, pi)


def experiments() -> dict[str, Experiment]:
    """Every experiment by id, in the order of the papers and their figures."""
    found = [one for module in _MODULES for one in module.EXPERIMENTS]
    papers = list(dict.fromkeys(one.paper for one in found))
    return {one.id: one for one in sorted(found, key=lambda one: (papers.index(one.paper), one.id))}


def find(name: str) -> Experiment:
    """The experiment with this id."""
    known = experiments()
    if name not in known:
        raise ValueError(f"ID must be one of {', '.join(known)}; got {name!r}")
    return known[name]
