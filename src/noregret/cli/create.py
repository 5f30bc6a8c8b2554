"""``noregret create``: a list of candidates, or a space of parameters, becomes a study."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.cli.app import command, print_json, say, takes
from noregret.cli.create_options import CreateOptions, KernelName
from noregret.cli.words import many

if TYPE_CHECKING:
    from noregret.cli.candidate_library import Library
    from noregret.kernels import Kernel
    from noregret.spaces import Space

#: what is said about a new study: a dict for scripts, and lines for people
Summary = tuple[dict[str, Any], list[str]]


@command(
    "create",
    "noregret create plates.db --candidates library.csv --id compound --batch 96",
)
@takes(CreateOptions)
def create(given: CreateOptions) -> None:
    """Make a study from a list of candidates, or from parameters and their ranges."""
    if sum(bool(source) for source in (given.candidates, given.space, given.param)) != 1:
        message = "what to choose from must be given by --candidates, --space or --param"
        if Path(given.study).is_file():
            right = [str(Path(given.study).with_suffix(".db")), "--candidates", given.study]
            message += f"; for the list in {given.study}: noregret create {shlex.join(right)}"
        raise ValueError(message)
    summary, lines = _on_space(given) if given.candidates is None else _on_list(given)
    if given.as_json:
        print_json(summary)
        return
    for line in lines:
        say(line)


# -- parameters ----------------------------------------------------------------------------------


def _on_space(given: CreateOptions) -> Summary:
    """Make a study of parameters; kernel, noise and norm are learnt if not given."""
    from noregret.cli.candidate_columns import refuse_collisions
    from noregret.spaces.description import words_of
    from noregret.study import Study

    _refuse_options_of_lists(given)
    space = _space(given)
    names = space.names or ()
    refuse_collisions(given.space or "--param", list(names), given.value_column)
    options = {"noise": given.noise, "norm": given.norm, "seed": given.seed}
    settings: dict[str, Any] = {name: one for name, one in options.items() if one is not None}
    with Study.create(
        given.study,
        space,
        given.algorithm or "trustregionucb",
        direction=given.direction,
        prior_mean=given.prior_mean,
        batch=given.batch,
        timeout=given.timeout,
        about={"value": given.value_column, "notes": []},
        delta=given.delta,
        width=_width(given.width or "2"),
        **settings,
    ) as made:
        summary = {
            "study": given.study,
            "parameters": dict(zip(names, space.spec(), strict=True)),
            "feasible": given.feasible,
            "algorithm": made.settings["algorithm"],
            "direction": made.settings["direction"],
            "kernel": made.settings["kernel"],
            "seed": made.settings["seed"],
        }
    about = [
        f"- {name}: {words_of(one)}" for name, one in zip(names, space.parameters, strict=True)
    ]
    if space.feasible is not None:
        about.append(f"- where {given.feasible}")
    first = (
        f"{given.study}: {many(len(names), 'parameter')}; {summary['algorithm']} to "
        f"{summary['direction']}; seed {summary['seed']}."
    )
    if given.noise is None:
        about.append("- Kernel and noise are learnt from the values that you tell.")
    return summary, [first, *about]


def _refuse_options_of_lists(given: CreateOptions) -> None:
    for option, unused in (
        ("--features", given.features),
        ("--smiles", given.smiles),
        ("--id", given.id_column),
        ("--lengthscale", given.lengthscale),
        ("--scale", given.scale),
        ("--repeats", given.repeats),
        ("--aim", given.aim if given.aim > 1 else None),
        ("--kernel", given.kernel if given.kernel is not KernelName.AUTO else None),
    ):
        if unused is not None:
            raise ValueError(f"{option} is for a list of candidates: leave it out")


def _space(given: CreateOptions) -> "Space":
    from noregret.spaces.description import read_space, space_in_words

    if given.space is None:
        return space_in_words(given.param or [], given.feasible)
    return read_space(given.space, given.feasible)


# -- lists ---------------------------------------------------------------------------------------


def _on_list(given: CreateOptions) -> Summary:
    """Make a study of the candidates in a table."""
    if given.feasible is not None:
        raise ValueError("--feasible is for --space and --param: leave it out")
    from noregret.reporting.words import choices_in_words
    from noregret.spaces import Candidates
    from noregret.study import Study

    by_hand = given.lengthscale is not None or given.scale is not None
    kernel = given.kernel or (KernelName.RBF if by_hand else KernelName.AUTO)
    learnt = kernel is KernelName.AUTO
    library = _library(given, learnt)
    notes = list(library.notes)
    if learnt and by_hand:
        raise ValueError("--kernel auto learns the lengthscale and the scale: leave them out")
    lengthscale = None if learnt else _lengthscale(given, library, notes)
    if learnt:
        notes.append("Kernel and noise are learnt from the values that you tell.")
    repeats = given.repeats
    if repeats is None and given.noise is None:
        repeats = 1
        notes.append(
            "Each candidate is measured once, as no --noise is given (--repeats 3 for replicates, "
            "--repeats 0 for any number)."
        )
    scale = 1.0 if given.scale is None else given.scale
    noise: float | str | None = _noise(given.noise)
    if noise is None:
        noise = "auto" if learnt else 0.1 * scale
    norm: float | str = "auto" if learnt else 1.0
    algorithm = given.algorithm or ("plateucb" if learnt else "bbkb")
    with Study.create(
        given.study,
        Candidates(library.points),
        algorithm,
        kernel=_kernel(kernel, lengthscale, scale),
        direction=given.direction,
        prior_mean=given.prior_mean,
        names=library.names,
        table=library.table,
        batch=given.batch,
        timeout=given.timeout,
        about=_about(given, library, notes),
        repeats=repeats or None,
        aim=given.aim,
        noise=noise,
        norm=norm if given.norm is None else given.norm,
        delta=given.delta,
        width=_width(given.width or ("2" if learnt else "practical")),
        **({} if given.seed is None else {"seed": given.seed}),
    ) as made:
        summary = {
            "study": given.study,
            "candidates": len(library.points),
            "dimensions": library.points.shape[1],
            "algorithm": made.settings["algorithm"],
            "direction": made.settings["direction"],
            "kernel": made.settings["kernel"],
            "noise": noise,
            "seed": made.settings["seed"],
            "notes": notes,
        }
        words = choices_in_words(made)
    known = "" if learnt else f"{summary['kernel']}, noise {noise}; "
    first = (
        f"{given.study}: {words}; {algorithm} to {summary['direction']}; {known}seed "
        f"{summary['seed']}."
    )
    return summary, [first, *(f"- {note}" for note in notes)]


def _library(given: CreateOptions, learnt: bool) -> "Library":
    """The candidates of the table, described by its columns or by fingerprints."""
    from noregret.cli.candidate_library import read_library, read_molecules

    assert given.candidates is not None
    if given.smiles is None:
        return read_library(
            given.candidates,
            given.features,
            given.id_column,
            value_column=given.value_column,
            standardize=not given.no_standardize,
            drop_gaps=given.drop_gaps,
        )
    if given.features is not None or not learnt:
        raise ValueError("--smiles describes whole molecules: leave out --features and --kernel")
    return read_molecules(
        given.candidates,
        given.smiles,
        given.id_column,
        kind=given.fingerprint,
        bits=given.bits,
        value_column=given.value_column,
    )


def _lengthscale(given: CreateOptions, library: "Library", notes: list[str]) -> float:
    """The lengthscale that is given, else the median distance, with a note."""
    from noregret.cli.candidate_library import median_distance

    if given.lengthscale is not None:
        return given.lengthscale
    found = median_distance(library.points)
    notes.append(
        f"Lengthscale {found:.4g}: the median distance between candidates (--lengthscale to set "
        "it)."
    )
    return found


def _about(given: CreateOptions, library: "Library", notes: list[str]) -> dict[str, Any]:
    """What the study keeps of the table, for the files of ask and tell."""
    return {
        "candidates": given.candidates,
        "id": library.id_column or "id",
        "value": given.value_column,
        "columns": library.columns,
        "features": library.features,
        "style": asdict(library.style),
        "notes": notes,
    }


# -- options in words ----------------------------------------------------------------------------


def _kernel(name: KernelName, lengthscale: float | None, scale: float) -> "Kernel | str":
    from noregret.kernels import RBF, Matern

    if lengthscale is None:
        return "auto"
    if name is KernelName.RBF:
        return RBF(lengthscale, variance=scale**2)
    return Matern(lengthscale, nu=2.5, variance=scale**2)


def _noise(text: str | None) -> str | float | None:
    if text is None or text in ("heavy", "auto"):
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--noise must be a number, heavy or auto, got {text!r}") from None


def _width(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
