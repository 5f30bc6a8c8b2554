"""Without its tool, an integration says in one line what to install; the core needs no tool."""

import subprocess
import sys

import pytest

#: what the module of an integration is called, which package it needs, and the name of its extra
NEEDS = [
    ("ax", "ax", "ax"),
    ("baybe", "baybe", "baybe"),
    ("botorch", "botorch", "botorch"),
    ("botorch", "torch", "botorch"),
    ("optuna", "optuna", "optuna"),
    ("sklearn", "sklearn", "sklearn"),
]
TOOLS = sorted({package for _, package, _ in NEEDS} | {"gpytorch", "joblib"})


BLOCK = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {missing}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


def run(code, missing):
    """Run some Python in a process in which packages cannot be imported."""
    whole = BLOCK.format(missing=missing) + code
    return subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True)


@pytest.mark.parametrize(("module", "package", "extra"), NEEDS)
def test_a_missing_tool_is_named_with_its_extra(module, package, extra):
    done = run(f"import noregret.integrations.{module}", [package])
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith(f"ImportError: noregret.integrations.{module} needs ")
    assert last.endswith(f'pip install "noregret[{extra}]"')


def test_the_core_needs_no_tool():
    code = (
        "import noregret as nr; print(nr.GPUCB(nr.Box([(0, 1)]), nr.RBF(0.2)).ask(1).points.shape)"
    )
    done = run(code, TOOLS)
    assert done.stdout == "(1, 1)\n", done.stderr
