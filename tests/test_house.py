"""The rules of CONTRIBUTING.md that a program can check, by its table and the source."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "noregret"

#: modules beside the folders, lines of a module and of an algorithm, classes of a chain
MODULES_AT_THE_ROOT, LINES, LINES_OF_AN_ALGORITHM, CLASSES_OF_A_CHAIN = 10, 400, 170, 2

#: modules for everybody: they import nothing of ours
SHARED = {"_checks", "_json", "_types"}

#: underscore names that are public all the same
PUBLIC = {"_replace", "_asdict", "_fields", "_make"}  # of named tuples

#: objects that are not ours, and why their underscore names are used
NOT_OURS = {
    ("integrations.botorch", "made._buffers"): "a copy of a PyTorch module has a dict of its own",
    ("integrations.botorch", "made._modules"): "a copy of a PyTorch module has a dict of its own",
    ("integrations.optuna", "study._storage"): "Optuna's samplers read trials from its storage",
    ("integrations.optuna", "study._study_id"): "its storage takes this id",
    ("integrations.optuna", "trial._trial_id"): "its storage takes this id",
    ("integrations.optuna", "trial._suggest"): "a distribution of our own is suggested this way",
    ("integrations.optuna_study", "study._storage"): "Optuna's samplers read trials from storage",
    ("integrations.optuna_study", "study._study_id"): "its storage takes this id",
    ("integrations.optuna_study", "one._contains"): "the only check of a value by a distribution",
    ("integrations.sklearn", "sklearn.model_selection._search"): "BaseSearchCV is only there",
    ("study.evaluating.workers", "os._exit"): "a documented function of Python",
}

#: lines of code from which a module is tested in a file of its name, and what is tested elsewhere
LINES_WITHOUT_A_TEST = 40
TESTED_IN = {
    "cli.create_options": "cli/test_create.py",  # options and their help
    "cli.main": "cli/test_app.py",  # the order of the commands
    "parts": "algorithms/test_conformance.py",  # names of the parts, without steps of its own
    "picking.chooser": "algorithms/test_conformance.py",  # a contract, which all choosers keep
    "picking.lists.drawn_tops": "picking/lists/test_maxima.py",  # what maxima is called with
    "study.storage.sql": "study/storage/test_storage.py",  # one statement for each method there
    "testing.boxes": "algorithms/test_conformance.py",
    "testing.lists": "algorithms/test_conformance.py",
    "testing.moves": "algorithms/test_conformance.py",
    "testing.spaces": "algorithms/test_conformance.py",
    "testing.suite": "algorithms/test_conformance.py",
}


@cache
def modules():
    """The syntax tree of every module, by its name without the package's."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def nodes(tree):
    """Everything in a tree; the trees of modules are walked once."""
    return list(ast.walk(tree))


def length(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def imports(tree):
    """Every import of ours as (line, module, name), those for type checkers left out."""
    skipped = {
        id(inner)
        for node in nodes(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in nodes(tree):
        if id(node) not in skipped:
            yield from imported(node)


def imported(node):
    """What one statement imports of ours as (line, module, name)."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "noregret":
        for alias in node.names:
            yield node.lineno, node.module.partition(".")[2], alias.name
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] == "noregret":
                yield node.lineno, alias.name.partition(".")[2], ""


# -- chains of classes -----------------------------------------------------------------------


def longest_chains(trees):
    """The length of the longest chain of our classes that ends in each class."""
    classes, names = {}, {}
    for module, tree in trees.items():
        names[module] = {
            alias.asname or alias.name: (node.module.partition(".")[2], alias.name)
            for node in nodes(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("noregret")
            for alias in node.names
        }
        for node in nodes(tree):
            if isinstance(node, ast.ClassDef):
                classes[module, node.name] = node

    def find(module, name):
        """Where a class is defined, if it is ours."""
        first, dot, rest = name.partition(".")
        if dot:  # a name in an imported module
            home = ".".join(filter(None, names.get(module, {}).get(first, ("", first))))
            return find(home, rest)
        if (module, name) in classes:
            return module, name
        there = names.get(module, {}).get(name)
        return find(*there) if there and there != (module, name) else None

    def chain(key):
        bases = [b.value if isinstance(b, ast.Subscript) else b for b in classes[key].bases]
        ours = [found for base in bases if (found := find(key[0], ast.unparse(base)))]
        return 1 + max(map(chain, ours), default=0)

    return {".".join(key): chain(key) for key in classes}


def test_no_chain_of_classes_is_deeper_than_two():
    chains = longest_chains(modules())
    assert chains["algorithms.bbkb.BBKB"] == 2
    assert not {name: n for name, n in chains.items() if n > CLASSES_OF_A_CHAIN}


def test_chains_over_modules_are_found():
    trees = {
        "a": "from abc import ABC\nclass A(ABC): pass",
        "b": "from noregret.a import A as First\nclass B(First[int]): pass",
        "c": "from noregret import b\nclass C(b.B): pass",
    }
    chains = longest_chains({name: ast.parse(text) for name, text in trees.items()})
    assert chains == {"a.A": 1, "b.B": 2, "c.C": 3}


# -- underscore names ------------------------------------------------------------------------


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name not in PUBLIC


def own_names(node):
    """Underscore names that the objects of a class have."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and ast.unparse(inner.value) in ("self", "cls"):
            yield inner.attr
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement.name
        elif isinstance(statement, ast.AnnAssign | ast.Assign):
            yield from (name.id for name in ast.walk(statement) if isinstance(name, ast.Name))


def made_here(function, of):
    """Names in a method for objects of the class ``of``: made by a call, or so annotated."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=False) if both else [(target, value)]
            yield from (ast.unparse(one) for one, made in pairs if isinstance(made, ast.Call))
        elif isinstance(node, ast.arg) and node.annotation is not None:
            kind = ast.unparse(node.annotation).strip("'\"")
            if kind in (of, "Self"):
                yield node.arg


def touched(tree):
    """Every use of an underscore name of another object or module, as (line, text)."""
    allowed = set()
    for cls in nodes(tree):
        if not isinstance(cls, ast.ClassDef):
            continue
        own = set(own_names(cls))
        for function in ast.walk(cls):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                made = set(made_here(function, cls.name))
                for node in ast.walk(function):
                    if isinstance(node, ast.Attribute) and node.attr in own:
                        value = node.value
                        if isinstance(value, ast.Call) or ast.unparse(value) in made:
                            allowed.add(id(node))
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if id(node) not in allowed and ast.unparse(node.value) not in ("self", "cls"):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom):
            hidden = [part for part in (node.module or "").split(".") if is_private(part)]
            names = [alias.name for alias in node.names if is_private(alias.name)]
            if set(hidden) - SHARED:
                yield node.lineno, node.module
            elif set(names) - SHARED:
                yield node.lineno, f"{node.module}.{names[0]}"


def test_underscore_names_stay_with_their_object():
    found = {
        (module, line, text)
        for module, tree in modules().items()
        for line, text in touched(tree)
        if (module, text) not in NOT_OURS
    }
    assert not found


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from noregret.models.sparse import _root", ["noregret.models.sparse._root"]),
        ("from noregret.models._roots import root", ["noregret.models._roots"]),
        ("from noregret._checks import count", []),
        ("def f(model):\n    return model._ridge", ["model._ridge"]),
        ("class A:\n    def f(self):\n        return self.model._ridge", ["self.model._ridge"]),
        ("class A:\n    def f(self, b):\n        self._x = b._x", ["b._x"]),
        ("class A:\n    def f(self, other: 'A'):\n        self._x = other._x", []),
        ("class A:\n    def f(self):\n        made = A()\n        made._x = self._x", []),
        ("class A:\n    def f(self):\n        made = B()\n        made._y = self._x", ["made._y"]),
    ],
)
def test_underscore_names_of_others_are_found(text, wrong):
    assert [text for _, text in touched(ast.parse(text))] == wrong


# -- imports ---------------------------------------------------------------------------------


@cache
def places():
    """The place in CONTRIBUTING.md's table of each folder and module at the root."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names = []
    for first in re.findall(r"^\| (`[^|]+) \|", text, re.M):
        names += [name.strip("/").removesuffix(".py") for name in re.findall(r"`([^`]+)`", first)]
    assert len(names) == len(set(names))
    return {name: place for place, name in enumerate(names)}


@cache
def public_homes():
    """Where the public names of the package live, as its ``__init__`` imports them for mypy."""
    found = [node for node in nodes(modules()[""]) if isinstance(node, ast.ImportFrom)]
    return {name: module for node in found for _, module, name in imported(node)}


def imports_down(module, tree):
    """Imports of what stands below a module in the table, as (line, folder)."""
    here = module.split(".")[0]
    for line, whole, name in imports(tree):
        there = (whole or public_homes().get(name, name)).split(".")[0]
        if there in SHARED or there in ("__version__", here):
            continue
        if here in SHARED or places()[there] > places()[here]:
            yield line, there


def test_the_table_names_every_folder_and_module():
    found = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    found |= {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    assert found - SHARED == set(places())


def test_imports_point_up_the_table():
    found = {
        (module, line, there)
        for module, tree in modules().items()
        if module not in ("", "__main__")
        for line, there in imports_down(module, tree)
    }
    assert not found


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from noregret.picking.ucb import x", ["picking"]),
        ("def f():\n    from noregret import BBKB", ["algorithms"]),
        ("import noregret.study.study", ["study"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import noregret.study", []),
        ("from noregret.kernels import RBF\nfrom noregret import _checks", []),
    ],
)
def test_imports_down_the_table_are_found(text, wrong):
    assert [there for _, there in imports_down("models.sparse", ast.parse(text))] == wrong


# -- sizes and SQL ---------------------------------------------------------------------------


def test_modules_are_short():
    lengths = {path.relative_to(PACKAGE).as_posix(): length(path) for path in PACKAGE.rglob("*.py")}
    assert not {name: n for name, n in lengths.items() if n > LINES}
    del lengths["algorithms/__init__.py"]  # the registry
    algorithms = {name: n for name, n in lengths.items() if name.startswith("algorithms/")}
    assert len(algorithms) > 15
    assert not {name: n for name, n in algorithms.items() if n > LINES_OF_AN_ALGORITHM}


def test_few_modules_stand_at_the_root():
    assert len(list(PACKAGE.glob("*.py"))) <= MODULES_AT_THE_ROOT


SQL = re.compile(
    r"\b(select\s.+\sfrom\s|insert\s+(or\s+\w+\s+)?into\s|update\s+\S+\s+set\s|delete\s+from\s"
    r"|(create|alter|drop)\s+(temp\s+)?(table|index|view|trigger)\s|pragma\s|begin\s+immediate)",
    re.I | re.S,
)


def docstrings(tree):
    """The docstrings of a module, its classes and functions."""
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in nodes(tree):
        if isinstance(node, described) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0].value


def statements(tree):
    """Strings with words of SQL; docstrings do not count."""
    described = {id(node) for node in docstrings(tree)}
    for node in nodes(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in described and SQL.search(text):
            yield text


def test_all_sql_stands_in_one_module():
    found = {module for module, tree in modules().items() if any(statements(tree))}
    assert found == {"study.storage.sql"}


# -- tests -----------------------------------------------------------------------------------


def lines_of_code(path, tree):
    """Lines that are neither empty nor comments nor docstrings."""
    text = path.read_text(encoding="utf-8").splitlines()
    described = set()
    for node in docstrings(tree):
        described.update(range(node.lineno, node.end_lineno + 1))
    lines = ((i, line.strip()) for i, line in enumerate(text, 1))
    return sum(bool(line) and line[0] != "#" and i not in described for i, line in lines)


def test_long_modules_have_a_test_of_their_name():
    tests, missing = ROOT / "tests", {}
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).with_suffix("")
        folder, name = tests / module.parent, module.name.lstrip("_")
        found = [*folder.glob(f"test_{name}.py"), *folder.glob(f"test_{name}_*.py")]
        if path.stem != "__init__" and not found:
            dotted = ".".join(module.parts)
            count = lines_of_code(path, modules()[dotted])
            if count > LINES_WITHOUT_A_TEST:
                missing[dotted] = count
    assert missing.keys() == TESTED_IN.keys(), missing
    assert all((tests / name).is_file() for name in TESTED_IN.values())
