"""Every SQL statement of the package: a study's tables, and the table of its lock.

*Operations* are everything that changed the optimiser, in order. *Trials* say which operation asked
for them and which one ended them. A *snapshot* is the optimiser after an operation: the optimiser
of a study is its last snapshot plus the operations after it; snapshots are among the *blobs*, which
are named bytes. Every row has a checksum, operations have a running one, and the *head* says where
log and trials end.
"""

import re
from dataclasses import fields

from noregret.study.storage.rows import Head
from noregret.study.trials import TRIAL_COLUMNS

#: mark a file as a study, and number its layout
APPLICATION, FORMAT = 0x6E6F7265, 3

# -- connections and transactions ----------------------------------------------------------------

BEGIN_READING = "BEGIN"
BEGIN_WRITING = "BEGIN IMMEDIATE"
COMMIT = "COMMIT"
ROLLBACK = "ROLLBACK"
WRITE_AHEAD = "PRAGMA journal_mode = WAL"  # readers go on while the writer writes
WRITE_BACK = "PRAGMA wal_checkpoint(TRUNCATE)"  # the write-ahead log goes into the file
WRITE_THROUGH = "PRAGMA synchronous = FULL"  # on disk when it has been committed
READ_ONLY = "PRAGMA query_only = ON"  # statements that change something fail
DISTRUST = "PRAGMA trusted_schema = OFF"  # functions in a schema are not called
TRY_TO_READ = "SELECT 1 FROM sqlite_master"  # fails if the file is not a database

# -- the file as a whole -------------------------------------------------------------------------

_SCHEMA = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE blobs (
    name TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY (name, part));
CREATE TABLE operations (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, n INTEGER, time REAL NOT NULL, info TEXT,
    chain INTEGER NOT NULL);
CREATE TABLE trials (
    number INTEGER PRIMARY KEY, id INTEGER NOT NULL, point BLOB,
    status TEXT NOT NULL CHECK (status IN ('pending', 'told', 'failed')),
    value REAL, reason TEXT, origin TEXT NOT NULL,
    asked_by INTEGER NOT NULL, done_by INTEGER,
    asked_at REAL NOT NULL, given_at REAL NOT NULL, times_given INTEGER NOT NULL, done_at REAL,
    sum INTEGER NOT NULL);
CREATE INDEX trials_asked ON trials (asked_by);
CREATE INDEX trials_done ON trials (done_by);
CREATE INDEX trials_pending ON trials (given_at) WHERE status = 'pending';
CREATE TABLE events (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, details TEXT NOT NULL,
    sum INTEGER NOT NULL);
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1), operation INTEGER NOT NULL, chain INTEGER NOT NULL,
    pending INTEGER NOT NULL, told INTEGER NOT NULL, failed INTEGER NOT NULL,
    history INTEGER NOT NULL, noted INTEGER NOT NULL, sum INTEGER NOT NULL)
"""

CREATE_TABLES = tuple(_SCHEMA.split(";"))
#: kind and name of each table and index of a study
OBJECTS = {(kind.lower(), name) for kind, name in re.findall(r"CREATE (\w+) (\w+)", _SCHEMA)}
#: without these marks a file is not a study
MARK = (f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {FORMAT}")
READ_MARKS = ("PRAGMA application_id", "PRAGMA user_version")
READ_OBJECTS = "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
#: SQLite's own checks of the tables of the log
QUICK_CHECKS = tuple(
    f"PRAGMA quick_check({table})" for table in ("trials", "operations", "settings", "events")
)


def _marks(count: int) -> str:
    """Places for this many values."""
    return ", ".join("?" for _ in range(count))


_HEAD = tuple(field.name for field in fields(Head))
READ_HEAD = f"SELECT {', '.join(_HEAD)}, sum FROM head"
WRITE_HEAD = f"INSERT OR REPLACE INTO head VALUES (1, {_marks(len(_HEAD) + 1)})"

# -- settings, blobs, events ---------------------------------------------------------------------

ADD_SETTING = "INSERT INTO settings VALUES (?, ?, ?)"
READ_SETTINGS = "SELECT key, value, sum FROM settings"

ADD_BLOB_PART = "INSERT INTO blobs VALUES (?, ?, ?, ?)"
READ_BLOB = "SELECT part, data, sum FROM blobs WHERE name = ? ORDER BY part"
READ_BLOB_NAMES = "SELECT DISTINCT name FROM blobs WHERE name LIKE ?"
DELETE_BLOB = "DELETE FROM blobs WHERE name = ?"

ADD_EVENT = "INSERT INTO events (time, kind, details, sum) VALUES (?, ?, ?, ?)"
READ_EVENTS = "SELECT time, kind, details, sum FROM events ORDER BY number"

# -- operations ----------------------------------------------------------------------------------

ADD_OPERATION = "INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?)"
_READ_OPERATIONS = "SELECT number, kind, n, time, info, chain FROM operations"
READ_OPERATIONS_AFTER = f"{_READ_OPERATIONS} WHERE number > ? ORDER BY number"
READ_LAST_ASK = f"{_READ_OPERATIONS} WHERE kind = 'ask' ORDER BY number DESC LIMIT 1"
READ_LAST_OPERATION = "SELECT coalesce(max(number), 0) FROM operations"
READ_CHAIN = "SELECT chain FROM operations WHERE number = ?"

# -- trials --------------------------------------------------------------------------------------

_COLUMNS = (*TRIAL_COLUMNS, "sum")
ADD_TRIAL = f"INSERT INTO trials VALUES ({_marks(len(_COLUMNS))})"
#: all columns but the first, then the number of the trial
CHANGE_TRIAL = (
    f"UPDATE trials SET {', '.join(f'{name} = ?' for name in _COLUMNS[1:])} WHERE number = ?"
)
COUNT_TRIALS = "SELECT coalesce(max(number), -1) + 1 FROM trials"
_READ_TRIALS = f"SELECT {', '.join(_COLUMNS)} FROM trials"
READ_TRIALS_FROM = f"{_READ_TRIALS} WHERE number >= ? ORDER BY number LIMIT ?"
READ_TRIALS_ASKED_BY = f"{_READ_TRIALS} WHERE asked_by = ? ORDER BY number"
READ_TRIALS_DONE_BY = f"{_READ_TRIALS} WHERE done_by = ? ORDER BY number"
READ_PENDING_TRIALS = f"{_READ_TRIALS} WHERE status = 'pending' ORDER BY number"
READ_FAILED_TRIALS = f"{_READ_TRIALS} WHERE status = 'failed' ORDER BY done_by, number"
#: trials of a run are left out: the run watches over them itself
READ_OVERDUE_TRIALS = (
    f"{_READ_TRIALS} WHERE status = 'pending' AND origin != 'run' AND given_at < ? "
    "ORDER BY given_at, number"
)


def read_trials(count: int) -> str:
    """Reads the trials of this many numbers."""
    return f"{_READ_TRIALS} WHERE number IN ({_marks(count)})"


# -- the lock's own file: which process holds it -------------------------------------------------

CREATE_HOLDER = "CREATE TABLE IF NOT EXISTS holder (token TEXT, about TEXT)"
DELETE_HOLDER = "DELETE FROM holder"
ADD_HOLDER = "INSERT INTO holder VALUES (?, ?)"
READ_HOLDER = "SELECT token, about FROM holder"
