"""The papers' algorithms: one file each, its settings and the parts it is made of."""

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from noregret import _checks
from noregret.kernels import AnyKernel, as_kernel
from noregret.optimizer import Optimizer
from noregret.running import state

if TYPE_CHECKING:
    from noregret.algorithms.asyncts import AsyncTS
    from noregret.algorithms.atagpucb import ATAGPUCB
    from noregret.algorithms.bbkb import BBKB
    from noregret.algorithms.bkb import BKB
    from noregret.algorithms.clippedgpucb import ClippedGPUCB
    from noregret.algorithms.epsilongreedy import EpsilonGreedy
    from noregret.algorithms.gpbucb import GPBUCB
    from noregret.algorithms.gpucb import GPUCB
    from noregret.algorithms.hubergpucb import HuberGPUCB
    from noregret.algorithms.igpucb import IGPUCB
    from noregret.algorithms.pigpucb import PiGPUCB
    from noregret.algorithms.plateucb import PlateUCB
    from noregret.algorithms.regularizedevolution import RegularizedEvolution
    from noregret.algorithms.robustucb import RobustUCB
    from noregret.algorithms.tgpucb import TGPUCB
    from noregret.algorithms.thompsonsampling import ThompsonSampling
    from noregret.algorithms.trustregionucb import TrustRegionUCB
    from noregret.algorithms.uniform import Uniform

__all__ = [
    "ATAGPUCB",
    "BBKB",
    "BKB",
    "GPBUCB",
    "GPUCB",
    "IGPUCB",
    "TGPUCB",
    "AsyncTS",
    "ClippedGPUCB",
    "EpsilonGreedy",
    "HuberGPUCB",
    "Optimizer",
    "PiGPUCB",
    "PlateUCB",
    "RegularizedEvolution",
    "RobustUCB",
    "ThompsonSampling",
    "TrustRegionUCB",
    "Uniform",
    "algorithms",
    "check_name",
    "load",
    "make",
]

#: the public algorithms: their names, which are their modules', and their classes
_CLASSES = {
    name.lower(): name
    for name in sorted(__all__, key=str.lower)
    if name[0].isupper() and name != "Optimizer"  # their base
}


class _Algorithms(Mapping[str, type[Optimizer]]):
    """Classes by name; a module is imported when its class is first used."""

    def __getitem__(self, name: str) -> type[Optimizer]:
        cls = _CLASSES[name]
        found: type[Optimizer] = getattr(import_module(f"{__name__}.{name}"), cls)
        return found

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


#: the public algorithms by their class name in lower case
algorithms: Mapping[str, type[Optimizer]] = _Algorithms()


if not TYPE_CHECKING:  # checkers know the names from the imports above, and refuse others

    def __getattr__(name: str) -> type[Optimizer]:
        if _CLASSES.get(name.lower()) != name:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        cls = globals()[name] = algorithms[name.lower()]
        return cls


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def make(name: str, domain: Any, kernel: AnyKernel, **options: Any) -> Optimizer:
    """An algorithm by its name, the class name in lower case: ``make("bbkb", domain, kernel)``."""
    return algorithms[check_name(name)](domain, kernel, **options)


def check_name(given: Any, argument: str = "name", also: str = "") -> str:
    """The name of an algorithm in lower case; others are refused with the nearest one.

    Parameters
    ----------
    given
        What a user gave.
    argument
        What the argument is called, for messages.
    also
        What else the caller takes, for messages.
    """
    if isinstance(given, str) and given.lower() in algorithms:
        return given.lower()
    known = sorted(algorithms)
    if isinstance(given, type) and given.__name__.lower() in algorithms:
        hint = f"; write {given.__name__.lower()!r}"
    else:
        hint = _checks.did_you_mean(given, known)
    raise ValueError(f"{argument} must be {also}one of {', '.join(known)}; got {given!r}{hint}")


def load(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    domain: Any = None,
    kernel: Any = None,
    algorithm: type[Optimizer] | None = None,
    fresh: bool = False,
    **settings: Any,
) -> Optimizer:
    """Read what ``opt.save`` wrote; the optimiser continues bit for bit.

    Parameters
    ----------
    path
        The file, or a binary file object.
    domain
        Needed where it is not all in the file: candidates that are objects other than strings, and
        a space with ``feasible``.
    kernel
        Needed where the kernel is a callable, or a class that does not keep its arguments. It must
        be the run's: for another one call ``opt.replace`` afterwards, as for all settings. For
        another class of your own, import the module that defines it.
    algorithm
        The class, where it is one of your own.
    fresh
        Only make the optimiser again, as it was before it was asked or told anything.
    **settings
        Settings that are functions, such as ``width``, which no file stores.
    """
    saved = state.read(path)
    try:
        header = saved.header
        again = header.get("again", [])
        missing = [name for name in again if name not in settings]
        if missing:
            raise ValueError(
                f"{missing[0]} is a function: pass it again, load(path, {missing[0]}=f)"
            )
        if known := [name for name in settings if name in header["settings"] and name not in again]:
            raise ValueError(
                f"{known[0]} is in the file: leave it out. To change it, load the run first: "
                f"opt.replace({known[0]}={settings[known[0]]!r:.100})"
            )
        cls = algorithm or algorithms.get(header["algorithm"])
        if cls is None:
            raise ValueError(
                f"algorithm {header['algorithm']!r} is unknown here: load(path, algorithm=Yours)"
            )
        space, own = saved.domain(domain), saved.kernel(kernel)
        optimizer = cls(space, own, **{**header["settings"], **settings})
        if not fresh:
            kernel = own if isinstance(own, str) else as_kernel(own)
            optimizer.resume(saved, kernel)
    except (KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is not a whole noregret run: {error!r} is missing") from error
    return optimizer
