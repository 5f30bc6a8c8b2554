"""What the sections share: how they read their options and print their tables."""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np


def parser(section: str, about: str | None) -> argparse.ArgumentParser:
    """The options of a section, with its description as it is written."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks {section}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def line(*cells: Any) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def head(*columns: str) -> str:
    """The first two lines of a Markdown table."""
    return f"{line(*columns)}\n{'|---' * len(columns)}|"


def show(text: str) -> None:
    """Print at once: what follows may take long."""
    print(text, flush=True)


def spread(values: Sequence[float]) -> str:
    """Median and range."""
    return f"{np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"
