"""Everything, in one run: `python -m benchmarks [cases] [memory] [growth] [study] [others]`."""

import os
import platform
import sys

import numpy as np
import scipy

from benchmarks import cases, growth, memory_speed, others, study

SECTIONS = {
    "cases": cases.main,
    "memory": memory_speed.main,
    "growth": growth.main,
    "study": study.main,
    "others": others.main,
}


def main() -> None:
    """Run the sections named on the command line, or all."""
    chosen = sys.argv[1:] or list(SECTIONS)
    unknown = [name for name in chosen if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"{platform.machine()}, {os.cpu_count()} cores"
    )
    for name in chosen:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
