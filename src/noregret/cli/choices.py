"""Choices of a study in words: names, fields, intervals, how many can still be the best."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from noregret.cli.spreadsheets import Style

if TYPE_CHECKING:
    from noregret.results import Recommendation
    from noregret.study import Study


@contextmanager
def looking(path: str) -> "Iterator[Study]":
    """A study to look at; what the look fits is kept in the file, so that the next one is quick.

    Parameters
    ----------
    path
        The study's file; others may write to it meanwhile.
    """
    from noregret.study import Study

    with Study.open(path, read_only=True) as opened:
        yield opened
        opened.keep_look()


def id_column(study: "Study") -> str:
    """The column with the candidates' names in files."""
    return str(study.settings["about"].get("id", "id"))


def value_column(study: "Study") -> str:
    """The column of values in files."""
    return str(study.settings["about"].get("value", "value"))


def many(count: int, thing: str) -> str:
    """A count with its noun: ``1 trial``, ``1,200 trials``."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def style_of(study: "Study") -> Style:
    """How the study's files are written: as the library was."""
    return Style(**study.settings["about"].get("style", {}))


def fields_of(study: "Study") -> list[str]:
    """The fields of a choice: the names that a command may have in braces."""
    from noregret.study.frames import coordinate_names

    if not study.domain.listed:
        return coordinate_names(study.domain)
    table = study.table
    return ["id", "name", id_column(study), *([] if table is None else table.columns)]


def values_of(study: "Study", id_: int, point: Any) -> dict[str, Any]:
    """The values of a choice's fields."""
    from noregret.study.frames import coordinates

    if not study.domain.listed:
        columns = coordinates(study.domain, [point])
        return {name: column[0] for name, column in columns.items()}
    table = study.table
    row = {} if table is None else table.row(id_, named=True)
    name = study.name_of(id_, point)
    return {"id": id_, "name": name, id_column(study): name, **row}


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
