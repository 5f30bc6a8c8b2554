"""Plots and the report."""
