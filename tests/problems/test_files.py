"""Files of data sets: what is wrong or cannot be had is named."""

import hashlib

import pytest

from noregret.problems.files import DataFile, content

ABC = DataFile("x/abc.txt", hashlib.sha256(b"abc").hexdigest(), "http://localhost:9/abc.txt")


def put(folder, text):
    (folder / "x").mkdir()
    (folder / "x" / "abc.txt").write_text(text)


def test_a_file_of_the_folder_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("NOREGRET_DATA", str(tmp_path))
    put(tmp_path, "abc")
    assert content(ABC) == b"abc"


def test_a_wrong_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("NOREGRET_DATA", str(tmp_path))
    put(tmp_path, "abd")
    with pytest.raises(ValueError, match="SHA-256"):
        content(ABC)


def test_what_cannot_be_fetched_is_named(monkeypatch):
    monkeypatch.delenv("NOREGRET_DATA", raising=False)
    with pytest.raises(OSError, match=r"x/abc.txt could not be fetched from http://localhost:9"):
        content(ABC)


def test_a_file_without_address_says_where_it_comes_from(monkeypatch):
    monkeypatch.delenv("NOREGRET_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"y\.csv.*NOREGRET_DATA.*From a shelf\."):
        content(DataFile("y.csv", "0" * 64, origin="From a shelf."))
