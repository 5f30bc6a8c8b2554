"""What was written is what is read, or an error says where not."""

import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies import evaluate, new
from table_pages import pages_of

import noregret as nr
from noregret.study import DamagedError
from noregret.study.storage.checksums import changed_trials, trial_sums
from noregret.study.trials import TRIAL_COLUMNS

whole = st.integers(-(2**63), 2**63 - 1)
real = st.floats(allow_nan=False)
text = st.text(max_size=9)
ROWS = {
    "number": whole,
    "id": whole,
    "point": st.none() | st.binary(max_size=9),
    "status": text,
    "value": st.none() | real,
    "reason": st.none() | text,
    "origin": text,
    "asked_by": whole,
    "done_by": st.none() | st.integers(0, 2**53),
    "asked_at": real,
    "given_at": real,
    "times_given": whole,
    "done_at": st.none() | real,
}


@settings(max_examples=40)
@given(row=st.tuples(*ROWS.values()), data=st.data())
def test_a_changed_field_changes_the_sum(row, data):
    assert tuple(ROWS) == TRIAL_COLUMNS
    (total,) = trial_sums([(field,) for field in row]).tolist()
    assert changed_trials([(field,) for field in (*row, total)]) == []
    i = data.draw(st.integers(0, len(row) - 1))
    other = data.draw(list(ROWS.values())[i].filter(lambda value: value != row[i]))
    changed = (*row[:i], other, *row[i + 1 :], total)
    assert changed_trials([(field,) for field in changed]) == [0]


def filled(path):
    with new(path, algorithm="uniform") as study:
        for _ in range(12):
            trials = study.ask(10)
            evaluate(study, trials[:8])
            study.tell(trials[8:9], failed="spilt")
        return study.trials()


@pytest.mark.parametrize("table", ["trials", "operations", "events", "settings", "head"])
def test_no_bit_rots_unnoticed(path, table):
    """One bit is turned at a time: refused, or nothing that is shown has changed."""
    expected = filled(path)
    with nr.Study.open(path, read_only=True) as study:
        log, events = study.operations().drop("info"), study.events()
        decided, counts = study.settings, study.counts()
    data, rng = path.read_bytes(), np.random.default_rng(3)
    pages, noticed = pages_of(path, table), 0
    for _ in range(40):
        bits = bytearray(data)
        bits[rng.choice(pages) * 4096 + rng.integers(4096)] ^= 1 << int(rng.integers(8))
        path.write_bytes(bits)
        try:
            with nr.Study.open(path, read_only=True) as study:
                assert study.trials().equals(expected)
                assert study.operations().drop("info").equals(log)
                assert study.events().equals(events)
                assert (study.settings, study.counts()) == (decided, counts)
        except nr.StudyError:
            noticed += 1
    assert noticed or table in ("head", "settings", "events")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE trials SET value = 7 WHERE number = 5", "trial 5 is not as written"),
        ("UPDATE trials SET origin = 'run' WHERE number IN (5, 9)", "trials 5, 9 are not"),
        ("UPDATE trials SET status = 'pending' WHERE number = 3", "trial 3 is not as written"),
        ("DELETE FROM trials WHERE number = 4", "trial 4 is no longer there"),
        ("DELETE FROM trials WHERE number = 119", "119 trials are there instead of"),
        ("DELETE FROM operations WHERE number = 2", "operation 2 of the log is not as written"),
        ("UPDATE operations SET n = 9 WHERE number = 1", "operation 1 of the log"),
        ("UPDATE settings SET value = '1' WHERE key = 'seed'", "setting 'seed' has changed"),
    ],
)
def test_the_message_says_what_has_changed(path, statement, message):
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(DamagedError, match=message):
        nr.Study.open(path)
    with pytest.raises(DamagedError, match=message):
        look(path)


def look(path):
    with nr.Study.open(path, read_only=True) as study:
        study.trials()
        study.operations()


def test_one_damaged_bit_in_a_snapshot_does_no_harm(path):
    """Whatever bit it is, the log says the same."""
    with new(path) as study:
        for _ in range(6):
            evaluate(study, study.ask(3))
        study.ask(3)
    with nr.Study.open(path, read_only=True) as study:
        best = study.best()
    connection = sqlite3.connect(path)
    ((snapshot,),) = connection.execute(
        "SELECT data FROM blobs WHERE name LIKE 'snapshot/%' ORDER BY name DESC LIMIT 1"
    ).fetchall()
    connection.close()
    data, rng = path.read_bytes(), np.random.default_rng(0)
    for at in rng.integers(0, len(snapshot) - 16, 25):
        if data.count(snapshot[at : at + 16]) != 1:
            continue  # bytes that are not those of this snapshot alone
        place = data.find(snapshot[at : at + 16])
        bits = bytearray(data)
        bits[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bits)
        with nr.Study.open(path) as study:
            assert study.best() == best
