"""One way to run the benchmarks."""

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs"


@pytest.fixture
def sections(benchmark_module):
    """The sections by name."""
    return benchmark_module("__main__").SECTIONS


def test_every_section_explains_itself(sections, capsys):
    for name, main in sections.items():
        with pytest.raises(SystemExit) as ended:
            main(["--help"])
        assert ended.value.code == 0
        assert f"python -m benchmarks {name}" in capsys.readouterr().out


def test_pages_name_sections_that_there_are(sections):
    for page in [*PAGES.rglob("*.md"), PAGES.parent / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for word in re.findall(r"python -m benchmarks([ .]\w+)", text):
            assert word.strip() in sections, page
