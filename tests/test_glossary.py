"""The glossary decides on words, and the pages for users follow it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = ("how-to", "tutorials", "integrations")


def test_pages_for_users_say_choice_not_arm():
    pages = [ROOT / "README.md", DOCS / "index.md"]
    pages += [page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md"))]
    found = {page.name for page in pages if re.search(r"\barms?\b", page.read_text("utf-8"))}
    assert not found


def test_every_word_is_explained_once():
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = [
        word.strip()
        for entry in re.findall(r"^\*\*(.+?)\*\*", text, re.M)
        for word in entry.split(",")
    ]
    assert len(words) == len(set(words)) > 40
    assert len(re.findall(r"^\*\*.+\n:   \S", text, re.M)) == len(re.findall(r"^\*\*", text, re.M))
