"""The program starts at once, and starting it changes nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import noregret as nr
from noregret.algorithms import algorithms

SLOW = ("polars", "sqlite3", "matplotlib", "noregret.study", "noregret.experiments")


STARTED = """
import json, sys
import noregret.cli.main
modules = sorted(sys.modules)
from noregret.algorithms import algorithms
known = sorted(algorithms)
import noregret.experiments.registry
print(json.dumps([modules, known, sorted(algorithms)]))
"""


def test_the_command_line_loads_nothing_slow_and_adds_no_algorithm():
    done = subprocess.run(
        [sys.executable, "-c", STARTED],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(nr.__file__).parents[1])},
    )
    modules, known, then = json.loads(done.stdout)
    assert not set(modules) & set(SLOW)
    assert then == known == sorted(algorithms)
