"""``noregret create``: a list of candidates becomes a study."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from noregret.cli.app import Json, StudyPath, command, print_json, say

if TYPE_CHECKING:
    from noregret.kernels import Kernel


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
    candidates: Annotated[str, typer.Option(help="The list to choose from: CSV, XLSX or Parquet.")],
    features: Annotated[
        str | None,
        typer.Option(
            help="Columns that describe a candidate, as a,b,c; default: all numbers and categories."
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", "--id", help="The column that names a candidate."),
    ] = None,
    value_column: Annotated[
        str, typer.Option(help="What the files of ask and tell call the values.")
    ] = "value",
    algorithm: Annotated[str, typer.Option(help="Such as bbkb, bkb, gpucb.")] = "bbkb",
    batch: Annotated[int | None, typer.Option(help="How many trials `ask` gives.")] = None,
    minimize: Annotated[bool, typer.Option(help="Small values are good.")] = False,
    kernel: Annotated[
        KernelName,
        typer.Option(
            help="The kernel; auto: learnt from uniform draws, with noise and norm where these "
            "are not given."
        ),
    ] = KernelName.RBF,
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
        float | None,
        typer.Option(help="Deviation of a repeated measurement; default: a tenth of --scale."),
    ] = None,
    norm: Annotated[
        float | None, typer.Option(help="Bound on the function's RKHS norm; default 1.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Bounds hold with probability 1 − delta.")] = 0.1,
    width: Annotated[
        str, typer.Option(help="practical, theory, or a number of deviations.")
    ] = "practical",
    timeout: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which a trial without an answer is given to whoever asks next."
        ),
    ] = None,
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
    """Make a study from a list of candidates."""
    from noregret.cli.candidates import median_distance, read_library
    from noregret.spaces import Candidates
    from noregret.study import Study

    library = read_library(
        candidates,
        features,
        id_column,
        value_column=value_column,
        standardize=standardize,
        drop_gaps=drop_gaps,
    )
    notes = list(library.notes)
    if kernel is KernelName.AUTO:
        if lengthscale is not None or scale is not None:
            raise ValueError("--kernel auto learns the lengthscale and the scale: leave them out")
        notes.append("Kernel: learnt from uniform draws, which come first and now and then later.")
    elif lengthscale is None:
        lengthscale = median_distance(library.points)
        notes.append(
            f"Lengthscale {lengthscale:.4g}: the median distance between candidates "
            "(--lengthscale to set it)."
        )
    scale = 1.0 if scale is None else scale
    given: dict[str, float | str | None] = {"noise": noise, "norm": norm}
    usual = {"noise": 0.1 * scale, "norm": 1.0}
    for name, value in given.items():
        if value is None:
            given[name] = "auto" if kernel is KernelName.AUTO else usual[name]
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
            "notes": notes,
        },
        **given,
        delta=delta,
        width=_width(width),
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


def _kernel(name: KernelName, lengthscale: float | None, scale: float) -> "Kernel | str":
    from noregret.kernels import RBF, Matern

    if lengthscale is None:
        return "auto"
    if name is KernelName.RBF:
        return RBF(lengthscale, variance=scale**2)
    return Matern(lengthscale, nu=2.5, variance=scale**2)


def _width(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
