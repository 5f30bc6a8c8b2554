"""noregret inside other tools.

A module for each tool, which imports it; modules whose names begin with the tool's are its parts.
``shared/`` is what several of them use.
"""
