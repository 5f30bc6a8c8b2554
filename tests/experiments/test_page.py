"""The results page says what the summaries say."""

from pathlib import Path

import pytest

from noregret.experiments import page
from noregret.experiments.experiment import reproduce
from noregret.experiments.registry import find

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_are_what_the_summaries_say():
    for name, text in page.render(DOCS / "results" / "data").items():
        assert (DOCS / "results" / name).read_text() == text


def test_pictures_are_small():
    for picture in (DOCS / "results" / "data").glob("*.png"):
        assert picture.stat().st_size <= 150_000


def test_a_number_that_is_not_there_is_reported_with_its_file(tmp_path):
    (tmp_path / "x.json").write_text('{"measured": {"a": null}}')
    for wrong in ("{measured[b]}", "{measured[a]:.2f}", "{settings[runs]}"):
        (tmp_path / "x.md").write_text(wrong)
        with pytest.raises(ValueError, match=r"x\.md names a number"):
            page._read(tmp_path, "x")


def test_prose_begins_with_a_verdict_and_a_conclusion(tmp_path):
    (tmp_path / "x.json").write_text('{"measured": {"ratio": 0.5}}')
    (tmp_path / "x.md").write_text("**The paper** says so.\n\n**Verdict: agrees.** Why.\n\nMore.\n")
    with pytest.raises(ValueError, match=r"x\.md must begin with a verdict"):
        page._read(tmp_path, "x")
    (tmp_path / "x.md").write_text("**Verdict: agrees.** Half:\n{measured[ratio]}.\n\nMore.\n")
    assert page._read(tmp_path, "x")[1:] == ("agrees", "Half: 0.5.", "More.")


def test_only_results_with_the_settings_of_the_page_are_taken(tmp_path):
    (tmp_path / "docs").mkdir()
    reproduce(find("bkb-fig1"), tmp_path, size="quick")
    assert page.collect(tmp_path, tmp_path / "docs") == []
    assert not list((tmp_path / "docs").iterdir())
