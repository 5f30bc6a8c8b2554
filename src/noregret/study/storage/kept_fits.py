"""What a look has fitted, kept in the study's file until more is told.

Looking at a study after new answers fits kernel and noise as the next ask will, which may take
seconds. The result is kept beside the log, with the log's position: later looks and the next ask
use it while nothing else has happened. It is no part of the run. If it is lost or damaged, it is
computed again, with the same numbers.
"""

import contextlib
import io

from noregret.algorithms import Optimizer
from noregret.running import state
from noregret.study.errors import StudyError
from noregret.study.storage.file import StudyFile
from noregret.study.storage.storage import Storage

#: the name of these bytes in the file
_NAME = "look"
#: errors that reading can raise if another version of the package wrote the bytes
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ImportError)


def use(storage: Storage, optimizer: Optimizer, operation: int) -> None:
    """Let an optimiser that has followed the log up to this operation use what was kept, if any."""
    saved = _kept(storage, operation)
    if saved is not None:
        with contextlib.suppress(*_UNREADABLE):
            optimizer.use_look(saved)


def keep(file: StudyFile, optimizer: Optimizer, operation: int) -> bool:
    """Keep what a look has fitted after this operation; returns whether it is in the file.

    Nothing is kept if no fit was needed, if the file cannot be written or another process writes to
    it, or if more has happened meanwhile.
    """
    if _kept(file.storage, operation) is not None:
        return True
    data = io.BytesIO(_position(file.storage, operation))
    data.seek(0, io.SEEK_END)
    if not optimizer.save_look(data):
        return False
    if file.writable:
        return _put(file, operation, data.getvalue())
    try:
        writer = StudyFile.open(file.path, write=True)
    except (StudyError, OSError):
        return False
    try:
        return _put(writer, operation, data.getvalue())
    except StudyError:
        return False
    finally:
        writer.close()


def _put(file: StudyFile, operation: int, data: bytes) -> bool:
    with file.transaction():
        if file.storage.head().operation != operation:
            return False
        file.storage.put_blob(_NAME, data)
    return True


def _kept(storage: Storage, operation: int) -> state.Saved | None:
    """What was kept at this position of the log."""
    try:
        data, position = storage.get_blob(_NAME), _position(storage, operation)
        if data is None or not data.startswith(position):
            return None
        return state.read(io.BytesIO(data[len(position) :]))
    except (StudyError, ValueError):
        return None


def _position(storage: Storage, operation: int) -> bytes:
    """An operation with the checksum of the log up to it: what kept bytes begin with."""
    return f"{operation}/{storage.chain(operation)}\n".encode()
