"""Measurements, each a ratio to something run beside it. `make bench`, or `python -m benchmarks`."""
