"""The Python on the pages about other tools runs, where the tool is installed."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "integrations"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
#: what the blocks of a page import
NEEDS = {
    "ax.md": ["ax"],
    "baybe.md": ["baybe"],
    "botorch.md": ["botorch"],
    "executors.md": ["loky"],
    "optuna.md": ["optuna"],
    "scikit-learn.md": ["sklearn"],
}


@pytest.mark.parametrize("page", sorted(page.name for page in DOCS.glob("*.md")))
@pytest.mark.filterwarnings("ignore")
def test_python_blocks_run(page, tmp_path, monkeypatch):
    for tool in NEEDS.get(page, []):
        pytest.importorskip(tool)
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "documentation"}
    for block in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        exec(compile(block, page, "exec"), scope)
