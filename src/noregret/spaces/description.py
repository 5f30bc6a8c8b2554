"""Parameters as JSON: for files, and for people who write a space down."""

from typing import Any

from noregret.spaces.choices import Bool, Choice
from noregret.spaces.numbers import Float, Int
from noregret.spaces.parameters import Parameter

_KINDS: dict[str, type[Parameter]] = {"float": Float, "int": Int, "choice": Choice, "bool": Bool}


def parameter_of(spec: Any) -> Parameter:
    """The parameter that a table such as ``{"type": "int", "low": 1, "high": 8}`` describes."""
    if not isinstance(spec, dict) or spec.get("type") not in _KINDS:
        known = ", ".join(_KINDS)
        raise ValueError(f"a parameter must be a table with a type of {known}, got {spec!r}")
    given = {name: value for name, value in spec.items() if name != "type"}
    try:
        return _KINDS[spec["type"]](**given)
    except TypeError as error:
        raise TypeError(f"{spec['type']}: {error}".replace("__init__() ", "")) from error
