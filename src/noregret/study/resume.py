"""The study of a one-line call with a path: created, or opened if it has the same settings."""

from typing import Any

from noregret.algorithms import make
from noregret.kernels import as_kernel
from noregret.kernels.spec import same_kernel, to_spec
from noregret.learning.learner import is_auto
from noregret.optimizer import Optimizer
from noregret.spaces import Candidates, Space
from noregret.spaces.files import keeps, same_domain
from noregret.study.arguments import Call
from noregret.study.errors import StudyError
from noregret.study.storage.file import study_path
from noregret.study.study import Study


def stored_study(call: Call, domain: Candidates | Space) -> Study:
    """The study at the path; it is created if there is none."""
    assert call.storage is not None
    study_path(call.storage, "storage")
    asked = str(call.algorithm).lower()
    try:
        study = _open(call, domain)
    except FileNotFoundError:
        name = call.name(domain)
        return Study.create(
            call.storage,
            domain,
            name,
            direction=call.direction,
            about={"algorithm": asked},
            **call.settings(name),
        )
    try:
        name = study.settings["algorithm"]
        if asked not in (study.settings["about"].get("algorithm", "auto"), name):
            raise _other(study, "algorithm", name, asked)
        if study.settings["direction"] != call.direction:
            raise _other(study, "direction", study.settings["direction"], call.direction)
        if not same_domain(study.domain, domain):
            raise _other(study, "domain", study.domain, domain)
        # A run may go on with a larger budget, and keeps its seed.
        free = {"horizon"} - call.options.keys() | ({"seed"} if call.seed is None else set())
        _compare(study, make(name, domain, **call.settings(name)), free)
    except BaseException:
        study.close()
        raise
    return study


def _open(call: Call, domain: Candidates | Space) -> Study:
    """The study at the path, opened with what files cannot store."""
    given: dict[str, Any] = {}
    if not keeps(domain):
        given["domain"] = domain
    kernel = call.options.get("kernel", "auto")
    if not is_auto(kernel) and to_spec(as_kernel(kernel), {}) is None:
        given["kernel"] = kernel
    return Study.open(call.storage, **given)  # type: ignore[arg-type]


def _compare(study: Study, wanted: Optimizer, free: set[str]) -> None:
    """Refuse a study whose settings, except the ``free`` ones, are not those of this call."""
    here, there = wanted.settings(), study.optimizer.settings()
    here |= {name: there[name] for name in free & here.keys()}
    _compare_kernels(study, wanted.kernel)
    for name, value in here.items():
        if value != there[name]:
            raise _other(study, name, there[name], value)


def _compare_kernels(study: Study, wanted: Any) -> None:
    """Refuse a study with another kernel; of callables, only that it has one is known."""
    given = wanted if is_auto(wanted) else as_kernel(wanted)
    stored = study.settings["kernel"]
    shown = given if is_auto(given) else repr(given)
    if is_auto(given) or is_auto(stored):
        same = shown == stored
    elif to_spec(given, {}) is None:
        same = "kernel" in study.settings["given_again"]
    else:
        same = same_kernel(given, as_kernel(study.optimizer.kernel))
    if not same:
        raise _other(
            study, "kernel", stored, shown if shown != stored else f"{shown} with other numbers"
        )


def _other(study: Study, what: str, stored: Any, given: Any) -> StudyError:
    return StudyError(
        f"storage: the study at {study.path} has {what} {stored!r}, this call has {given!r}; give "
        "the same, or another path"
    )
