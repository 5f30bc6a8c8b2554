"""Runs: a function is evaluated on workers until there are enough answers.

``runner.py`` starts a run, ``evaluations.py`` is the loop: ask, hand out to ``workers.py``, tell.
``stopping.py`` says when a run ends early, ``progress.py`` how far it is. ``command.py`` makes a
function of an external program. ``in_memory.py`` is a study without a file.
"""
