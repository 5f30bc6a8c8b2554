"""Parameters written as JSON, for files, or in words, for people."""

import csv
import inspect
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from noregret.spaces.choices import Bool, Choice, read_plain
from noregret.spaces.numbers import Float, Int
from noregret.spaces.parameters import Parameter
from noregret.spaces.shorthand import as_parameter
from noregret.spaces.space import Space

_KINDS: dict[str, type[Parameter]] = {"float": Float, "int": Int, "choice": Choice, "bool": Bool}
#: such as ``int(1, 8)``, or ``bool``
_WORDS = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.S)
_EXAMPLES = "float(1e-6,1,log), int(1,8), int(16,512,log), int(0,100,step=10), choice(a,b), bool"


def parameter_of(spec: Any) -> Parameter:
    """The parameter that a table such as ``{"type": "int", "low": 1, "high": 8}`` describes."""
    if not isinstance(spec, dict) or spec.get("type") not in _KINDS:
        known = ", ".join(_KINDS)
        raise ValueError(f"a parameter must be a table with a type of {known}, got {spec!r}")
    given = {name: value for name, value in spec.items() if name != "type"}
    settings = list(inspect.signature(_KINDS[spec["type"]]).parameters)
    for name in given:
        if name not in settings:
            has = f"it has {', '.join(settings)}" if settings else "it has no settings"
            raise TypeError(f"{spec['type']} has no {name!r}: {has}")
    try:
        return _KINDS[spec["type"]](**given)
    except TypeError as error:
        raise TypeError(f"{spec['type']}: {error}".replace("__init__() ", "")) from error


def parameter_in_words(text: str) -> Parameter:
    """The parameter that words such as ``float(1e-6, 1, log)`` describe."""
    found = _WORDS.fullmatch(text)
    kind = found and found[1].lower()
    if not found or kind not in _KINDS:
        raise ValueError(f"a parameter must be written like {_EXAMPLES}; got {text!r}")
    (words,) = csv.reader([found[2] or ""], skipinitialspace=True)
    words = [word.strip() for word in words]
    if kind == "choice":
        return Choice([read_plain(word) for word in words])
    if kind == "bool":
        if words:
            raise ValueError(f"bool takes nothing in brackets, got {text!r}")
        return Bool()
    spec: dict[str, Any] = {"type": kind}
    for name, word in zip(("low", "high"), words, strict=False):
        spec[name] = read_plain(word)
    for word in words[2:]:
        name, _, value = word.partition("=")
        spec[name.strip()] = read_plain(value.strip()) if value else True
    if "high" not in spec or set(spec) - {"type", "low", "high", "log", "step"}:
        raise ValueError(f"a parameter must be written like {_EXAMPLES}; got {text!r}")
    return parameter_of(spec)


def words_of(parameter: Parameter) -> str:
    """A parameter as :func:`parameter_in_words` reads it, such as ``int(1,8)``."""
    spec = parameter.spec()
    kind = spec.pop("type")
    if kind == "bool":
        return "bool"
    if kind == "choice":
        return f"choice({','.join(map(str, spec['choices']))})"
    more = [",log"] if spec["log"] else []
    more += [f",step={spec['step']}"] if spec.get("step", 1) != 1 else []
    return f"{kind}({spec['low']:.12g},{spec['high']:.12g}{''.join(more)})"


def space_in_words(texts: Iterable[str], feasible: str | None = None) -> Space:
    """The space of texts such as ``"lr=float(1e-6,1,log)"``, one for each parameter.

    ``feasible`` is a condition on them, such as ``"layers * units < 1000"``.
    """
    parameters: dict[str, Parameter] = {}
    for text in texts:
        name, equals, words = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ValueError(f"a parameter must be written like rate=float(0,1); got {text!r}")
        if name in parameters:
            raise ValueError(f"parameters must have different names; {name} comes twice")
        parameters[name] = _named(name, words)
    return Space(parameters, feasible=feasible)


def read_space(path: str | Path, feasible: str | None = None) -> Space:
    """The space that a TOML file describes, with a table, words or a list for each parameter.

    Such as ``layers = {type = "int", low = 1, high = 8}`` or ``layers = "int(1, 8)"``. A list of
    words means choices, and one of two numbers a range of floats. With a condition ``feasible``.
    """
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from error
    if not found:
        raise ValueError(f"{path} describes no parameters")
    return Space({name: _named(name, spec) for name, spec in found.items()}, feasible=feasible)


def _named(name: str, spec: Any) -> Parameter:
    """A parameter, with its name in the error where it is wrong."""
    if isinstance(spec, list):
        try:
            return as_parameter(name, spec)
        except TypeError:
            raise ValueError(
                f"{name}: a list must hold words or two numbers (low, high), got {spec!r}; write "
                f'the parameter like "{_EXAMPLES}"'
            ) from None
    try:
        return parameter_in_words(spec) if isinstance(spec, str) else parameter_of(spec)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error
