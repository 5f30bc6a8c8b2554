"""Tests that need data which may not be at hand."""

import os
from pathlib import Path

import pytest


def is_there(folder):
    """Whether the data folder has this part."""
    return Path(os.environ.get("NOREGRET_DATA", "nowhere"), folder).exists()


def needs(folder):
    """Skip where the data folder, or this part of it, is not there."""
    return pytest.mark.skipif(not is_there(folder), reason=f"NOREGRET_DATA holds no {folder} here")
