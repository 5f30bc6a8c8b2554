"""Rows of files that a study has taken in, so that no row is taken in twice.

A row counts as taken in if the study was given the same choice and the same value, from the same
column of a file of the same name or the same content. Equal rows of a file are counted: the second
one is new until it was taken in too.
"""

import hashlib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.study import Study

#: a choice as the study's file holds it, and its value; ``None`` for a failure
Row = tuple[Any, float | None]

#: the event that notes rows whose values another file had told
_KNOWN = "rows known"


@dataclass(frozen=True)
class Source:
    """A file of answers, as a study remembers it.

    Attributes
    ----------
    name
        The file's name without its folder.
    sha256
        The SHA-256 of its bytes.
    column
        The column that its values stand in.
    sheet
        The sheet that was read; ``None``: the first, or no spreadsheet.
    """

    name: str
    sha256: str
    column: str
    sheet: str | None = None

    @classmethod
    def of(cls, path: str, column: str, sheet: str | None = None) -> "Source":
        """The file as it is now."""
        from noregret.spaces.tables import is_first_sheet

        file = Path(path)
        if not file.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return cls(file.name, digest, column, None if is_first_sheet(path, sheet) else sheet)

    @property
    def about(self) -> dict[str, Any]:
        """What the study keeps with the answers."""
        return asdict(self)

    def _is(self, about: dict[str, Any]) -> bool:
        """Whether it is the source of these answers, perhaps after it was edited."""
        same_file = about.get("name") == self.name or about.get("sha256") == self.sha256
        same_place = about.get("column", self.column) == self.column
        return same_file and same_place and about.get("sheet") == self.sheet

    def was_read(self, study: "Study") -> bool:
        """Whether answers came from this very file, as it is now."""
        sources = study.records.sources().values()
        return any(self._is(one) and one.get("sha256") == self.sha256 for one in sources)

    def rows(self, study: "Study") -> Counter[Row]:
        """The rows that the study has taken in from this file, told or imported."""
        sources = study.records.sources()
        found = Counter(study.records.told_by({n for n, one in sources.items() if self._is(one)}))
        for one in study.records.noted(_KNOWN):
            if self._is(one):
                found.update(((id_, None), value) for id_, value in one["rows"])
        return found

    def note_known(self, study: "Study", rows: list[Row]) -> None:
        """Remember rows of this file, of a study of a list, that another file had told before."""
        if rows:
            listed = [[choice[0], value] for choice, value in rows]
            study.note(_KNOWN, **self.about, rows=listed)


def new_rows(rows: list[Row], known: Counter[Row]) -> list[Row]:
    """The rows beyond those known, repeats counted."""
    left, new = known.copy(), []
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            new.append(row)
    return new
