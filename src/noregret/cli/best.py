"""``noregret best``: the choices with the best guaranteed values."""

from typing import Annotated

import typer

from noregret.cli.app import Json, StudyPath, command, open_to_look, print_json, print_rows, say
from noregret.cli.words import say_best, short, warn


@command("best", "noregret best plates.db --top 10", looks=True)
def best(
    study: StudyPath,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many choices to show.")] = 1,
    as_json: Json = False,
) -> None:
    """Show the evaluated choices with the best guaranteed values, and what is recommended."""
    from noregret.reporting.checks import check_study
    from noregret.reporting.measured import recommended
    from noregret.study.evaluating.stopping import gap_of

    with open_to_look(study) as opened:
        if not opened.counts()["told"]:
            raise ValueError(f"{study} has no answers yet")
        found = opened.best()
        frame = recommended(opened, top)
        warnings = [one.text for one in check_study(opened).findings]
        alive, gap, words = opened.optimizer.alive, gap_of(opened), say_best(opened, found)
        named = opened.names is not None
    if as_json:
        best_rows = frame.to_dicts()
        print_json({"gap": gap, "alive": alive, "best": best_rows, "warnings": warnings})
        return
    frame = frame.drop("id") if named else frame
    left_out = print_rows(frame.columns, [[short(value) for value in row] for row in frame.rows()])
    if left_out:
        say(f"The window is too narrow for {', '.join(left_out)}; --json shows them.")
    say(words)
    warn(warnings)
