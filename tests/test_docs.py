"""The Python in the documentation runs."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [
    "using.md",
    "long-lists.md",
    "studies.md",
    "tutorials/programs.md",
    "tutorials/research.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)
    assert blocks
    scope = {}
    for block in blocks:
        exec(compile(block, str(DOCS / page), "exec"), scope)
