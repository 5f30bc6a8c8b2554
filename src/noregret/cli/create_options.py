"""The options of ``noregret create``."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from noregret.cli.app import Json, StudyPath

# The help shows the options under these headings.
_choices = partial(typer.Option, rich_help_panel="What to choose from (one of the first three)")
_table = partial(typer.Option, rich_help_panel="Columns of the list")
_questions = partial(typer.Option, rich_help_panel="What to ask for")
_model = partial(typer.Option, rich_help_panel="The model (learnt where nothing is given)")


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
        str | None,
        _choices(metavar="FILE", help="A list of candidates: CSV, XLSX or Parquet."),
    ] = None
    param: Annotated[
        list[str] | None,
        _choices(
            metavar="NAME=RANGE",
            help="A parameter; repeat the option: lr=float(1e-6,1,log), layers=int(1,8), "
            "act=choice(relu,gelu), bias=bool.",
        ),
    ] = None
    space: Annotated[
        str | None,
        _choices(metavar="FILE", help="A TOML file with a line or a table for each parameter."),
    ] = None
    feasible: Annotated[
        str | None,
        _choices(
            metavar="TEXT",
            help="With --param or --space: a condition on the parameters that every trial "
            'satisfies, such as "layers * units < 1000".',
        ),
    ] = None
    sheet: Annotated[
        str | None,
        _table(metavar="NAME", help="The sheet to read; default: the first."),
    ] = None
    id_column: Annotated[
        str | None,
        _table(
            "--id-column",
            "--id",
            metavar="COLUMN",
            help="The column of names; default: id, name, compound, or the first that fits.",
        ),
    ] = None
    features: Annotated[
        str | None,
        _table(
            metavar="A,B,C",
            help="Columns that describe a candidate; default: all numbers and categories.",
        ),
    ] = None
    value_column: Annotated[
        str,
        _table(metavar="NAME", help="What the files of ask and tell call the column of values."),
    ] = "value"
    drop_gaps: Annotated[
        bool, _table("--drop-gaps", help="Leave out rows with gaps; default: fill them by medians.")
    ] = False
    no_standardize: Annotated[
        bool,
        _table(
            "--no-standardize",
            help="Take numbers as they are; default: bring them to mean 0 and deviation 1.",
        ),
    ] = False
    smiles: Annotated[
        str | None,
        _table(
            metavar="COLUMN",
            help="The column with SMILES: molecules are compared by fingerprints.",
        ),
    ] = None
    fingerprint: Annotated[
        str | None,
        _table(
            metavar="KIND",
            help="With --smiles: morgan, the default, or atompair (1 to 3 bonds apart).",
        ),
    ] = None
    bits: Annotated[
        int | None,
        _table(metavar="N", help="With --smiles: the length of a fingerprint; default 2048."),
    ] = None
    minimize: Annotated[
        bool,
        _questions("--minimize", help="Small values are better; default: large ones."),
    ] = False
    batch: Annotated[int | None, _questions(metavar="N", help="How many trials `ask` gives.")] = (
        None
    )
    repeats: Annotated[
        int | None,
        _questions(
            min=0,
            metavar="N",
            help="The most measurements of one candidate; 0: any number. Default: 1 if --noise "
            "is not given, else any number.",
        ),
    ] = None
    aim: Annotated[
        int,
        _questions(min=1, metavar="N", help="How many of the best candidates are looked for."),
    ] = 1
    timeout: Annotated[
        float | None,
        _questions(metavar="SECONDS", help="After this time an open trial is handed out again."),
    ] = None
    seed: Annotated[int | None, _questions(metavar="N", help="Makes the questions repeatable.")] = (
        None
    )
    algorithm: Annotated[
        str | None,
        _model(
            metavar="NAME",
            help="Such as bbkb, bkb, gpucb; default: plateucb for a list, trustregionucb for "
            "parameters, bbkb for a kernel that is not learnt.",
        ),
    ] = None
    kernel: Annotated[
        KernelName | None,
        _model(
            metavar="NAME",
            help="rbf, matern52 or auto (learnt, the default). rbf is the default if "
            "--lengthscale or --scale is given.",
        ),
    ] = None
    lengthscale: Annotated[
        float | None,
        _model(
            metavar="NUMBER",
            help="How far apart two choices may be and still be alike. Of candidates: on "
            "standardised features, by default their median distance. Of parameters: a share of "
            "each range, by default a fifth of √d for d parameters that are numbers.",
        ),
    ] = None
    scale: Annotated[
        float | None,
        _model(
            metavar="NUMBER",
            help="How far values spread (their deviation), in their unit; default 1.",
        ),
    ] = None
    prior_mean: Annotated[
        float,
        _model(metavar="NUMBER", help="The value that is expected before any measurement."),
    ] = 0.0
    noise: Annotated[
        str | None,
        _model(
            metavar="NUMBER",
            help="Deviation of a repeated measurement; heavy: outliers are expected, as in "
            "latencies; auto: learnt. Default: auto, or a tenth of --scale for a kernel "
            "that is not learnt.",
        ),
    ] = None
    norm: Annotated[
        float | None,
        _model(
            metavar="NUMBER",
            help="Bound on the function's RKHS norm; default: learnt, or 1 for a kernel that is "
            "not learnt.",
        ),
    ] = None
    delta: Annotated[
        float, _model(metavar="NUMBER", help="Bounds hold with probability 1 − delta.")
    ] = 0.1
    width: Annotated[
        str | None,
        _model(
            metavar="NUMBER",
            help="How wide intervals are: a number of deviations, practical or theory; "
            "default: 2, or practical for a kernel that is not learnt.",
        ),
    ] = None
    as_json: Json = False

    @property
    def direction(self) -> str:
        """``"minimize"`` or ``"maximize"``."""
        return "minimize" if self.minimize else "maximize"
