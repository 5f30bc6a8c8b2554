"""The file of a study: what it holds, and how an optimiser is made from it again.

From the bottom up: ``sql.py`` has the statements, ``storage.py`` reads and writes checked rows with
them, ``file.py`` opens the file for one writer (``lock.py``) and any number of readers. ``log.py``
keeps file and optimiser in step: every call is an operation in the log. ``replay.py`` makes the
optimiser again, from the last snapshot and the operations after it. ``records.py`` only reads.
``check.py`` and ``salvage.py`` are for damaged files.
"""
