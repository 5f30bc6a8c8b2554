"""Texts about a study that `status` and the report share."""

from typing import TYPE_CHECKING

from noregret._checks import first_few
from noregret.spaces.encoding import GAP_FLAG
from noregret.study.frames import coordinate_names

if TYPE_CHECKING:
    from noregret.study import Study

#: how many columns or parameters are named in one line
_NAMED = 8


def choices_in_words(study: "Study") -> str:
    """What may be chosen: ``400 candidates, described by logp, weight``, or the parameters."""
    size = study.domain.size
    if size is None:
        names = coordinate_names(study.domain)
        many = "parameter" if len(names) == 1 else "parameters"
        return f"{len(names)} {many}: {first_few(names, _NAMED)}"
    columns = study.settings["about"].get("columns") or []
    names = [
        name
        for name in dict.fromkeys(one["name"] for one in columns)
        if not name.endswith(GAP_FLAG)
    ]
    words = f"{size:,} candidates"
    if names:
        return f"{words}, described by {first_few(names, _NAMED)}"
    dimension = study.domain.dimension
    return words if dimension is None else f"{words} of {_numbers(study, dimension)}"


def _numbers(study: "Study", dimension: int) -> str:
    if study.domain.nothing.dtype == "uint8":
        return f"{8 * dimension:,} bits"
    return "one number" if dimension == 1 else f"{dimension:,} numbers"
