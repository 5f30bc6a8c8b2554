"""Public members of optimisers: which ones a class may replace, and settings that share a name."""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import MISSING
from typing import Any, TypeVar, cast

from noregret import _checks

_Given = TypeVar("_Given")


def setting_names(cls: type[Any]) -> list[str]:
    """The settings of an algorithm by name, without domain and kernel."""
    return [*inspect.signature(cls.__init__).parameters][3:]


def refuse_unknown(cls: type[Any], given: Sequence[Any], settings: Iterable[str]) -> None:
    """Refuse names that are no arguments of an algorithm, and settings that come without names.

    Parameters
    ----------
    cls
        The algorithm.
    given
        What was given by position.
    settings
        The names of what was given by name.
    """
    arguments = list(inspect.signature(cls.__init__).parameters.values())[1:]
    if any(one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) for one in arguments):
        return  # a class with a constructor of its own says itself what it takes
    _checks.known_names(cls.__name__, "setting", settings, [one.name for one in arguments])
    first = [one.name for one in arguments if one.kind is not one.KEYWORD_ONLY]
    if len(given) > len(first):
        raise TypeError(
            f"{cls.__name__} takes {' and '.join(first)}, and settings by name, such as noise=0.1; "
            f"got {_checks.shown(given[len(first)])} without a name"
        )


def refuse_overrides(cls: type[Any], base: type[Any]) -> None:
    """Refuse a class in which a public member of an optimiser is replaced: it has no effect.

    Members of the base and of the algorithms below it are refused, whether the class itself
    replaces them or another class that it inherits from. Settings, ``parts`` and plain values of
    the base may be replaced.
    """
    plain = {name for name, value in vars(base).items() if not hasattr(value, "__get__")}
    for owner in cls.__mro__[1:]:
        if not issubclass(owner, base):
            continue
        settings = getattr(owner, "__dataclass_fields__", {})
        for name, member in vars(owner).items():
            if name.startswith("_") or name == "parts" or not hasattr(member, "__get__"):
                continue
            found = next(other for other in cls.__mro__ if name in vars(other))
            shares_name = isinstance(vars(found)[name], _SettingBesideProperty)
            if found is owner or shares_name or name in {*settings, *plain}:
                continue
            raise TypeError(
                f"{cls.__name__}.{name} would have no effect on what is asked: an algorithm says "
                "what it is made of in parts(); for another width pass width=function"
            )


def refuse_hidden_settings(optimizer: Any) -> None:
    """Refuse a class with an attribute or method of a setting's name that is not its default.

    An optimiser has its settings from its constructor, so that such a member would have no effect.
    """
    cls = type(optimizer)
    for name, field in cls.__dataclass_fields__.items():
        member = getattr(cls, name, MISSING)
        if member is not field.default and vars(optimizer).get(name, MISSING) is not member:
            raise TypeError(
                f"{cls.__name__}.{name} would have no effect: {name} is a setting. For another "
                f"default write its type too, {name}: type = default, in a class of your own below "
                "@dataclass(frozen=True, kw_only=True, eq=False, repr=False)"
            )


def beside_property(default: _Given) -> _Given:
    """The default of a setting that has the name of a property of every optimiser.

    ``BBKB(..., dictionary="resample")`` and ``settings()`` mean the setting, ``opt.dictionary`` the
    property. The setting is an ``InitVar``, so that types know this too; ``__post_init__`` sets it.
    """
    return cast(_Given, _SettingBesideProperty(default))


class _SettingBesideProperty:
    """Keeps a setting among the others, and shows the property of the same name."""

    def __init__(self, default: Any) -> None:
        self._default = default

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._owner, self._name = owner, name
        self.__doc__ = getattr(super(owner, owner), name).__doc__

    def __get__(self, optimizer: Any, owner: type[Any]) -> Any:
        if optimizer is None:
            return self._default  # a dataclass finds the default of its field here
        return getattr(super(self._owner, optimizer), self._name)

    def __set__(self, optimizer: Any, value: Any) -> None:
        vars(optimizer)[self._name] = value
