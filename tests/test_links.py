"""Links between the pages lead somewhere, and pictures say in words what they show.

Links to other sites are not followed: tests need no network.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "data"),
]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)


def text_of(page):
    """The page without its code, in which brackets are no links."""
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """The headings of a page as GitHub and MkDocs name them in links."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    words = (re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in headings)
    return {re.sub(r"\s+", "-", heading) for heading in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file) if file else page
        assert target.exists(), link
        if anchor and target.suffix == ".md" and "reference" not in target.parts:
            assert anchor.isascii(), f"{link}: GitHub and MkDocs name this heading differently"
            assert anchor in anchors(target), link


def test_every_picture_is_described():
    for page in PAGES:
        for words in re.findall(r"!\[([^\]]*)\]\(", text_of(page)):
            assert len(words.split()) >= 3, f"{page.name}: ![{words}]"


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One: two\n\n[here](#one-two) `[code](gone.md)` [gone](gone.md)\n")
    assert anchors(page) == {"one-two"}
    with pytest.raises(AssertionError, match=r"gone\.md"):
        test_links_lead_somewhere(page)
