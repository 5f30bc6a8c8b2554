"""The options of ``noregret create``."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from noregret.cli.app import Json, StudyPath


class KernelName(StrEnum):
    """Kernels by name."""

    RBF = "rbf"
    MATERN52 = "matern52"
    AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class CreateOptions:
    """What ``noregret create`` is given: one field for each option, with its help."""

    study: StudyPath
    candidates: Annotated[
        str | None, typer.Option(help="The list to choose from: CSV, XLSX or Parquet.")
    ] = None
    space: Annotated[
        str | None,
        typer.Option(help="Instead of a list, a TOML file with a table for each parameter."),
    ] = None
    param: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of a list, a parameter; repeat the option: lr=float(1e-6,1,log), "
            "layers=int(1,8), act=choice(relu,gelu), bias=bool."
        ),
    ] = None
    feasible: Annotated[
        str | None,
        typer.Option(
            help="With --space or --param: a condition on the parameters that every trial "
            'satisfies, such as "layers * units < 1000".'
        ),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(
            help="Columns that describe a candidate, as a,b,c; default: all numbers and categories."
        ),
    ] = None
    smiles: Annotated[
        str | None,
        typer.Option(help="The column with SMILES: molecules are compared by fingerprints."),
    ] = None
    fingerprint: Annotated[
        str, typer.Option(help="With --smiles: morgan or atompair (1 to 3 bonds apart).")
    ] = "morgan"
    bits: Annotated[int, typer.Option(help="With --smiles: the length of a fingerprint.")] = 2048
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", "--id", help="The column that names a candidate."),
    ] = None
    value_column: Annotated[
        str, typer.Option(help="The name of the column of values in the files of ask and tell.")
    ] = "value"
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="The algorithm, such as bbkb, bkb, gpucb; default: plateucb for a list, "
            "trustregionucb for parameters."
        ),
    ] = None
    batch: Annotated[int | None, typer.Option(help="How many trials `ask` gives.")] = None
    minimize: Annotated[bool, typer.Option(help="Small values are better.")] = False
    kernel: Annotated[
        KernelName | None,
        typer.Option(
            help="The kernel. auto, the default: learnt, with noise and norm if these are not "
            "given. rbf is the default if --lengthscale or --scale is given."
        ),
    ] = None
    lengthscale: Annotated[
        float | None,
        typer.Option(
            help="Lengthscale of the kernel, on standardised features; default: their median "
            "distance."
        ),
    ] = None
    scale: Annotated[
        float | None,
        typer.Option(help="How far values spread (their deviation), in their unit; default 1."),
    ] = None
    prior_mean: Annotated[
        float, typer.Option(help="The value that is expected before any measurement.")
    ] = 0.0
    noise: Annotated[
        str | None,
        typer.Option(
            help="Deviation of a repeated measurement; heavy: outliers are expected, as in "
            "latencies; auto: learnt. Default: auto, or a tenth of --scale for a kernel "
            "that is not learnt."
        ),
    ] = None
    norm: Annotated[
        float | None, typer.Option(help="Bound on the function's RKHS norm; default 1.")
    ] = None
    delta: Annotated[float, typer.Option(help="Bounds hold with probability 1 − delta.")] = 0.1
    width: Annotated[
        str | None,
        typer.Option(
            help="practical, theory, or a number of deviations; default: 2, or practical for a "
            "kernel that is not learnt."
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds after which ask hands out a trial without an answer again."),
    ] = None
    repeats: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="The most measurements of one candidate; 0: any number. Default: 1 if --noise "
            "is not given, else any number.",
        ),
    ] = None
    aim: Annotated[
        int, typer.Option(min=1, help="How many of the best candidates are looked for.")
    ] = 1
    seed: Annotated[int | None, typer.Option(help="Makes the questions repeatable.")] = None
    standardize: Annotated[
        bool, typer.Option(help="Bring numeric features to mean 0 and deviation 1.")
    ] = True
    drop_gaps: Annotated[
        bool,
        typer.Option(
            "--drop-gaps", help="Leave out rows with gaps; default: fill them with medians."
        ),
    ] = False
    as_json: Json = False

    @property
    def direction(self) -> str:
        """``"minimize"`` or ``"maximize"``."""
        return "minimize" if self.minimize else "maximize"
