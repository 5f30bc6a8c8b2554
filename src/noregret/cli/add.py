"""``noregret add``: more candidates for a running study."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noregret.cli.app import Json, StudyPath, Wait, command, print_json, say
from noregret.cli.csv_files import id_column

if TYPE_CHECKING:
    import polars as pl

    from noregret._types import Floats
    from noregret.spaces.encoding import Encoder
    from noregret.study import Study


@command("add", "noregret add plates.db more.csv")
def add(
    study: StudyPath,
    candidates: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A table with the columns that the study was made from."
        ),
    ],
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Add candidates to a running study: ids, names, answers and bounds of the others stay."""
    from noregret.spaces.tables import Table
    from noregret.study import Study

    table = Table(Path(candidates))
    frame = table.read().frame
    if not len(frame):
        raise ValueError(f"{candidates} has no rows")
    with Study.open(study, wait=wait) as opened:
        encoder = _encoder(opened, table.decimal)
        _refuse_missing(candidates, opened, encoder, frame)
        notes: list[str] = []
        points = _points(candidates, encoder, frame, notes)
        names = None if opened.names is None else [str(name) for name in frame[id_column(opened)]]
        ids = opened.add(points, names=names, table=_shown(opened, frame))
        size = opened.size
    if as_json:
        print_json({"added": len(ids), "candidates": size, "notes": notes})
        return
    say(f"{len(ids)} candidates added; the study has {size:,} now.")
    for note in notes:
        say(f"- {note}")


def _encoder(study: "Study", decimal: str) -> "Encoder":
    """The encoder that turned the columns of the study's own file into coordinates."""
    from noregret.spaces.encoding import encoder_of

    features = study.settings["about"].get("features")
    if not features:
        raise ValueError(
            f"{study.path} was not made from a table of features, so that no file can be added to "
            "it; Study.add takes points"
        )
    return encoder_of(features, decimal)


def _refuse_missing(path: str, study: "Study", encoder: "Encoder", frame: "pl.DataFrame") -> None:
    needed = [feature.name for feature in encoder.features]
    if study.names is not None:
        needed.insert(0, id_column(study))
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}; the study was made from {', '.join(needed)}"
        )


def _shown(study: "Study", frame: "pl.DataFrame") -> "pl.DataFrame | None":
    """The columns that the study shows of its candidates; texts may be missing."""
    import polars as pl

    if study.table is None:
        return None
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None).alias(name)).cast(kind)
        for name, kind in study.table.schema.items()
        if name != "name" or study.names is None
    )


def _points(path: str, encoder: "Encoder", frame: "pl.DataFrame", notes: list[str]) -> "Floats":
    """The new candidates as the kernel sees them, encoded with the means of the old ones."""
    import numpy as np

    for feature in encoder.features:
        cells = frame[feature.name]
        if unknown := feature.unknown_words(cells):
            notes.append(
                f"{feature.name!r} has words that the study does not know: "
                f"{', '.join(unknown[:5])}. They are described by none of its categories."
            )
        if feature.kind != "category" and (gaps := feature.gaps(cells)):
            raise ValueError(
                f"{path}, column {feature.name!r}: {gaps} rows have gaps, and the study "
                "knows of none in this column, so that nothing can be filled in"
            )
    points = encoder.encode(frame)
    if not np.all(np.isfinite(points)):
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ValueError(f"{path}: row {row + 1} has something that is not a number")
    return points
