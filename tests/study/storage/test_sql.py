"""All SQL stands in one file."""

import re
from pathlib import Path

import noregret as nr


def test_no_other_module_speaks_sql():
    words = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|CREATE TABLE)\b")
    package = Path(nr.__file__).parent
    found = {path.name for path in package.rglob("*.py") if words.search(path.read_text())}
    assert found == {"sql.py"}
