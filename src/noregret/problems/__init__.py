"""Test problems, noises and data sets."""
