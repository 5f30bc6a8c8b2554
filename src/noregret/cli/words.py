"""Counts, numbers, warnings and the best choice of a study, as commands say them."""

from typing import TYPE_CHECKING, Any

from noregret.cli.app import say

if TYPE_CHECKING:
    from noregret.results import Recommendation
    from noregret.study import Study


def many(count: int, thing: str) -> str:
    """A count with its noun: ``1 trial``, ``1,200 trials``."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def times(count: int) -> str:
    """How often: ``once``, ``3 times``."""
    return "once" if count == 1 else f"{count:,} times"


def short(value: Any) -> str:
    """A number in few digits; anything else as text."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def warn(warnings: list[str]) -> None:
    """Say what does not fit, and what to do."""
    for one in warnings:
        say(f"Warning: {one}")


def interval(best: "Recommendation") -> str:
    """The estimate with its bounds."""
    return f"{best.mean:.4g} in [{best.lower:.4g}, {best.upper:.4g}]"


def about_best(study: "Study", best: "Recommendation") -> dict[str, Any]:
    """The best choice for scripts: its name, mean, bounds and gap."""
    from noregret.study.evaluating.stopping import gap_of

    return {
        "id": study.name_of(best.id, best.point),
        **({"point": best.point} if isinstance(best.point, dict) else {}),
        "mean": best.mean,
        "lower": best.lower,
        "upper": best.upper,
        "gap": gap_of(study),
    }


def say_best(study: "Study", best: "Recommendation") -> str:
    """The best choice for people: its name, its interval and its gap."""
    from noregret.study.evaluating.stopping import gap_in_words

    name = study.name_of(best.id, best.point)
    alive = say_alive(study)
    return f"Best: {name}, {interval(best)}; {gap_in_words(study)}." + (
        f" {alive}." if alive else ""
    )


def say_alive(study: "Study") -> str | None:
    """How many candidates can still be the best; ``None`` if the optimiser does not know."""
    alive = study.optimizer.alive
    return None if alive is None else f"{alive:,} of {study.size:,} can still be the best"
