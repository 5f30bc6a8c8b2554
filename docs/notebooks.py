"""Makes notebooks from the tutorials: ``python docs/notebooks.py [FOLDER]``, by default notebooks.

Python blocks of a page become code cells, everything else becomes Markdown cells. Blocks of other
languages, such as commands of a shell, stay Markdown: a notebook shows them and does not run them.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.M | re.S)
#: links to other pages and pictures of the site, which a notebook does not have beside it
LINK = re.compile(r"(!?)\[([^\]]+)\]\((?!https?:)[^)]+\)")


def notebook(text: str) -> dict[str, Any]:
    """A page of Markdown as a notebook, in the format 4.5 of nbformat."""
    cells = []
    for number, piece in enumerate(BLOCK.split(text)):
        code = number % 2 == 1
        piece = piece if code else LINK.sub(_without_link, piece)
        if piece.strip():
            cells.append(_cell(piece.strip("\n"), code=code, number=len(cells)))
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _without_link(found: re.Match[str]) -> str:
    return "" if found[1] else found[2]


def _cell(text: str, *, code: bool, number: int) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": "code" if code else "markdown",
        "id": f"cell-{number}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return cell | {"execution_count": None, "outputs": []} if code else cell


def write(folder: Path) -> list[Path]:
    """Write a notebook for every tutorial into a folder; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in sorted((DOCS / "tutorials").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        path = folder / f"{page.stem}.ipynb"
        path.write_text(json.dumps(notebook(text), indent=1, ensure_ascii=False) + "\n", "utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    for one in write(Path(sys.argv[1] if len(sys.argv) > 1 else "notebooks")):
        print(one)
