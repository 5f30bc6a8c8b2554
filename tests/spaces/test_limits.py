"""Files that would swell in memory are refused before they do."""

import contextlib
import io
import struct
import tracemalloc
import zipfile

import polars as pl
import pytest

from noregret.spaces import limits
from noregret.spaces.tables import Table


def test_a_line_without_an_end_is_not_read_whole(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w") as file:
        file.write("a,b\n1,2\n3,")
        for _ in range(64):
            file.write("x" * 2**20)
    tracemalloc.start()
    with pytest.raises(ValueError, match="line 3, column 2: more than 131,072 characters"):
        Table(path).read()
    assert tracemalloc.get_traced_memory()[1] < 48 * 2**20  # of 64, and more for what is read
    tracemalloc.stop()


def test_a_record_of_many_short_fields_ends_somewhere(tmp_path, monkeypatch):
    """One quotation mark open at the end of every line: no field is long, the record is."""
    monkeypatch.setattr(limits, "LONGEST_RECORD", 5000)
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,2\n3,"' + '\n","' * 2000)
    with pytest.raises(ValueError, match="line 3: more than 5,000 characters in one record"):
        Table(path).read()
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join(f"c{i}" for i in range(900)) + "\n" + ",".join("1" * 900) + "\n")
    assert Table(wide).read().frame.shape == (1, 900)


@pytest.fixture
def book(tmp_path):
    """A spreadsheet as others write it."""
    path = tmp_path / "a.xlsx"
    sheet = pytest.importorskip("xlsxwriter").Workbook(path)
    page = sheet.add_worksheet()
    page.write_row(0, 0, ["name", "x"])
    page.write_row(1, 0, ["one", 1.5])
    sheet.close()
    return path


def add_part(book, name, data):
    with zipfile.ZipFile(book, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)


def test_a_spreadsheet_that_swells_is_refused(book, monkeypatch):
    pytest.importorskip("fastexcel")
    assert Table(book).read().frame.shape == (1, 2)
    monkeypatch.setattr(limits, "LARGEST_SHEET", 4 * 2**20)
    limits.check_archive(book)
    add_part(book, "xl/media/much.bin", bytes(5 * 2**20))
    with pytest.raises(ValueError, match=r"needs 5,2.* once it is unpacked.*Save the sheet as CSV"):
        Table(book)


def test_an_archive_that_lies_about_its_sizes_is_refused(book, monkeypatch):
    monkeypatch.setattr(limits, "LARGEST_SHEET", 4 * 2**20)
    size = 5 * 2**20
    add_part(book, "xl/media/much.bin", bytes(size))
    data = book.read_bytes()
    assert data.count(struct.pack("<I", size)) == 2
    book.write_bytes(data.replace(struct.pack("<I", size), struct.pack("<I", 100)))
    with zipfile.ZipFile(book) as archive:
        assert archive.getinfo("xl/media/much.bin").file_size == 100
    with pytest.raises(ValueError, match="once it is unpacked"):
        limits.check_archive(book)


def test_broken_archives_are_refused(book):
    data = bytearray(book.read_bytes())
    data[60:90] = bytes(30)
    book.write_bytes(data)
    with pytest.raises(ValueError, match="cannot be read as a spreadsheet"):
        limits.check_archive(book)


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd"])
def test_what_parquet_declares_is_read(tmp_path, compression):
    frame = pl.DataFrame(
        {
            "name": [f"c{i}" for i in range(5000)],
            "x": [0.5 * i for i in range(5000)],
            "yes": [i % 3 == 0 for i in range(5000)],
            "gap": [None if i % 7 else i for i in range(5000)],
        }
    )
    path = tmp_path / "a.parquet"
    frame.write_parquet(path, compression=compression, row_group_size=700)
    rows, columns, size = limits._declared(path)
    assert (rows, columns) == frame.shape
    assert 5000 * 8 <= size < 5000 * 40
    if compression == "uncompressed":
        assert size < path.stat().st_size
    assert Table(path).read().frame.equals(frame)


def test_parquet_that_swells_is_refused(tmp_path, monkeypatch):
    """Many equal numbers take no room in the file and all the room in memory."""
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": pl.zeros(2**20, eager=True)}).write_parquet(path)
    limits.check_parquet(path)
    monkeypatch.setattr(limits, "LARGEST_PARQUET", 2**20)
    with pytest.raises(ValueError, match="declares 1,048,576 rows, which need 8,38"):
        Table(path)


@pytest.mark.parametrize("cut", [0, 3, 8, 40, 200])
def test_files_that_are_no_parquet_are_refused(tmp_path, cut):
    file = io.BytesIO()
    pl.DataFrame({"x": [1.0, 2.0]}).write_parquet(file)
    data = bytearray(file.getvalue())
    path = tmp_path / "a.parquet"
    path.write_bytes(data[:cut])
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        Table(path)


def test_any_end_of_a_parquet_file_is_read_or_refused(tmp_path):
    """Damaged bytes at the end: no other error, no endless reading."""
    file = io.BytesIO()
    pl.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}).write_parquet(file)
    whole, path = file.getvalue(), tmp_path / "a.parquet"
    for i in range(max(len(whole) - 150, 0), len(whole)):
        for byte in (0x00, 0x7F, 0xFF):
            path.write_bytes(whole[:i] + bytes([byte]) + whole[i + 1 :])
            with contextlib.suppress(ValueError):
                limits.check_parquet(path)
