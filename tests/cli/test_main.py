"""The program starts at once, and starting it changes nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import noregret as nr

SLOW = ("polars", "sqlite3", "matplotlib", "noregret.study", "noregret.experiments")


def loaded_by(statement):
    """The modules that a fresh interpreter has loaded, and the algorithms it knows."""
    code = (
        f"{statement}\nimport json, sys\nfrom noregret.algorithms import algorithms\n"
        "print(json.dumps([sorted(sys.modules), sorted(algorithms)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(nr.__file__).parents[1])},
    )
    modules, known = json.loads(done.stdout)
    return set(modules), known


def test_the_command_line_loads_nothing_slow_before_a_command_runs():
    modules, _ = loaded_by("import noregret.cli.main")
    assert not modules & set(SLOW)


def test_the_command_line_and_the_experiments_add_no_algorithm():
    _, known = loaded_by("import noregret")
    _, then = loaded_by("import noregret.cli.main, noregret.experiments.registry")
    assert then == known
