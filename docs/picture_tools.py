"""What the pictures of the documentation share: colours, functions, how a model is drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np

import noregret as nr

BLUE, ORANGE, GREEN, GREY, DARK = "#1f6f8b", "#d9722b", "#3b8f5a", "#b5b5b5", "#333333"
LINE = np.linspace(0, 1, 200)
pictures: dict[str, Callable[[], Any]] = {}


def picture(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Register a function that draws the picture of its own name."""
    pictures[draw.__name__.replace("_", "-")] = draw
    return draw


def wave(x: Any) -> Any:
    """Two hills on a line, the right one higher; its norm is 1.22 for an RBF kernel of 0.1."""
    return 0.7 * np.exp(-50 * (x - 0.25) ** 2) + np.exp(-50 * (x - 0.72) ** 2)


def bumps(X: Any) -> Any:
    """Two hills in the plane; the norm is 1.26 for an RBF kernel of 0.2."""
    hill = np.exp(-12.5 * ((X[:, 0] - 0.7) ** 2 + (X[:, 1] - 0.35) ** 2))
    return hill + 0.75 * np.exp(-12.5 * ((X[:, 0] - 0.2) ** 2 + (X[:, 1] - 0.75) ** 2))


def play(opt: Any, f: Any, evaluations: int, noise: float, seed: int = 1) -> Any:
    """Ask and tell until so many evaluations are told."""
    rng = np.random.default_rng(seed)
    while opt.t < evaluations:
        batch = opt.ask(evaluations - opt.t if opt.adaptive else 1)
        values = f(np.asarray(batch.points))
        opt.tell(batch, np.ravel(values) + noise * rng.standard_normal(len(batch)))
    return opt


def band(ax: Any, opt: Any, colour: str = BLUE, label: str = "model: mean and bounds") -> None:
    """The posterior mean of an optimiser on the line, with its bounds."""
    mean, std = opt.predict()
    ax.fill_between(LINE, mean - opt.beta * std, mean + opt.beta * std, color=colour, alpha=0.18)
    ax.plot(LINE, mean, color=colour, label=label)


def on_line(algorithm: Any, **settings: Any) -> Any:
    """An optimiser on 200 points of a line."""
    return algorithm(nr.Candidates(LINE[:, None]), nr.RBF(0.1), seed=0, **settings)


def legend_below(fig: Any, ax: Any, columns: int = 4) -> None:
    """One legend below the picture."""
    handles, labels = ax.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
