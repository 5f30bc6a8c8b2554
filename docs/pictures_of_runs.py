"""What the plots of the package show: one run of ``nr.minimize``, and runs of ``nr.compare``."""

from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from picture_tools import picture

import noregret as nr
from noregret.problems.classics import SCALED


@picture
def one_line() -> Any:
    """Convergence, importance and slices of the run on the page about one line."""

    def loss(x: Any) -> float:
        return float((np.log10(x["rate"]) + 2) ** 2 + 0.1 * (x["layers"] - 3) ** 2)

    space = {"rate": nr.Float(1e-5, 1, log=True), "layers": nr.Int(1, 8)}
    result = nr.minimize(loss, space, budget=40, seed=0, progress=False)
    fig, axes = plt.subplots(2, 2, figsize=(8, 5.2), layout="constrained")
    nr.plot.convergence(result, ax=axes[0, 0])
    nr.plot.importance(result, ax=axes[0, 1])
    nr.plot.slices(result, ax=axes[1])
    return fig


@picture
def regret() -> Any:
    """Simple and cumulative regret of the algorithms on the page about comparing."""
    settings: dict[str, Any] = {"kernel": nr.Matern(0.3), "noise": 0.1, "norm": 3.0}
    algorithms: dict[str, Any] = {
        "BBKB, 2 deviations": partial(nr.BBKB, width=2.0, **settings),
        "BBKB, proved": partial(nr.BBKB, **settings),
        "uniform": "uniform",
    }
    problem = SCALED["Branin"].on_grid(20)
    regrets = nr.compare(algorithms, problem, evaluations=60, seeds=20, progress=False)
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    nr.plot.regret(regrets, ax=axes[0])
    nr.plot.regret(regrets, kind="regret", ax=axes[1])
    return fig
