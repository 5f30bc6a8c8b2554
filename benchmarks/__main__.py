"""Some sections: `python -m benchmarks [section ...] [options of one section]`.

Without a section those of the Benchmarks page run: cases, long, gap, study, others, botorch, optuna
and searches. Those with a page of their own take long and are run by name: boxes, tuning, covers,
heavy, latencies, libraries, lists, ruined, thompson and versions.
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
    covers,
    gaps,
    heavy_tails,
    latencies,
    libraries,
    lists,
    long_lists,
    optuna_samplers,
    others,
    ruined,
    searches,
    study,
    thompson,
    versions,
)
from benchmarks.boxes import runs, tuning

#: those of the Benchmarks page
COMMON = {
    "cases": cases.main,
    "long": long_lists.main,
    "gap": gaps.main,
    "study": study.main,
    "others": others.main,
    "botorch": botorch_model.main,
    "optuna": optuna_samplers.main,
    "searches": searches.main,
}
SECTIONS = COMMON | {
    "boxes": runs.main,
    "tuning": tuning.main,
    "covers": covers.main,
    "heavy": heavy_tails.main,
    "latencies": latencies.main,
    "libraries": libraries.main,
    "lists": lists.main,
    "ruined": ruined.main,
    "thompson": thompson.main,
    "versions": versions.main,
}


def main() -> None:
    """Run the sections named on the command line, or the common ones."""
    words = sys.argv[1:]
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    chosen, options = words[:first] or list(COMMON), words[first:]
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
