"""Candidates that were added to a study: kept in its file by the operation that added them."""

import io
import json
from typing import Any

import numpy as np
import polars as pl

from noregret.spaces import Candidates, Domain, as_candidates
from noregret.spaces.other_lists import first_of, joined, of_the_same_kind
from noregret.study.errors import DamagedError, StudyError
from noregret.study.storage.storage import Storage

#: the name of the bytes that list all additions
_LIST = "additions"


def additions(storage: Storage) -> list[tuple[int, int]]:
    """For every addition the number of its operation, and how many candidates it added."""
    data = storage.get_blob(_LIST)
    return [] if data is None else [(int(a), int(b)) for a, b in json.loads(data)]


def put_addition(storage: Storage, operation: int, more: Candidates) -> None:
    """Keep the candidates that an operation added."""
    if more.frame is not None:
        file = io.BytesIO()
        more.frame.write_parquet(file)
        data = file.getvalue()
    elif more.are_objects:
        data = json.dumps(more.points.tolist()).encode()
    else:
        file = io.BytesIO()
        np.save(file, more.points, allow_pickle=False)
        data = file.getvalue()
    storage.put_blob(f"added/{operation}", data)
    listed = [*additions(storage), (operation, len(more))]
    storage.put_blob(_LIST, json.dumps(listed).encode())


def get_addition(storage: Storage, operation: int) -> Any:
    """The candidates that an operation added; a frame where the list has columns."""
    data = storage.get_blob(f"added/{operation}")
    if data is None:
        raise DamagedError(f"the study has lost the candidates that operation {operation} added")
    if data.startswith(b"["):
        return Candidates(json.loads(data), objects=True)
    if data.startswith(b"PAR1"):
        return pl.read_parquet(io.BytesIO(data))
    return Candidates(np.load(io.BytesIO(data), allow_pickle=False))


def with_additions(storage: Storage, domain: Domain) -> Domain:
    """A study's first list with everything that was added to it."""
    for operation, _ in additions(storage):
        listed = as_candidates(domain)
        domain = joined(listed, of_the_same_kind(listed, get_addition(storage, operation)))
    return domain


def domain_after(storage: Storage, domain: Domain, operation: int) -> Domain:
    """The list as it was after an operation."""
    later = sum(n for number, n in additions(storage) if number > operation)
    if not later:
        return domain
    listed = as_candidates(domain)
    return first_of(listed, len(listed) - later)


def check_storable(more: Candidates) -> None:
    """Refuse candidates that a file cannot hold."""
    if more.are_objects and not all(isinstance(entry, str) for entry in more.points):
        raise StudyError(
            "candidates that are objects of your own cannot be added to a study, because its file "
            "cannot hold them"
        )
