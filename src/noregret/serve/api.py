"""The requests to a study over HTTP: one function per path, from JSON to JSON."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

from noregret import _checks
from noregret.reporting.checks import check_study
from noregret.reporting.measured import recommended
from noregret.reporting.report import render
from noregret.study import Study, StudyError
from noregret.study.evaluating.stopping import gap_of
from noregret.study.frames import coordinates

Given = dict[str, Any]

#: how many trials are listed if no limit is given
_LISTED = 1_000


class Api:
    """The requests that a study answers, one at a time.

    Parameters
    ----------
    study
        Open for writing.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._alone = threading.Lock()
        self._changes = 0
        self._page: tuple[Any, str] | None = None

    def looks(self) -> dict[str, Callable[[Given], Any]]:
        """What a GET may ask, by name."""
        return {"status": self.status, "best": self.best, "trials": self.trials}

    def changes(self) -> dict[str, Callable[[Given], Any]]:
        """What a POST may ask, by name."""
        return {"ask": self.ask, "tell": self.tell, "history": self.history}

    # -- looking -----------------------------------------------------------------------------

    def status(self, given: Given) -> Any:
        """Where the study stands."""
        _fields(given, ())
        with self._alone:
            study, optimizer = self._study, self._study.optimizer
            return {
                "study": study.path.name,
                "algorithm": study.settings["algorithm"],
                "direction": study.settings["direction"],
                "candidates": study.size,
                "counts": study.counts(),
                "alive": optimizer.alive,
                "exhausted": study.exhausted,
                "changes": self._changes,
            }

    def best(self, given: Given) -> Any:
        """The best choices (``top`` of them), and warnings if the model does not fit."""
        _fields(given, ("top",))
        top = _checks.count("top", _number("top", given.get("top", 1)))
        with self._alone:
            study = self._study
            if not study.counts()["told"]:
                raise StudyError(f"{study.path.name} has no answers yet")
            return {
                "gap": gap_of(study),
                "proved": study.optimizer.proved,
                "alive": study.optimizer.alive,
                "best": recommended(study, top).to_dicts(),
                "warnings": [one.text for one in check_study(study).findings],
            }

    def trials(self, given: Given) -> Any:
        """The last ``limit`` trials, all or those of one ``status``."""
        _fields(given, ("status", "limit"))
        limit = _checks.count("limit", _number("limit", given.get("limit", _LISTED)))
        status = given.get("status")
        if status not in (None, "pending", "told", "failed"):
            raise ValueError(f"status must be pending, told or failed, got {status!r}")
        with self._alone:
            frame = self._study.trials()
        if status is not None:
            frame = frame.filter(pl.col("status") == status)
        return {"trials": frame.tail(limit).to_dicts(), "in_all": len(frame)}

    def page(self) -> str:
        """The report, as HTML; it is made again when the study has changed."""
        with self._alone:
            state = (self._changes, self._study.counts())
            if self._page is None or self._page[0] != state:
                self._page = (state, render(self._study))
            return self._page[1]

    # -- asking and telling ------------------------------------------------------------------

    def ask(self, given: Given) -> Any:
        """New trials: ``n`` of them, or what the algorithm wants."""
        _fields(given, ("n", "adaptive"))
        adaptive = _flag(given, "adaptive")
        with self._alone:
            study = self._study
            found = study.ask(given.get("n"), adaptive=adaptive, origin="http")
            self._changes += 1
            names = found.names or [None] * len(found)
            rows = [
                {"trial": number, "id": int(id_), "name": name, "point": self._point(id_, point)}
                for number, id_, name, point in zip(
                    found, found.ids, names, found.points, strict=True
                )
            ]
            return {"trials": rows, "exhausted": study.exhausted}

    def tell(self, given: Given) -> Any:
        """Answers of ``trials``: their ``values``, or why all of them ``failed``."""
        _fields(given, ("trials", "values", "failed", "overwrite"), needed=("trials",))
        overwrite = _flag(given, "overwrite")
        with self._alone:
            self._study.tell(
                _list(given, "trials"),
                given.get("values"),
                failed=given.get("failed"),
                overwrite=overwrite,
            )
            self._changes += 1
            return {"counts": self._study.counts()}

    def history(self, given: Given) -> Any:
        """Evaluations nobody asked for: ``values`` of ``ids``, ``names`` or ``points``."""
        _fields(given, ("ids", "names", "points", "values"), needed=("values",))
        kinds = [one for one in ("ids", "names", "points") if one in given]
        if len(kinds) != 1:
            raise ValueError("give one of ids, names and points")
        choices = _list(given, kinds[0])
        with self._alone:
            if kinds[0] == "names":
                choices = self._ids(choices)
            told = self._study.tell_history(choices, _list(given, "values"))
            self._changes += 1
            return {"trials": list(told), "counts": self._study.counts()}

    def _point(self, id_: int, point: Any) -> Any:
        """A choice's parameters, or the columns of a candidate; ``None`` if it has none."""
        study = self._study
        if study.domain.size is None:
            return {key: value[0] for key, value in coordinates(study.domain, [point]).items()}
        return None if study.table is None else study.table.row(int(id_), named=True)

    def _ids(self, names: list[Any]) -> list[int]:
        """The ids of the candidates with these names."""
        known = self._study.names
        if known is None:
            raise ValueError("names cannot be told: the candidates of this study have none")
        wanted = pl.DataFrame({"name": pl.Series([str(one) for one in names], dtype=pl.String)})
        rows = pl.DataFrame({"name": known.cast(pl.String)}).with_row_index("id")
        found = wanted.join(rows, on="name", how="left", maintain_order="left")
        missing = found.filter(pl.col("id").is_null())["name"]
        if len(missing):
            raise ValueError(f"names must be those of candidates; {missing[0]!r} is not")
        return found["id"].to_list()


def _fields(given: Given, allowed: Iterable[str], needed: Iterable[str] = ()) -> None:
    """Refuse requests with unknown fields, or without those needed."""
    allowed = tuple(allowed)
    for name in given:
        if name not in allowed:
            words = f"known are: {', '.join(allowed)}" if allowed else "there are none"
            raise ValueError(f"{name!r} is not a field of this request; {words}")
    for name in needed:
        if name not in given:
            raise ValueError(f"{name} must be given")


def _list(given: Given, name: str) -> list[Any]:
    value = given[name]
    if not isinstance(value, list):
        raise TypeError(f"{name} must be a list, got {value!r}")
    return value


def _flag(given: Given, name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be true or false, got {value!r}")
    return value


def _number(name: str, value: Any) -> int:
    """A whole number from the text of an address."""
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"{name} must be a whole number, got {value!r}") from None
