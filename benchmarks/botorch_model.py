"""Seconds for one `optimize_acqf` call on our sparse posterior and on BoTorch's exact GP.

    python -m benchmarks botorch                      # on this processor
    python -m benchmarks botorch --device cuda --observations 2000,20000,50000

Both models have the same kernel (Matérn 5/2, lengthscale 1, six dimensions) and the same noise,
nothing is fitted. The acquisition function is qUCB with q = 2, 8 restarts and 256 starting points.
The exact GP is left out above ``--exact`` observations. Needs BoTorch (extra `bench`).
"""

import argparse
import importlib.util
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import noregret as nr

DIMENSION, LENGTHSCALE, NOISE = 6, 1.0, 0.3


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks botorch",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--observations", default="500,2000,20000", help="numbers of them")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--exact", type=int, default=5000, help="the most for the exact GP")
    given = parser.parse_args(arguments)
    print("\nSeconds for one optimize_acqf call, qUCB, q = 2, six dimensions, " + given.device)
    if importlib.util.find_spec("botorch") is None:
        print("BoTorch is not installed")
        return
    print("| observations | inducing points | sparse: build | sparse: call | exact: call |")
    print("|---|---|---|---|---|", flush=True)
    for n in (int(word) for word in given.observations.split(",")):
        X, y = _observations(n)
        start = time.perf_counter()
        opt = _sparse(X, y)
        build = time.perf_counter() - start
        size = len(opt.dictionary_points)
        ours = _call(_ours(opt), given.device)
        theirs = f"{_call(_exact(X, y), given.device):.2f}" if n <= given.exact else "–"
        print(f"| {n:,} | {size:,} | {build:.2f} | {ours:.2f} | {theirs} |", flush=True)


def _observations(n: int) -> tuple[Any, Any]:
    """n random points and noisy values of a smooth function."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, DIMENSION))
    return X, np.sin(3 * X).sum(axis=1) + NOISE * rng.standard_normal(n)


def _sparse(X: Any, y: Any) -> nr.BBKB:
    box = nr.Box([(0.0, 1.0)] * DIMENSION)
    opt = nr.BBKB(box, nr.Matern(LENGTHSCALE), noise=NOISE, width=2.0, qbar=1.0, seed=0)
    opt.tell(X, y)
    opt.predict(X[:1])
    return opt


def _ours(opt: nr.BBKB) -> Any:
    from noregret.integrations.botorch import SparseModel

    return SparseModel.from_optimizer(opt)


def _exact(X: Any, y: Any) -> Any:
    """A SingleTaskGP with the same hyper-parameters."""
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import MaternKernel, ScaleKernel

    Y = torch.as_tensor(y)[:, None]
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=DIMENSION))
    noise = torch.full_like(Y, NOISE**2)
    model = SingleTaskGP(torch.as_tensor(X), Y, noise, covar_module=kernel, outcome_transform=None)
    model.covar_module.base_kernel.lengthscale = LENGTHSCALE
    model.covar_module.outputscale = 1.0
    return model.eval()


def _call(model: Any, device: str) -> float:
    """Seconds of a call, after a small one that warms up and factorises."""
    import torch
    from botorch.acquisition import qUpperConfidenceBound
    from botorch.optim import optimize_acqf

    bounds = torch.tensor([[0.0] * DIMENSION, [1.0] * DIMENSION], dtype=torch.float64).to(device)
    acquisition = qUpperConfidenceBound(model.to(device), beta=4.0)

    def optimise(restarts: int, raw: int) -> Any:
        torch.manual_seed(0)
        point, _ = optimize_acqf(
            acquisition, bounds=bounds, q=2, num_restarts=restarts, raw_samples=raw
        )
        return point.cpu()  # waits for the device

    optimise(1, 2)
    start = time.perf_counter()
    optimise(8, 256)
    return time.perf_counter() - start
