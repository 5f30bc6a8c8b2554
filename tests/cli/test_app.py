import json

import pytest
from commands import noregret
from typer.testing import CliRunner

from noregret.cli.main import app


@pytest.mark.parametrize(
    "name",
    ["create", "ask", "tell", "import", "run", "status", "best", "export", "report", "reproduce"],
)
def test_every_command_has_help_with_an_example(name):
    output = " ".join(noregret(name, "--help").stdout.split())
    assert f"Example: noregret {name}" in output
    assert "--json" in output


def test_help_lists_the_commands_as_they_are_used():
    said = noregret("--help").stdout
    places = [said.index(f"│ {name} ") for name in ("create", "ask", "tell", "best", "reproduce")]
    assert places == sorted(places)


def test_help_leaves_room_for_words(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    said = noregret("create", "--help").stdout
    assert "<bool>" not in said
    assert len(said.splitlines()) < 90


def test_exit_codes_and_json_errors(db):
    assert CliRunner().invoke(app, ["ask"]).exit_code == 2
    result = noregret("status", "none.db", "--json", code=1)
    assert "no study" in json.loads(result.stderr)["error"]
    db.with_name("broken.db").write_bytes(b"not a database at all" * 500)
    assert "--salvage" in " ".join(noregret("status", "broken.db", code=4).stderr.split())
    assert "no answers yet" in noregret("best", db, code=1).stderr


def test_help_is_broken_by_the_terminal_alone(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("TERMINAL_WIDTH", "300")
    said = CliRunner().invoke(app, ["tell", "--help"]).stdout
    assert "Other columns are ignored. Text in a column named failed says why a trial has" in said
