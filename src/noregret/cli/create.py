"""``noregret create``: a list of candidates, or a space of parameters, becomes a study."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.app import Json, StudyPath, command, print_json, say

if TYPE_CHECKING:
    from noregret.kernels import Kernel
    from noregret.spaces import Space


class KernelName(StrEnum):
    """Kernels by name."""

    RBF = "rbf"
    MATERN52 = "matern52"
    AUTO = "auto"


@command(
    "create",
    'noregret create plates.db --candidates library.csv --features "a,b,c" --id compound '
    "--algorithm bbkb --batch 96",
)
def create(
    study: StudyPath,
    candidates: Annotated[
        str | None, typer.Option(help="The list to choose from: CSV, XLSX or Parquet.")
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(help="Instead of a list, a TOML file with a table for each parameter."),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of a list, a parameter, once for each: lr=float(1e-6,1,log), "
            "layers=int(1,8), act=choice(relu,gelu), bias=bool."
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="Columns that describe a candidate, as a,b,c; default: all numbers and categories."
        ),
    ] = None,
    smiles: Annotated[
        str | None,
        typer.Option(help="The column with SMILES: molecules are compared by fingerprints."),
    ] = None,
    fingerprint: Annotated[
        str, typer.Option(help="With --smiles: morgan or atompair (1 to 3 bonds apart).")
    ] = "morgan",
    bits: Annotated[int, typer.Option(help="With --smiles: the length of a fingerprint.")] = 2048,
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", "--id", help="The column that names a candidate."),
    ] = None,
    value_column: Annotated[
        str, typer.Option(help="What the files of ask and tell call the values.")
    ] = "value",
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="Such as bbkb, bkb, gpucb; default: plateucb for a list, trustregionucb for "
            "parameters."
        ),
    ] = None,
    batch: Annotated[int | None, typer.Option(help="How many trials `ask` gives.")] = None,
    minimize: Annotated[bool, typer.Option(help="Small values are good.")] = False,
    kernel: Annotated[
        KernelName | None,
        typer.Option(
            help="The kernel; auto, the default: learnt, with noise and norm where these are not "
            "given; rbf where --lengthscale or --scale is given."
        ),
    ] = None,
    lengthscale: Annotated[
        float | None,
        typer.Option(
            help="Of the kernel, on standardised features; default: their median distance."
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(help="How far values spread (their deviation), in their unit; default 1."),
    ] = None,
    prior_mean: Annotated[
        float, typer.Option(help="What a value is expected to be beforehand.")
    ] = 0.0,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Deviation of a repeated measurement; heavy: outliers are expected, as in "
            "latencies; auto: learnt. Default: auto, or a tenth of --scale for a kernel "
            "that is not learnt."
        ),
    ] = None,
    norm: Annotated[
        float | None, typer.Option(help="Bound on the function's RKHS norm; default 1.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Bounds hold with probability 1 − delta.")] = 0.1,
    width: Annotated[
        str | None,
        typer.Option(
            help="practical, theory, or a number of deviations; default: 2, or practical for a "
            "kernel that is not learnt."
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which a trial without an answer is given to whoever asks next."
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="The most measurements of one candidate; 0: any number. Default: 1 where --noise "
            "is not given, else any number.",
        ),
    ] = None,
    aim: Annotated[
        int, typer.Option(min=1, help="How many of the best candidates are looked for.")
    ] = 1,
    seed: Annotated[int | None, typer.Option(help="Makes the questions repeatable.")] = None,
    standardize: Annotated[
        bool, typer.Option(help="Bring numeric features to mean 0 and deviation 1.")
    ] = True,
    drop_gaps: Annotated[
        bool,
        typer.Option(
            "--drop-gaps", help="Leave out rows with gaps; default: fill them with medians."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a study from a list of candidates, or from parameters and their ranges."""
    from noregret.cli.candidates import (
        median_distance,
        read_library,
        read_molecules,
        refuse_collisions,
    )
    from noregret.spaces import Candidates
    from noregret.study import Study

    if sum(bool(given) for given in (candidates, space, param)) != 1:
        message = "what to choose from must be given by --candidates, --space or --param"
        if Path(study).is_file():
            right = shlex.join([str(Path(study).with_suffix(".db")), "--candidates", study])
            message += f"; for the list in {study}: noregret create {right}"
        raise ValueError(message)
    if candidates is None:
        for option, unused in (
            ("--features", features),
            ("--smiles", smiles),
            ("--id", id_column),
            ("--lengthscale", lengthscale),
            ("--scale", scale),
            ("--repeats", repeats),
            ("--aim", aim if aim > 1 else None),
            ("--kernel", kernel if kernel is not KernelName.AUTO else None),
        ):
            if unused is not None:
                raise ValueError(f"{option} is for a list of candidates: leave it out")
        settings = {"noise": noise, "norm": norm, "width": _width(width or "2"), "seed": seed}
        parameters = _space(space, param or [])
        refuse_collisions(space or "--param", list(parameters.names or ()), value_column)
        _create_on_space(
            study,
            parameters,
            algorithm or "trustregionucb",
            as_json,
            direction="minimize" if minimize else "maximize",
            prior_mean=prior_mean,
            batch=batch,
            timeout=timeout,
            about={"value": value_column, "notes": []},
            delta=delta,
            **{name: value for name, value in settings.items() if value is not None},
        )
        return
    if kernel is None:
        kernel = KernelName.AUTO if lengthscale is None and scale is None else KernelName.RBF
    learnt = kernel is KernelName.AUTO
    algorithm = algorithm or ("plateucb" if learnt else "bbkb")
    if smiles is not None:
        if features is not None or not learnt:
            raise ValueError("--smiles describes molecules whole: leave out --features, --kernel")
        library = read_molecules(
            candidates, smiles, id_column, kind=fingerprint, bits=bits, value_column=value_column
        )
    else:
        library = read_library(
            candidates,
            features,
            id_column,
            value_column=value_column,
            standardize=standardize,
            drop_gaps=drop_gaps,
        )
    notes = list(library.notes)
    if learnt:
        if lengthscale is not None or scale is not None:
            raise ValueError("--kernel auto learns the lengthscale and the scale: leave them out")
        notes.append("Kernel and noise are learnt from the values that you tell.")
    elif lengthscale is None:
        lengthscale = median_distance(library.points)
        notes.append(
            f"Lengthscale {lengthscale:.4g}: the median distance between candidates "
            "(--lengthscale to set it)."
        )
    if repeats is None and noise is None:
        repeats = 1
        notes.append(
            "Each candidate is measured once, as no --noise is given (--repeats 3 for replicates, "
            "--repeats 0 for any number)."
        )
    scale = 1.0 if scale is None else scale
    given: dict[str, float | str | None] = {"noise": _noise(noise), "norm": norm}
    usual = {"noise": 0.1 * scale, "norm": 1.0}
    for name, value in given.items():
        if value is None:
            given[name] = "auto" if learnt else usual[name]
    with Study.create(
        study,
        Candidates(library.points),
        algorithm,
        kernel=_kernel(kernel, lengthscale, scale),
        direction="minimize" if minimize else "maximize",
        prior_mean=prior_mean,
        names=library.names,
        table=library.table,
        batch=batch,
        timeout=timeout,
        about={
            "candidates": candidates,
            "id": library.id_column or "id",
            "value": value_column,
            "columns": library.columns,
            "features": library.features,
            "notes": notes,
        },
        repeats=repeats or None,
        aim=aim,
        **given,
        delta=delta,
        width=_width(width or ("2" if learnt else "practical")),
        **({} if seed is None else {"seed": seed}),
    ) as made:
        summary = {
            "study": study,
            "candidates": len(library.points),
            "dimensions": library.points.shape[1],
            "algorithm": made.settings["algorithm"],
            "direction": made.settings["direction"],
            "kernel": made.settings["kernel"],
            "noise": given["noise"],
            "seed": made.settings["seed"],
            "notes": notes,
        }
    if as_json:
        print_json(summary)
        return
    say(
        f"{study}: {summary['candidates']} candidates in {summary['dimensions']} dimensions, "
        f"{algorithm} to {summary['direction']}, {summary['kernel']}, noise {given['noise']}, "
        f"seed {summary['seed']}"
    )
    for note in notes:
        say(f"- {note}")


def _space(path: str | None, texts: list[str]) -> "Space":
    from noregret.spaces.description import read_space, space_in_words

    return space_in_words(texts) if path is None else read_space(path)


def _create_on_space(
    study: str, space: "Space", algorithm: str, as_json: bool, **settings: Any
) -> None:
    """Make a study of parameters; kernel, noise and norm are learnt where not given."""
    from noregret.study import Study

    with Study.create(study, space, algorithm, **settings) as made:
        summary = {
            "study": study,
            "parameters": dict(zip(space.names or (), space.spec(), strict=True)),
            "algorithm": made.settings["algorithm"],
            "direction": made.settings["direction"],
            "kernel": made.settings["kernel"],
            "seed": made.settings["seed"],
        }
    if as_json:
        print_json(summary)
        return
    say(
        f"{study}: {len(space.parameters)} parameters, {summary['algorithm']} to "
        f"{summary['direction']}, seed {summary['seed']}"
    )
    for name, parameter in zip(space.names or (), space.parameters, strict=True):
        say(f"- {name}: {parameter}")


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
