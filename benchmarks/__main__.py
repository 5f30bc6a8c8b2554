"""Everything, or some sections: `python -m benchmarks [section ...] [options of one section]`.

The sections are cases, growth, long, gap, shares, study, others, botorch, optuna and searches.
`python -m benchmarks long --help` shows the options of one.
"""

import os
import platform
import sys

import numpy as np
import scipy

from benchmarks import (
    botorch_model,
    cases,
    gaps,
    growth,
    long_lists,
    optuna_samplers,
    others,
    searches,
    shares,
    study,
)

SECTIONS = {
    "cases": cases.main,
    "growth": growth.main,
    "long": long_lists.main,
    "gap": gaps.main,
    "shares": shares.main,
    "study": study.main,
    "others": others.main,
    "botorch": botorch_model.main,
    "optuna": optuna_samplers.main,
    "searches": searches.main,
}


def main() -> None:
    """Run the sections named on the command line, or all."""
    words = sys.argv[1:]
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    chosen, options = words[:first] or list(SECTIONS), words[first:]
    unknown = [name for name in chosen if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    if options and len(chosen) != 1:
        sys.exit(f"options such as {options[0]} belong to one section: name it")
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"{platform.machine()}, {os.cpu_count()} cores, one thread in use",
        flush=True,
    )
    for name in chosen:
        SECTIONS[name](options)


if __name__ == "__main__":
    main()
