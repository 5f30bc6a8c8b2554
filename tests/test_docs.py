"""The Python in the documentation runs, and the reference names everything that is public."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import noregret as nr

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
PAGES = [
    str(page.relative_to(DOCS))
    for page in sorted(DOCS.rglob("*.md"))
    if not {"results", "integrations"} & set(page.parts)
    and BLOCK.search(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "documentation"}
    for block in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if "import optuna" in block and find_spec("optuna") is None:
            continue
        exec(compile(block, str(DOCS / page), "exec"), scope)


def test_every_public_name_has_its_place_in_the_reference():
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    named = set(re.findall(r"^::: noregret\.(?:\w+\.)*(\w+)$", pages, re.M))
    assert not set(nr.__all__) - named


def test_every_name_that_a_page_uses_is_public():
    for page in [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        gone = {name for name in re.findall(r"\bnr\.(\w+)", text) if not hasattr(nr, name)}
        assert not gone, page.name


def test_code_and_formulas_fit_the_page():
    fence = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)
    indented = re.compile(r"(?<=\n\n)(?:    .*\n)+(?=\n)")
    for page in [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        lines = "".join(fence.findall(text)).splitlines()
        lines += [line[4:] for block in indented.findall(text) for line in block.splitlines()]
        assert not [line for line in lines if len(line) > 88], page.name
