"""Domains written as JSON and arrays, for files."""

import io
from typing import Any

import numpy as np

from noregret.spaces import Box, Candidates, Space, as_candidates, as_domain
from noregret.spaces.sources import Opened

Arrays = dict[str, np.ndarray[Any, Any]]


def keeps(domain: Candidates | Space) -> bool:
    """Whether a file can hold the whole domain, so that the user need not pass it again."""
    return bool(domain_spec(domain, {}, True).get("stored", True))


def same_domain(one: Any, other: Any) -> bool:
    """Whether two domains are the same as far as a file can tell; of objects, only their number."""
    arrays: tuple[dict[str, np.ndarray[Any, Any]], dict[str, np.ndarray[Any, Any]]] = {}, {}
    specs = [
        domain_spec(domain, into, True) for domain, into in zip((one, other), arrays, strict=True)
    ]
    return specs[0] == specs[1] and all(
        np.array_equal(array, arrays[1][name]) for name, array in arrays[0].items()
    )


def domain_spec(domain: Candidates | Space, arrays: Arrays, candidates: bool) -> Any:
    """JSON that :func:`load_domain` reads; arrays go to ``arrays``.

    Parameters
    ----------
    domain
        The domain.
    arrays
        Where arrays are put, by name.
    candidates
        Whether to keep the candidates of a list too.
    """
    if isinstance(domain, Box):
        arrays["bounds"] = domain.bounds
        return {"kind": "box", "names": domain.names}
    if isinstance(domain, Space):
        from noregret.spaces.conditions import Condition  # few runs need it

        return {
            "kind": "space",
            "names": domain.names,
            "parameters": domain.spec(),
            "feasible": domain.feasible.text if isinstance(domain.feasible, Condition) else None,
            "stored": domain.feasible is None or isinstance(domain.feasible, Condition),
        }
    spec = {"kind": "list", "names": domain.names, "length": len(domain)}
    if not candidates:
        return spec | {"stored": False}
    if domain.origin is not None:
        return spec | {"stored": "file", "origin": domain.origin}
    if not isinstance(domain.points, np.ndarray):
        return spec | {"stored": False}
    if not domain.are_objects:
        arrays["candidates"] = domain.points
        if domain.frame is not None:
            file = io.BytesIO()
            domain.frame.write_parquet(file)
            arrays["frame"] = np.frombuffer(file.getvalue(), dtype=np.uint8)
        return spec | {"stored": "numbers", "features": domain.encoder and domain.encoder.spec()}
    if all(isinstance(entry, str) for entry in domain.points):
        return spec | {"stored": "words", "words": domain.points.tolist()}
    return spec | {"stored": False}


def _load_space(spec: Any, given: Any) -> Space:
    from noregret.spaces.conditions import Condition  # few runs need them
    from noregret.spaces.description import parameter_of

    pairs = zip(spec["names"], spec["parameters"], strict=True)
    parameters = {name: parameter_of(one) for name, one in pairs}
    words = spec.get("feasible")
    condition = None if words is None else Condition(words, tuple(parameters))
    stored = Space(parameters, feasible=condition)
    if given is None:
        if not spec["stored"]:
            raise ValueError(
                "this run's space has a condition feasible=f, which no file stores: pass the space "
                "again, domain=Space({...}, feasible=f)"
            )
        return stored
    if not isinstance(given, Space) or (given.names, given.spec()) != (stored.names, stored.spec()):
        raise ValueError(f"domain must be the run's {stored!r}, got {given!r}")
    if spec["stored"] and repr(given.feasible) != repr(stored.feasible):
        raise ValueError(f"domain must have feasible={stored.feasible}, as the run's space")
    if not spec["stored"] and not callable(given.feasible):
        raise ValueError("domain must have a condition feasible=f, as the run's space")
    return given


def load_domain(spec: Any, arrays: Arrays, given: Any) -> Candidates | Space:
    """The domain that :func:`domain_spec` described; ``given`` if the file holds only a part."""
    if spec["kind"] == "box":
        names, bounds = spec["names"], arrays["bounds"]
        box = Box(bounds if names is None else dict(zip(names, bounds, strict=True)))
        if given is not None and not same_domain(as_domain(given), box):
            raise ValueError(f"domain must be the run's {box!r}, got {given!r}")
        return box
    if spec["kind"] == "space":
        return _load_space(spec, given)
    if given is not None:
        candidates = as_candidates(given)
        if len(candidates) != spec["length"]:
            raise ValueError(
                f"domain must be the run's list of {spec['length']} candidates, got "
                f"{len(candidates)}"
            )
        return candidates
    if not spec["stored"]:
        raise ValueError(
            "this run's candidates are not in the file: pass them again, load(path, domain=list)"
        )
    if spec["stored"] == "file":
        return Candidates.reopen(spec["origin"])
    if spec["stored"] == "words":
        return Candidates(spec["words"], objects=True)
    return Candidates(_numbers_of(spec, arrays))


def _numbers_of(spec: Any, arrays: Arrays) -> Opened:
    """The points of a list, with the columns that they were made from."""
    points = Candidates(arrays["candidates"]).points
    if spec["names"] is None:
        return Opened(points)
    import polars as pl  # slow to import, and few runs need it

    from noregret.spaces.encoding import encoder_of

    frame = None
    if "frame" in arrays:
        frame = pl.read_parquet(io.BytesIO(arrays["frame"].tobytes()))
    encoder = encoder_of(spec["features"]) if spec["features"] else None
    return Opened(points, tuple(spec["names"]), frame=frame, encoder=encoder)
