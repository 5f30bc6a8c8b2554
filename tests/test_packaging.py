"""The wheel and the source archive hold what users need, and install into a clean environment."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from pathlib import Path

import pytest

import noregret

ROOT = Path(__file__).parents[1]


def test_the_version_stands_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == noregret.__version__
    assert f"version: {noregret.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_command_line_prints_the_version():
    command = [sys.executable, "-m", "noregret", "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == noregret.__version__


@pytest.mark.slow
def test_wheel_and_sdist_install_into_a_clean_environment(tmp_path):
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"} <= names
    assert any(name.startswith("tests/") for name in names)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "clean", with_pip=True)
    python = str(tmp_path / "clean" / "bin" / "python")
    offline = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run([python, "-m", "pip", "install", *offline, str(wheel)], check=True)
    # The dependencies are those of this environment; the package must be the installed one.
    code = (
        "import noregret, sys; assert 'clean' in noregret.__file__, noregret.__file__;"
        "opt = noregret.BBKB([[0.0], [1.0]], noregret.RBF(), seed=0);"
        "opt.tell(opt.ask(), [1.0]); print(opt.recommend().id)"
    )
    clean = {"PYTHONPATH": sysconfig.get_paths()["purelib"], "PATH": ""}
    done = subprocess.run([python, "-c", code], env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in {"0", "1"}


def test_types_refuse_what_no_user_can_mean(tmp_path):
    code = tmp_path / "wrong.py"
    code.write_text("import noregret as nr\n\nnr.BBKB(3, 4)\nnr.BBKB([1.0], nr.RBF(), noise='x')\n")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), code],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
    )
    assert {
        line.partition(":")[2].partition(":")[0] for line in checked.stdout.splitlines()[:2]
    } == {
        "3",
        "4",
    }, checked.stdout
