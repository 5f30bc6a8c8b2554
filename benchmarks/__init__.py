"""Measurements, each beside something run with it: `make bench`, or `python -m benchmarks`."""
