"""The scripts in docs: notebooks from tutorials, the page on commands, pictures."""

import json
import re
import runpy
import types
from pathlib import Path

import typer.main

from noregret.cli.app import EXIT_CODES
from noregret.cli.main import app

DOCS = Path(__file__).parents[1] / "docs"


def test_notebooks_hold_the_code_and_the_words_of_the_tutorials(tmp_path):
    write = runpy.run_path(str(DOCS / "notebooks.py"))["write"]
    written = write(tmp_path)
    pages = sorted((DOCS / "tutorials").glob("*.md"))
    assert [path.stem for path in written] == [page.stem for page in pages]
    for path, page in zip(written, pages, strict=True):
        made = json.loads(path.read_text(encoding="utf-8"))
        assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
        cells = made["cells"]
        assert len({cell["id"] for cell in cells}) == len(cells)
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        assert code == [block.strip("\n") for block in blocks]
        words = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        assert "```python" not in words
        assert not re.search(r"\]\((?!http)", words), "a link that leads nowhere"


def test_the_page_on_commands_names_every_command_and_option():
    script = runpy.run_path(str(DOCS / "command_line.py"))
    fill = script["on_page_markdown"]
    file = types.SimpleNamespace(src_uri="reference/command-line.md")
    page = fill("# The command line\n", types.SimpleNamespace(file=file))
    assert page.startswith("# The command line\n")
    for name, command in typer.main.get_command(app).commands.items():
        section = page.split(f"## noregret {name}\n")[1].split("\n## ")[0]
        options = [option for one in command.params for option in one.opts if "-" in option]
        assert all(f"`{option}`" in section for option in options if option != "--help")
    for row in (
        "| `--top`{.option} N | How many choices to show. Default: `1`. |",
        "{.option} SECONDS |",
    ):
        assert row in page
    other = types.SimpleNamespace(file=types.SimpleNamespace(src_uri="index.md"))
    assert fill("words", other) == "words"


def test_references_of_docstrings_become_links():
    fill = runpy.run_path(str(DOCS / "roles.py"))["on_page_content"]
    page = types.SimpleNamespace(url="reference/algorithms/")
    place = '<autoref identifier="noregret.Box" optional><code>{}</code></autoref>'
    for words, link in {
        ":class:<code>~noregret.Box</code>": place.format("Box"),
        ":class:<code>a box &lt;noregret.Box&gt;</code>": place.format("a box"),
        ":func:<code>numpy.packbits</code> of": "<code>numpy.packbits</code> of",
        "<code>noregret.Box</code>": "<code>noregret.Box</code>",
        "(the Proofs page)": '(<a href="../../understand/proofs/">the Proofs page</a>)',
    }.items():
        assert fill(words, page) == link


def test_signatures_show_what_goes_by_position():
    fill = runpy.run_path(str(DOCS / "roles.py"))["on_page_content"]
    star = '\n    <span class="o">*</span><span class="p">,</span>'
    first, second, third = (
        f'\n    <span class="n">{name}</span><span class="p">:</span>'
        for name in ("domain", "kernel", "noise")
    )
    page = types.SimpleNamespace(url="reference/algorithms/")
    assert fill(star + first + second + third, page) == first + second + star + third
    assert fill(star + third, page) == star + third


def test_the_page_on_errors_names_every_exit_code():
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    for code in re.findall(r"\d+(?= [a-z])", EXIT_CODES):
        assert f"| {code} |" in page


def test_pictures_are_small_drawn_by_the_script_and_used(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    drawn = set(runpy.run_path(str(DOCS / "make_pictures.py"))["pictures"])
    files = {path.stem: path for path in (DOCS / "images").glob("*.png")}
    assert drawn == set(files)
    assert all(path.stat().st_size < 120_000 for path in files.values())
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    assert all(f"images/{name}.png" in pages for name in files)
