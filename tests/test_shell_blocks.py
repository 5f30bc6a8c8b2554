"""The shell commands of the pages run as printed."""

import re

import pytest
import typer.main
from shell_blocks import (
    ROOT,
    activity,
    run_in_process,
    run_shell_blocks,
    shell_blocks,
    write_library,
)

import noregret as nr
from noregret.cli.main import app


def test_commands_that_need_the_repository_or_a_network_are_left_out(tmp_path):
    page = tmp_path / "page.md"
    installs = "```bash\npip install x\necho 'a  b'\n```\n"
    page.write_text(f"```sh\nmake demo\n```\nWords.\n{installs}```text\nfalse\n```\n")
    assert shell_blocks(page) == ["echo 'a  b'\n"]
    assert run_shell_blocks(page, tmp_path) == ["a  b\n"]


def test_a_command_that_fails_ends_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nfalse\necho on\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md"):
        run_shell_blocks(page, tmp_path)


def test_the_commands_of_the_readme(tmp_path):
    write_library(tmp_path / "library.csv")
    run_shell_blocks(ROOT / "README.md", tmp_path, measure=activity)
    with nr.Study.open(tmp_path / "plates.db", read_only=True) as study:
        assert study.counts()["told"] == 96
        assert study.best().mean > 5  # of 10
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_the_first_page_has_the_commands_of_the_readme():
    assert shell_blocks(ROOT / "docs" / "index.md") == shell_blocks(ROOT / "README.md")


def test_the_commands_of_the_laboratory_tutorial(tmp_path):
    write_library(tmp_path / "library.csv")
    page = ROOT / "docs" / "tutorials" / "laboratory.md"
    printed = run_in_process(page, tmp_path, activity)
    assert "300 candidates, described by logp, weight, rings, solvent" in printed[-1]
    assert "C0" in printed[-2]  # the best ten
    with nr.Study.open(tmp_path / "plates.db", read_only=True) as study:
        assert study.counts()["told"] == 96
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_the_commands_of_the_tutorial_on_molecules(tmp_path):
    pytest.importorskip("rdkit")
    ends = ["O", "N", "Cl", "C(=O)O", "c1ccccc1", "c1ccncc1"]
    smiles = ["C" * (1 + i // 6) + ends[i % 6] for i in range(180)]
    (tmp_path / "library.csv").write_text("smiles\n" + "\n".join(smiles) + "\n")
    page = ROOT / "docs" / "tutorials" / "molecules.md"
    printed = run_shell_blocks(
        page, tmp_path, measure=lambda row: 0.0 if "ccncc" in row["smiles"] else 5.0
    )
    assert "smiles" in printed[-1]
    with nr.Study.open(tmp_path / "library.db", read_only=True) as study:
        assert study.counts()["told"] == 96
        assert study.best().measured == 0.0  # a pyridine


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"^noregret [^\n]*|`noregret ([^`\n]*)`", re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_the_pages_exists_with_its_options(page):
    commands = typer.main.get_command(app).commands
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for found in COMMAND.finditer(text):
        unquoted = re.sub(r"\"[^\"]*\"", "text", found[0].strip("`"))
        words = unquoted.split("#")[0].split()[1:]
        if not words or words[0].startswith("-") or not words[0].islower():
            continue  # noregret --version, or a sentence
        assert words[0] in commands, found[0]
        known = {option for one in commands[words[0]].params for option in one.opts}
        for word in words[1:]:
            option = word.split("=")[0]
            if re.fullmatch(r"--[a-z][a-z-]*|-[a-z]", option):
                assert option in known | {"--help", "-h"}, found[0]
