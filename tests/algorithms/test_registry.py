"""The algorithms by their names, each imported when it is used."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import noregret as nr
import noregret.algorithms as registry
from noregret.algorithms import algorithms

#: what a process has imported after one use, which begins with `import noregret as nr`
USES = {
    "nr.BBKB": {"bbkb", "bkb"},
    "nr.GPUCB": {"gpucb"},
    "nr.AsyncTS": {"asyncts", "uniform"},
    "nr.make('pigpucb', nr.Box([(0, 1)]), nr.Matern(1.5))": {"pigpucb", "igpucb", "gpucb"},
    "sorted(nr.algorithms.algorithms), 'bkb' in nr.algorithms.algorithms": set(),
}


@pytest.mark.parametrize("use", USES)
def test_one_algorithm_imports_no_other(use):
    program = (
        f"import json, sys, noregret as nr; nr.make; {use}\n"
        "print(json.dumps([name.split('.')[2] for name in sys.modules "
        "if name.startswith('noregret.algorithms.')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(nr.__file__).parents[1])},
    )
    assert set(json.loads(done.stdout)) & set(algorithms) <= USES[use]


def test_names_are_the_same_for_people_modules_and_type_checkers():
    classes = {cls.__name__: cls for cls in algorithms.values()}
    assert list(algorithms) == sorted(algorithms) == sorted(name.lower() for name in classes)
    for name, cls in classes.items():
        assert getattr(registry, name) is getattr(nr, name) is cls
        assert cls.__module__ == f"noregret.algorithms.{name.lower()}"
        assert f"    from {cls.__module__} import {name}\n" in inspect.getsource(registry)
    others = {"Optimizer", "algorithms", "check_name", "load", "make"}
    assert set(registry.__all__) == others | set(classes)
    assert set(registry.__all__) <= set(dir(registry))
    assert len(algorithms) == len(classes)
    everything = {}
    exec("from noregret.algorithms import *; from noregret import *", everything)
    assert {name: everything[name] for name in classes} == classes


def test_misspelt_names_are_refused_with_the_nearest_one():
    with pytest.raises(AttributeError, match="has no attribute 'BKBB'") as refused:
        registry.BKBB  # noqa: B018
    assert (refused.value.name, refused.value.obj) == ("BKBB", registry)
    with pytest.raises(AttributeError, match="has no attribute 'bbkB'"):
        registry.bbkB  # noqa: B018
    with pytest.raises(ImportError, match="BKBB"):
        exec("from noregret.algorithms import BKBB")
    with pytest.raises(KeyError, match="noalgorithm"):
        algorithms["noalgorithm"]
    assert algorithms.get("noalgorithm") is None
    with pytest.raises(ValueError, match="did you mean 'bbkb'"):
        nr.make("bbkbb", [[0.0]], nr.RBF())


@pytest.mark.parametrize("name", algorithms)
def test_every_setting_of_an_algorithm_is_in_its_docstring(name):
    described = inspect.getdoc(algorithms[name]).partition("Parameters\n")[2]
    named = re.findall(r"^([a-z_]+(?:, [a-z_]+)*)$", described, re.MULTILINE)
    known = {one for names in named for one in names.split(", ")}
    assert set(inspect.signature(algorithms[name]).parameters) <= known
