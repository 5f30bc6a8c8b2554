"""Starting is quick: nothing is imported before it is used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import noregret as nr

SLOW = {"polars", "matplotlib", "sklearn", "pandas", "distributed", "dask", "torch", "pooch"}

#: one process: modules after `import noregret`, `--help`, `noregret.BBKB` and the first use
STARTED = """
import json, sys
found = {}
import noregret
found["import"] = sorted(sys.modules)
from noregret.cli.main import main
sys.argv = ["noregret", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
found["help"] = sorted(sys.modules)
noregret.BBKB
found["class"] = sorted(sys.modules)
noregret.BBKB(noregret.Candidates([[0.0], [1.0]]), noregret.RBF(1.0)).ask()
found["ask"] = sorted(sys.modules)
known = sorted(noregret.algorithms.algorithms)
import noregret.experiments.registry
found["algorithms"] = [known, sorted(noregret.algorithms.algorithms)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def started():
    """What the process prints last."""
    source = str(Path(nr.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", STARTED],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": source},
    )
    return json.loads(done.stdout.splitlines()[-1])


def others(modules):
    """Packages that are neither ours nor part of Python."""
    packages = {name.partition(".")[0] for name in modules}
    return {name for name in packages - set(sys.stdlib_module_names) if name[0] != "_"}


def test_importing_the_package_imports_no_other(started):
    assert "numpy" not in others(started["import"])
    assert not [name for name in started["import"] if name.startswith("noregret.")]


def test_help_imports_what_prints_it_and_nothing_else(started):
    assert {"typer", "rich"} <= others(started["help"])
    assert not others(started["help"]) & {"numpy", "scipy", *SLOW}
    folders = {name.split(".")[1] for name in started["help"] if name.startswith("noregret.")}
    assert not folders & {"algorithms", "study", "experiments", "reporting", "optimizer"}
    assert "sqlite3" not in started["help"]


def test_an_algorithm_imports_numpy_and_linear_algebra_only(started):
    assert {"numpy", "scipy", "threadpoolctl"} <= others(started["ask"])
    assert not others(started["ask"]) & SLOW
    slow = {f"scipy.{part}" for part in ("stats", "optimize", "interpolate", "integrate")}
    assert not set(started["ask"]) & {*slow, "sqlite3", "noregret.study", "noregret.experiments"}


def test_the_papers_experiments_add_no_algorithm(started):
    before, after = started["algorithms"]
    assert before == after


def test_ctrl_c_while_modules_are_loaded_shows_no_traceback():
    program = (
        "import builtins, sys\n"
        "load = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name == 'noregret.cli.main':\n"
        "        raise KeyboardInterrupt\n"
        "    return load(name, *rest)\n"
        "builtins.__import__ = interrupted\n"
        "from noregret.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_algorithm_imports_the_search_of_its_own_kind_of_space(started):
    lists, boxes = "noregret.picking.lists.ucb", "noregret.picking.boxes.search"
    assert not {lists, boxes} & {*started["class"]}
    assert lists in started["ask"]
    assert boxes not in started["ask"]
    rare = {"spaces.conditions", "spaces.description", "spaces.shards", "rewards.diagnosis"}
    assert not {f"noregret.{name}" for name in rare} & {*started["class"]}


def test_a_misspelt_name_of_the_package_has_what_python_needs_to_name_the_nearest():
    with pytest.raises(AttributeError, match="no attribute 'BKBB'") as error:
        nr.BKBB  # noqa: B018
    assert (error.value.name, error.value.obj) == ("BKBB", nr)
