import os
import subprocess
import sys

import pytest
from studies import new

import noregret as nr
from noregret.study import LockedError, StudyError


def test_a_second_writer_is_told_who_writes(path):
    study = new(path)
    with pytest.raises(LockedError, match=r"in this process already: .*study\.close\(\)"):
        nr.Study.open(path)
    program = f"import noregret as nr; nr.Study.open({str(path)!r})"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"process {os.getpid()} on " in other.stderr
    assert "LockedError" in other.stderr
    reader = nr.Study.open(path, read_only=True)
    with pytest.raises(StudyError, match="read_only"):
        reader.ask()
    study.close()
    with nr.Study.open(path) as second:
        second.ask()
    assert not list(path.parent.glob("*-lock"))


def test_a_lock_file_that_is_damaged_is_named(path):
    new(path).close()
    lock = path.with_name("a.db-lock")
    lock.write_bytes(b"no database at all" * 300)
    with pytest.raises(LockedError, match=r"a\.db-lock is damaged.*remove it"):
        nr.Study.open(path)
