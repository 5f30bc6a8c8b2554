import pytest
from commands import library, noregret


@pytest.fixture
def db(tmp_path, monkeypatch):
    """A study of 120 compounds, made by ``noregret create``; its folder is the current one."""
    monkeypatch.chdir(tmp_path)
    library(tmp_path / "library.csv")
    noregret(
        *("create", "plates.db", "--candidates", "library.csv", "--features", "a,b"),
        *("--id", "compound", "--algorithm", "gpucb", "--batch", 6, "--seed", 1, "--norm", 20),
    )
    return tmp_path / "plates.db"
