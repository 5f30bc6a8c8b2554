"""The file of a new study: checked settings, and the optimiser at its start."""

import os
from collections.abc import Sequence
from typing import Any

from noregret import _checks
from noregret.algorithms import check_name, make
from noregret.kernels import as_kernel
from noregret.kernels.spec import to_spec
from noregret.learning.learner import is_auto
from noregret.spaces import Domain, as_domain
from noregret.spaces.files import keeps
from noregret.study.candidate_table import check_names, table_to_show, to_bytes
from noregret.study.storage import replay
from noregret.study.storage.file import StudyFile, study_path


def new_file(
    path: str | os.PathLike[str],
    domain: Any,
    algorithm: str | None,
    *,
    kernel: Any,
    direction: str,
    prior_mean: float,
    names: Sequence[Any] | None,
    table: Any,
    batch: int | None,
    timeout: float | None,
    about: dict[str, Any] | None,
    options: dict[str, Any],
) -> tuple[StudyFile, Domain, Any]:
    """A new file for the settings of :meth:`noregret.Study.create`.

    Returns also the domain, and the kernel if the file cannot hold it (else ``None``).
    """
    _checks.one_of("direction", direction, ("maximize", "minimize"))
    for word in ("minimize", "maximize", "goal"):
        if word in options:
            raise TypeError(
                f"{word} is no setting of a study: say direction='minimize' or direction='maximize'"
            )
    if batch is not None:
        batch = _checks.count("batch", batch)
    if timeout is not None:
        timeout = _checks.positive("timeout", timeout)
    prior_mean = _checks.finite("prior_mean", prior_mean)
    learnt = kernel is None or is_auto(kernel)
    if algorithm is None:
        domain = as_domain(domain)
        by_domain = "trustregionucb" if domain.size is None else "plateucb"
        algorithm = by_domain if learnt else "bbkb"
    algorithm = check_name(algorithm, "algorithm")
    if learnt:
        kernel, options = "auto", {"noise": "auto", "norm": "auto", "width": 2.0} | options
    optimizer = make(algorithm, domain, kernel, **options)
    functions = [name for name, value in optimizer.settings().items() if callable(value)]
    if functions:
        raise TypeError(
            f"{functions[0]} is a function, which no study can store: give a number or a name. An "
            f"optimiser can be saved with opt.save(path), see nr.load(path, {functions[0]}=f)"
        )
    own = optimizer.domain
    check_names(own)
    blobs = {"start": replay.dump(optimizer, candidates=True)}
    shown = table_to_show(own.size, names, table)
    if shown is not None:
        blobs["table"] = to_bytes(shown)
    given_again = [] if keeps(own) else ["domain"]
    if not isinstance(kernel, str) and to_spec(as_kernel(kernel), {}) is None:
        given_again.append("kernel")
    settings = {
        "given_again": given_again,
        "algorithm": algorithm,
        "direction": direction,
        "prior_mean": prior_mean,
        "batch": batch,
        "timeout": timeout,
        "seed": optimizer.seed,
        "named": names is not None,
        "kernel": kernel if isinstance(kernel, str) else repr(as_kernel(kernel)),
        "about": about or {},
    }
    file = StudyFile.create(study_path(path), settings, blobs)
    return file, own, kernel if "kernel" in given_again else None
