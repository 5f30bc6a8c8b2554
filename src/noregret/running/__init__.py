"""A run: what changes while an optimiser runs, the steps of an ask, and files."""
