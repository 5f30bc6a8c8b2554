"""One file for a whole run: arrays and JSON in an .npz archive, never pickled code."""

import contextlib
import json
import os
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from noregret._types import Points
from noregret.kernels import as_kernel
from noregret.kernels.spec import from_spec, to_spec
from noregret.spaces import Box, Candidates, Domain, as_candidates

if TYPE_CHECKING:
    from noregret.algorithms.base import Optimizer

#: what reading a file that is no whole run may end in
_UNREADABLE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    zipfile.BadZipFile,
)

#: raised when the layout of the file changes
FORMAT = 1


def save(optimizer: "Optimizer", path: str | os.PathLike[str]) -> None:
    """Write an optimiser's whole state; an existing file is replaced only when all is written."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            write(optimizer, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write(optimizer: "Optimizer", file: IO[bytes], *, candidates: bool = True) -> None:
    """Write the state to a binary file object.

    Without ``candidates`` the list is left out, and :func:`load` needs it as ``domain``.
    """
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    model_arrays, values = optimizer._state()
    observations = optimizer._observations
    arrays |= {f"model/{name}": array for name, array in model_arrays.items()}
    arrays |= {f"observations/{name}": array for name, array in observations.state().items()}
    header = {
        "format": FORMAT,
        "algorithm": type(optimizer).__name__.lower(),
        "options": {name: _plain(value) for name, value in optimizer._options().items()},
        "kernel": to_spec(optimizer.kernel, arrays),
        "domain": _domain_spec(optimizer, arrays),
        "random": optimizer._rng.bit_generator.state,
        "kappa_squared": optimizer.kappa_squared,
        "events": optimizer._events,
        "values": values,
    }
    if not candidates and not isinstance(optimizer.domain, Box):
        arrays.pop("candidates", None)
        header["domain"].pop("candidates", None)
        header["domain"]["length"] = len(optimizer.domain)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(file, allow_pickle=False, **arrays)


def load(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    domain: Any = None,
    kernel: Any = None,
    fresh: bool = False,
) -> "Optimizer":
    """Read what ``opt.save`` wrote; the optimiser continues bit for bit.

    Parameters
    ----------
    path
        The file, or a binary file object.
    domain
        Needed where the candidates are objects other than strings, which are not stored.
    kernel
        Needed where the kernel is a callable or a class of your own outside this process.
    fresh
        Only make the optimiser again, as it was before it was asked or told anything.
    """
    from noregret.algorithms.base import algorithms

    arrays, header = _read(path)
    try:
        choices = _load_domain(header["domain"], arrays, domain)
        if kernel is None and header["kernel"] is None:
            raise ValueError("this run's kernel is a callable: pass it again, load(path, kernel=k)")
        own = as_kernel(kernel) if kernel is not None else from_spec(header["kernel"], arrays)
        cls = algorithms.get(header["algorithm"])
        if cls is None:
            raise ValueError(f"algorithm {header['algorithm']!r} is unknown here")
        options, learnt = header["options"], header["values"].get("auto", {})
        if fresh:
            # What is learnt has to be learnt again, not taken for given.
            unset = {"lam": None} if learnt.get("lam") else {}
            return cls(choices, "auto" if learnt.get("kernel") else own, **options | unset)
        optimizer = cls(choices, own, **options)
        observed = _part(arrays, "observations/")
        points = _load_seen(header["domain"], arrays, choices, observed["ids"])
        optimizer._observations.restore(observed, points)
        optimizer._restore(_part(arrays, "model/"), header["values"])
        optimizer._rng.bit_generator.state = header["random"]
        optimizer.kappa_squared = float(header["kappa_squared"])
        optimizer._events = header["events"]
    except (KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is not a whole noregret run: {error!r} is missing") from error
    return optimizer


def _read(
    path: str | os.PathLike[str] | IO[bytes],
) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
    try:
        with contextlib.ExitStack() as stack:
            # Opened here, so that it is closed also where NumPy cannot read it.
            file: Any = path
            if isinstance(path, (str, os.PathLike)):
                file = stack.enter_context(open(path, "rb"))
            archive = stack.enter_context(np.load(file, allow_pickle=False))
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
    return arrays, header


def _domain_spec(optimizer: "Optimizer", arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    domain, observations = optimizer.domain, optimizer._observations
    seen = observations.points
    if isinstance(domain, Box):
        arrays["bounds"] = domain.bounds
        arrays["seen"] = seen
        return {"kind": "box", "names": domain.names}
    if not domain.are_objects:
        arrays["candidates"] = domain.points
        arrays["seen"] = seen
        return {"kind": "numbers", "names": domain.names}
    if all(isinstance(entry, str) for entry in [*domain.points, *seen]):
        return {"kind": "strings", "candidates": domain.points.tolist(), "seen": seen.tolist()}
    if (observations.ids < 0).any():
        raise ValueError(
            "objects of a replaced list cannot be stored: only numbers and strings can"
        )
    return {"kind": "objects", "length": len(domain)}


def _load_domain(spec: Any, arrays: dict[str, np.ndarray[Any, Any]], given: Any) -> Domain:
    if spec["kind"] == "box":
        names, bounds = spec["names"], arrays["bounds"]
        return Box(bounds if names is None else dict(zip(names, bounds, strict=True)))
    if given is not None:
        candidates = as_candidates(given)
        expected = spec.get("length") or len(spec.get("candidates", arrays.get("candidates", ())))
        if len(candidates) != expected:
            raise ValueError(
                f"domain must be the run's list of {expected} candidates, got {len(candidates)}"
            )
        return candidates
    if spec["kind"] == "objects":
        raise ValueError(
            "this run's candidates are objects: pass them again, load(path, domain=candidates)"
        )
    if spec["kind"] == "strings":
        return Candidates(spec["candidates"], objects=True)
    candidates = Candidates(arrays["candidates"])
    candidates.names = None if spec["names"] is None else tuple(spec["names"])
    return candidates


def _load_seen(
    spec: Any, arrays: dict[str, np.ndarray[Any, Any]], domain: Domain, ids: Any
) -> Points:
    if isinstance(domain, Box) or spec["kind"] == "numbers":
        return arrays["seen"]
    if spec["kind"] == "strings":
        return Candidates(spec["seen"], objects=True).points if spec["seen"] else domain.points[:0]
    return np.asarray(domain.points[ids])


def _part(arrays: dict[str, np.ndarray[Any, Any]], prefix: str) -> dict[str, Any]:
    return {name[len(prefix) :]: a for name, a in arrays.items() if name.startswith(prefix)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
