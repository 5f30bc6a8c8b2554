"""Measurements, each beside something run with it: `make bench`, or `python -m benchmarks`.

Everything runs on one thread: BLAS's, and our own over rows of a list. So ratios do not depend on
how many cores are free.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NOREGRET_THREADS"):
    os.environ.setdefault(_name, "1")
