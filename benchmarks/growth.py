"""How time grows with T, A and m: whole runs of BBKB on the synthetic problem.

λ = 0.01, ξ = 0.01, F = 1, δ = 1/T, with the proved width.
Longer lists: `python -m benchmarks long`.
"""

import argparse
from collections.abc import Sequence

from benchmarks.cases import Case, ours, synthetic

#: A, T and lengthscale; a shorter lengthscale makes m larger
SIZES = (
    (4_000, 1_000, 10.0),
    (4_000, 4_000, 10.0),
    (4_000, 16_000, 10.0),
    (4_000, 64_000, 10.0),
    (16_000, 4_000, 10.0),
    (64_000, 4_000, 10.0),
    (16_000, 4_000, 5.0),
    (16_000, 4_000, 4.0),
)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__).parse_args(
        arguments
    )
    print("\nWhole runs (synthetic × 8)\n")
    print("| A | T | RBF | seconds | ms per evaluation | inducing points |")
    print("|---|---|---|---|---|---|", flush=True)
    for arms, horizon, lengthscale in SIZES:
        found = ours(Case("", *synthetic(arms), lengthscale, horizon), horizon, seed=0)
        print(
            f"| {arms:,} | {horizon:,} | {lengthscale:g} | {found.seconds:.2f} | "
            f"{1e3 * found.seconds / horizon:.3f} | {found.size:,} |",
            flush=True,
        )
