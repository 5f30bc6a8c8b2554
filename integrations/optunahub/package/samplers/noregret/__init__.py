"""Gaussian-process samplers of noregret: define-by-run spaces, and fixed tables of candidates."""

from noregret.integrations.optuna import CandidateSampler, NoRegretSampler

__all__ = ["CandidateSampler", "NoRegretSampler"]
