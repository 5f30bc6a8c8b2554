import pytest
from commands import library, noregret


@pytest.mark.parametrize("column", ["value", "trial", "failed", "Value"])
def test_columns_that_collide_with_ours_are_refused(tmp_path, monkeypatch, column):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text(f"name,a,{column}\nx,1,2\ny,3,4\n")
    said = noregret("create", "a.db", "--candidates", "lib.csv", code=1).stderr
    assert f"column '{column}' has a name that the files of ask and tell use" in said
    assert "--features" in said
    assert not (tmp_path / "a.db").exists()
    noregret("create", "a.db", "--candidates", "lib.csv", "--features", "a")
    if column == "value":
        noregret("create", "b.db", "--candidates", "lib.csv", "--value-column", "yield")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--features a,q", "has no column 'q'"),
        ("--id nobody", "has no column 'nobody'"),
        ("--id solvent", "the same name"),
        ("--algorithm magic", "bbkb"),
        ("--lengthscale -1", "lengthscale"),
        ("--bits 64", "--fingerprint and --bits are for molecules"),
        ("--width wide", "width must be one of"),
    ],
)
def test_bad_options_of_create_are_refused_in_words(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    library("library.csv", 20)
    result = noregret("create", "a.db", "--candidates", "library.csv", *options.split(), code=1)
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "a.db").exists()
