"""Robust UCB beside the algorithms that use smoothness (Ray Chowdhury & Gopalan 2019, Appendix E).

Runs that Figure 1 (e) has too are the same tasks.
"""

from functools import partial

from noregret.experiments.heavy import regret_experiment
from noregret.experiments.heavy_data import UNIT, data_tasks, measure_data

_CELLS = partial(
    data_tasks, problem="sensors", names=("tgp", "nystrom", "robust", "huber", "clipped")
)

EXPERIMENTS = (
    regret_experiment(
        "heavy-robust", "Appendix E", "average regret, 41 light sensors, Robust UCB", 4, _CELLS,
        runs=4, full=10, theory_runs=3, unit=UNIT, measure=measure_data,
    ),
)  # fmt: skip
