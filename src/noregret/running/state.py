"""A run in one file: a tree of objects as arrays and JSON in an .npz archive, never pickled code.

What a run remembers is a tree: arrays, numbers, words, lists, and objects of this package that hold
such things. One function writes it and one reads it, so no class has a save or load of its own.
Only classes of this package are made again, and only their attributes are set.
"""

import contextlib
import dataclasses
import importlib
import json
import math
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from noregret.kernels import Kernel, as_kernel
from noregret.kernels.spec import from_spec, same_kernel, to_spec
from noregret.spaces import Candidates, Domain, Space
from noregret.spaces.files import domain_spec, load_domain

#: the version of the layout; a change of the layout needs a larger number
FORMAT = 11
#: arrays of at most this many entries are written together: every file in an archive takes time
_SMALL = 4096

#: errors that reading a damaged file, or a file of another kind, can raise
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile)
_PACKAGE = __name__.split(".")[0] + "."

#: NumPy parses the head of each array as Python code. Python 3.11 rarely fails, with a SystemError,
#: if several threads do so at once (CPython issue 106905).
_parsing = threading.Lock()

Arrays = dict[str, np.ndarray[Any, Any]]


def save(
    path: str | os.PathLike[str] | IO[bytes], optimizer: Any, run: Any, *, candidates: bool = True
) -> None:
    """Write a run to a file or a binary file object.

    An existing file is replaced only after everything has been written.

    Parameters
    ----------
    path
        The file.
    optimizer
        The optimiser, for its name, settings, domain and kernel.
    run
        The tree.
    candidates
        Whether to write the list too; :func:`read` needs it as ``domain`` otherwise.
    """
    if not isinstance(path, (str, os.PathLike)):
        if not hasattr(path, "write"):
            raise TypeError(f"path must be a path or a binary file object, got {path!r}")
        _write(path, optimizer, run, candidates)
        return
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"path must name a file, got the folder {str(path)!r}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must be in a folder that exists, got {str(path)!r}")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            _write(file, optimizer, run, candidates)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _write(file: IO[bytes], optimizer: Any, run: Any, candidates: bool) -> None:
    domain, kernel, settings = optimizer.domain, optimizer.kernel, optimizer.settings()
    writer = _Writer(domain)
    functions = [name for name, value in settings.items() if callable(value)]
    header = {
        "format": FORMAT,
        "algorithm": type(optimizer).__name__.lower(),
        "settings": settings | dict.fromkeys(functions),
        "again": functions,
        "domain": domain_spec(domain, writer.arrays, candidates),
        "kernel": kernel if isinstance(kernel, str) else to_spec(as_kernel(kernel), writer.arrays),
        "run": writer.encode(run),
    }
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(file, allow_pickle=False, **writer.arrays, **writer.joined(), header=text)


class Saved:
    """What :func:`read` found in a file.

    Attributes
    ----------
    header
        The JSON that was kept with the run.
    """

    def __init__(self, arrays: Arrays, header: dict[str, Any]) -> None:
        self._arrays = arrays
        self.header = header

    def domain(self, given: Any) -> Candidates | Space:
        """The domain; ``given`` if it was not stored."""
        return load_domain(self.header["domain"], self._arrays, given)

    def kernel(self, given: Any) -> Any:
        """The kernel or the word ``"auto"``; ``given`` if it was not stored."""
        spec = self.header["kernel"]
        if spec is None:
            if given is None:
                raise ValueError(
                    "this run's kernel is not in the file, because it is a callable or a class "
                    "that does not keep its arguments: pass it again, load(path, kernel=k)"
                )
            return given
        stored = spec if isinstance(spec, str) else from_spec(spec, self._arrays)
        if given is not None and not _are_same(given, stored):
            raise ValueError(
                f"kernel must be the run's {stored!r}, got {given!r}: leave it out. To change it, "
                "load the run first: opt.replace(kernel=...)"
            )
        return stored

    def run(self, domain: Domain, kernel: Any, like: Any) -> Any:
        """The tree, for the domain and kernel in use.

        ``like`` is the tree of a new run: of classes outside the package only those in this tree
        are made, so that a file cannot name any other code.
        """
        own = {_name_of(cls): cls for cls in _classes_in(like, set())}
        return _Reader(self._arrays, domain, kernel, own).decode(self.header["run"])


def read(path: str | os.PathLike[str] | IO[bytes]) -> Saved:
    """Read what :func:`save` wrote; ``path`` may be a binary file object."""
    if not isinstance(path, (str, os.PathLike)) and not hasattr(path, "read"):
        raise TypeError(f"path must be a path or a binary file object, got {path!r}")
    try:
        with contextlib.ExitStack() as stack:
            # Opened here, so that the file is closed even if NumPy cannot read it.
            file: Any = path
            if isinstance(path, (str, os.PathLike)):
                file = stack.enter_context(open(path, "rb"))
            start = file.tell()
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no archive of arrays")
            file.seek(start)
            archive = stack.enter_context(np.load(file, allow_pickle=False))
            if any(entry.compress_type for entry in archive.zip.infolist()):
                # Files written here are not compressed, and a small one could fill the memory.
                raise ValueError("its arrays are compressed")
            with _parsing:
                arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes())
        version = header["format"]
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        raise ValueError(f"{path} is not a noregret run, or is damaged: {error}") from error
    if version != FORMAT:
        raise ValueError(
            f"{path} has format {version}; this version of noregret reads format {FORMAT}"
        )
    return Saved(arrays, header)


class _Writer:
    """Turns a tree into JSON, with its arrays set aside."""

    def __init__(self, domain: Domain) -> None:
        self.arrays: Arrays = {}
        self._small: dict[str, list[np.ndarray[Any, Any]]] = {}  # by the name of their type
        self._length: dict[str, int] = {}
        self._domain = domain
        self._number_of: dict[int, int] | None = None  # of objects on a list, by identity

    def encode(self, value: Any) -> Any:
        if value is self._domain:
            return {"domain": True}
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, list):
            return [self.encode(part) for part in value]
        if isinstance(value, (tuple, set)):
            kind = type(value).__name__
            return {kind: [self.encode(part) for part in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if isinstance(value, np.random.Generator):
            return {"generator": value.bit_generator.state}
        if isinstance(value, Kernel):
            return {"kernel": to_spec(value, self.arrays)}
        return self._object(value)

    def _array(self, array: np.ndarray[Any, Any]) -> Any:
        if array.dtype != object:
            # The memory order of an array decides about round-off, so it is kept.
            if array.size <= _SMALL and array.flags.c_contiguous:
                return {"part": self._join(array)}
            name = f"a{len(self.arrays)}"
            self.arrays[name] = array
            return {"array": name}
        if all(isinstance(entry, (str, int)) for entry in array):
            return {"words": array.tolist()}
        return {"choices": [self._number(entry) for entry in array]}

    def _join(self, array: np.ndarray[Any, Any]) -> list[Any]:
        """Append a small array to others of its type: the type, where it starts, its shape."""
        kind = array.dtype.name
        start = self._length.get(kind, 0)
        self._small.setdefault(kind, []).append(array.ravel())
        self._length[kind] = start + array.size
        return [kind, start, array.shape]

    def joined(self) -> Arrays:
        """The small arrays, those of one type as one."""
        return {f"small_{kind}": np.concatenate(parts) for kind, parts in self._small.items()}

    def _number(self, entry: Any) -> int:
        """The position of an object on the list; −1 for an array entry not used yet."""
        if isinstance(entry, int):
            return -1
        if self._number_of is None:
            points = self._domain.corners
            self._number_of = {id(point): i for i, point in enumerate(points)}
        if id(entry) not in self._number_of:
            raise ValueError(
                "objects of a replaced list cannot be stored: only numbers and strings can"
            )
        return self._number_of[id(entry)]

    def _object(self, value: Any) -> Any:
        cls = type(value)
        # A class may leave out what it can compute again, as for copies and pickles.
        held = value.__getstate__() or {}
        if cls.__module__ == "builtins" or callable(value) or not isinstance(held, dict):
            raise TypeError(f"a {cls.__name__} cannot be stored in a file")
        return {"class": _name_of(cls), "of": {k: self.encode(v) for k, v in held.items()}}


class _Reader:
    """Makes a tree again."""

    def __init__(
        self, arrays: Arrays, domain: Domain, kernel: Any, own: dict[str, type[Any]]
    ) -> None:
        self._arrays, self._domain, self._kernel = arrays, domain, kernel
        self._own = own  # classes outside the package that may be made, by name
        self._made: dict[str, Callable[[Any], Any]] = {
            "float": float,
            "bytes": bytes.fromhex,
            "array": arrays.__getitem__,
            "part": self._part,
            "words": self._words,
            "choices": self._choices,
            "tuple": lambda parts: tuple(self.decode(part) for part in parts),
            "set": lambda parts: {self.decode(part) for part in parts},
            "dict": lambda pairs: {self.decode(k): self.decode(part) for k, part in pairs},
            "generator": _generator,
        }

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(part) for part in value]
        if not isinstance(value, dict):
            return value
        if "class" in value:
            return self._object(value)
        ((kind, content),) = value.items()
        if kind == "domain":
            return self._domain
        if kind == "kernel":
            return as_kernel(self._kernel) if content is None else from_spec(content, self._arrays)
        return self._made[kind](content)

    def _object(self, value: dict[str, Any]) -> Any:
        cls = self._own.get(value["class"]) or _class_of_package(value["class"])
        if dataclasses.is_dataclass(cls):
            missing = {part.name for part in dataclasses.fields(cls)} - value["of"].keys()
            if missing:
                raise ValueError(f"{', '.join(sorted(missing))} of {value['class']!r} is missing")
        made: Any = object.__new__(cls)
        for key, part in value["of"].items():
            object.__setattr__(made, key, self.decode(part))
        return made

    def _part(self, place: list[Any]) -> Any:
        """One of the small arrays."""
        kind, start, shape = place
        return self._arrays[f"small_{kind}"][start : start + math.prod(shape)].reshape(shape).copy()

    def _words(self, entries: list[Any]) -> Any:
        made: np.ndarray[Any, Any] = np.empty(len(entries), dtype=object)
        made[:] = entries
        return made

    def _choices(self, numbers: list[int]) -> Any:
        made: np.ndarray[Any, Any] = np.zeros(len(numbers), dtype=object)
        points = self._domain.corners
        for i, number in enumerate(numbers):
            if number >= 0:
                made[i] = points[number]
        return made


def _are_same(given: Any, stored: Any) -> bool:
    """Whether a kernel that was given again, or the word ``"auto"``, is the one in the file."""
    if isinstance(given, str) or isinstance(stored, str):
        return bool(given == stored)
    return same_kernel(as_kernel(given), stored)


def _name_of(cls: type[Any]) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _class_of_package(full: str) -> type[Any]:
    """The class of the package that has this name in a file."""
    module, _, name = full.partition(":")
    if not module.startswith(_PACKAGE) or not name.isidentifier():
        raise ValueError(f"{full!r} is no part of a run of this algorithm")
    cls = getattr(importlib.import_module(module), name)
    if not isinstance(cls, type) or cls.__module__ != module:
        raise ValueError(f"{full!r} is no part of a run of this algorithm")
    return cls


def _classes_in(tree: Any, seen: set[int]) -> set[type[Any]]:
    """The classes of objects in a tree that are not of the package."""
    if id(tree) in seen or isinstance(tree, (np.ndarray, np.random.Generator, Kernel)):
        return set()
    seen.add(id(tree))
    held: list[Any] = []
    if isinstance(tree, dict):
        held = list(tree.values())
    elif isinstance(tree, (list, tuple, set)):
        held = list(tree)
    elif hasattr(tree, "__dict__") and not callable(tree):
        held = list(vars(tree).values())
    found = set().union(*(_classes_in(part, seen) for part in held))
    cls = type(tree)
    if cls.__module__ != "builtins" and not cls.__module__.startswith(_PACKAGE):
        found.add(cls)
    return found


def _generator(content: Any) -> np.random.Generator:
    rng = np.random.default_rng(0)
    rng.bit_generator.state = content
    return rng
