"""``noregret check``: whether a study's file is as it was written."""

import typer

from noregret.cli.app import DAMAGED, Json, StudyPath, command, print_json, say

#: how many trials are named in one line
_NAMED = 20


@command("check", "noregret check plates.db")
def check(study: StudyPath, as_json: Json = False) -> None:
    """Compare everything in a study with its checksums; say what is damaged, and which trials.

    Nothing is changed. The exit code is 4 if something is damaged.
    """
    from noregret.study.storage.check import check_file

    found = check_file(study)
    if as_json:
        print_json({"ok": not found.problems, **vars(found)})
    elif not found.problems:
        say(f"All checksums hold: {found.trials:,} trials, {found.operations:,} operations.")
    else:
        for problem in found.problems:
            say(f"Damaged: {problem}.")
        say(_about_trials(found.damaged))
        say(f"To save what can be read: noregret export {study} --salvage --to csv")
    if found.problems:
        raise typer.Exit(DAMAGED)


def _about_trials(damaged: list[int] | None) -> str:
    from noregret._checks import first_few

    if damaged is None:
        return "No trial can be found in the file."
    if not damaged:
        return "All trials are as they were written."
    return f"{len(damaged):,} trials are missing or have changed: {first_few(damaged, _NAMED)}."
