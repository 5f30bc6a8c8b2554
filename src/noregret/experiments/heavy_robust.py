"""Robust UCB beside the algorithms that use smoothness (Ray Chowdhury & Gopalan 2019, Appendix E).

Runs that Figure 1 (e) has too are the same cells.
"""

from noregret.experiments.heavy_data import experiment

EXPERIMENTS = (
    experiment(
        "heavy-robust", "Appendix E", "41 light sensors, with Robust UCB", "sensors",
        ("tgp", "nystrom", "robust", "huber"), theory_runs=3,
    ),
)  # fmt: skip
