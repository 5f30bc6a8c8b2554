"""What `create` says of a table that may have been meant otherwise."""

import pytest
from commands import noregret


@pytest.fixture
def create(tmp_path, monkeypatch):
    """Make a study from a table that is given as text; what the command said."""
    monkeypatch.chdir(tmp_path)

    def run(text, *options, code=0):
        (tmp_path / "library.csv").write_text(text)
        made = noregret("create", "a.db", "--candidates", "library.csv", *options, code=code)
        assert (tmp_path / "a.db").exists() == (code == 0)
        return made.stderr

    return run


ROWS = "".join(
    f"{1000 + 7 * i},N{i},{i * 0.7 % 3:.1f},2024-05-{1 + i % 9:02d},"
    f"{('Water', 'water ', 'thf')[i % 3]}\n"
    for i in range(30)
)


def test_dates_are_shown_and_not_used(create):
    said = create("compound,name,a,made,solvent\n" + ROWS)
    assert "'made' has dates, such as 2024-05-01. Dates are no numbers here" in said
    assert "write the days since the first of them" in said
    assert "Columns used: a, solvent." in said


def test_dates_that_are_asked_for_are_categories(create):
    said = create("compound,name,a,made,solvent\n" + ROWS, "--features", "a,made")
    assert "'made' is text: 9 categories" in said
    assert "'made' has dates" in said


def test_words_that_differ_by_spaces_or_capitals(create):
    said = create("compound,name,a,made,solvent\n" + ROWS)
    assert "'solvent' is text: 3 categories" in said
    assert "categories that differ by capitals only: 'Water' and 'water'." in said


def test_a_column_that_numbers_the_rows_otherwise(create):
    rows = "".join(f"{1000 + 7 * i},{i * 0.7 % 3:.1f},{100 + i}\n" for i in range(30))
    said = create("Cmpd No.,a,number of atoms\n" + rows)
    assert "'Cmpd No.' has another number in every row and is called like a number" in said
    assert "If it names them: --id-column 'Cmpd No.'" in said
    assert "'number of atoms' has another" not in said


def test_numbers_with_the_other_decimal_sign(create):
    rows = "".join(f'C{i},"{i},5",{i * 0.7 % 3:.1f}\n' for i in range(30))
    said = create("compound,logP,a\n" + rows)
    assert "'logP' has numbers such as '0,5', but the decimal sign here is '.'." in said
