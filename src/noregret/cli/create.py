"""``noregret create``: a list of candidates, or a space of parameters, becomes a study."""

import math
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.cli.app import command, print_json, say, takes
from noregret.cli.create_model import GivenModel
from noregret.cli.create_options import CreateOptions
from noregret.cli.words import many

if TYPE_CHECKING:
    from noregret.cli.candidate_library import Library
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
        message = "what to choose from must be given by one of --candidates, --space and --param"
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
    model = GivenModel.of(given)
    notes: list[str] = []
    lengthscale = None if model.learnt else _share_of_ranges(given, space, notes)
    notes += model.notes
    with Study.create(
        given.study,
        space,
        given.algorithm or ("trustregionucb" if model.learnt else "bbkb"),
        kernel=model.of_parameters(space, lengthscale),
        about={"value": given.value_column, "notes": notes},
        **_settings(given, model),
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
        f"{summary['direction']}; {model.known(model.kernel)}seed {summary['seed']}."
    )
    return summary, [first, *about, *(f"- {note}" for note in notes)]


def _share_of_ranges(given: CreateOptions, space: "Space", notes: list[str]) -> float:
    """The lengthscale as a share of each range: as given, else a fifth of √d, with a note."""
    if given.lengthscale is not None:
        return given.lengthscale
    numbers = len(space.parameters) - len(space.categories)
    found = 0.2 * math.sqrt(max(numbers, 1))
    if numbers:
        notes.append(f"Lengthscale {found:.3g} of each range (--lengthscale to set it).")
    return found


def _refuse_options_of_lists(given: CreateOptions) -> None:
    for option, is_given in (
        ("--sheet", given.sheet is not None),
        ("--features", given.features is not None),
        ("--smiles", given.smiles is not None),
        ("--fingerprint", given.fingerprint is not None),
        ("--bits", given.bits is not None),
        ("--id", given.id_column is not None),
        ("--drop-gaps", given.drop_gaps),
        ("--no-standardize", given.no_standardize),
        ("--repeats", given.repeats is not None),
        ("--aim", given.aim > 1),
    ):
        if is_given:
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
    from noregret.spaces.tables import naming_sheets
    from noregret.study import Study

    model = GivenModel.of(given)
    with naming_sheets(given.candidates or "", given.sheet):
        library = _library(given, model.learnt)
    notes = list(library.notes)
    lengthscale = None if model.learnt else _lengthscale(given, library, notes)
    notes += model.notes
    repeats = given.repeats
    if repeats is None and given.noise is None:
        repeats = 1
        notes.append(
            "Each candidate is measured once, as no --noise is given (--repeats 3 for replicates, "
            "--repeats 0 for any number)."
        )
    algorithm = given.algorithm or ("plateucb" if model.learnt else "bbkb")
    with Study.create(
        given.study,
        Candidates(library.points),
        algorithm,
        kernel=model.of_candidates(lengthscale),
        names=library.names,
        table=library.table,
        about=_about(given, library, notes),
        repeats=repeats or None,
        aim=given.aim,
        **_settings(given, model),
    ) as made:
        summary = {
            "study": given.study,
            "candidates": len(library.points),
            "dimensions": library.points.shape[1],
            "algorithm": made.settings["algorithm"],
            "direction": made.settings["direction"],
            "kernel": made.settings["kernel"],
            "noise": model.noise,
            "seed": made.settings["seed"],
            "notes": notes,
        }
        words = choices_in_words(made)
    first = (
        f"{given.study}: {words}; {algorithm} to {summary['direction']}; "
        f"{model.known(summary['kernel'])}seed {summary['seed']}."
    )
    return summary, [first, *(f"- {note}" for note in notes)]


def _library(given: CreateOptions, learnt: bool) -> "Library":
    """The candidates of the table, described by its columns or by fingerprints."""
    from noregret.cli.candidate_library import read_library, read_molecules

    assert given.candidates is not None
    if given.smiles is None:
        if given.fingerprint is not None or given.bits is not None:
            raise ValueError(
                "--fingerprint and --bits are for molecules: name their column too, --smiles"
            )
        return read_library(
            given.candidates,
            given.features,
            given.id_column,
            sheet=given.sheet,
            value_column=given.value_column,
            standardize=not given.no_standardize,
            learnt=learnt,
            drop_gaps=given.drop_gaps,
        )
    if given.features is not None or not learnt:
        raise ValueError("--smiles describes whole molecules: leave out --features and --kernel")
    return read_molecules(
        given.candidates,
        given.smiles,
        given.id_column,
        sheet=given.sheet,
        kind=given.fingerprint or "morgan",
        bits=2048 if given.bits is None else given.bits,
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
        "shown": library.renamed,
        "style": asdict(library.style),
        "notes": notes,
    }


def _settings(given: CreateOptions, model: GivenModel) -> dict[str, Any]:
    """What studies of lists and of parameters are given alike."""
    names = ("direction", "prior_mean", "batch", "timeout", "delta")
    seed = {} if given.seed is None else {"seed": given.seed}
    return {name: getattr(given, name) for name in names} | model.settings | seed
