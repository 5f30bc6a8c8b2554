"""Our sparse posterior and BoTorch's exact GP under BoTorch's acquisition functions.

    python -m benchmarks botorch                      # on this processor
    python -m benchmarks botorch --device cuda --observations 2000,20000 --exact 20000

Both models have the same kernel (Matérn 5/2, lengthscale 1, six dimensions) and the same noise,
nothing is fitted. *Build* is the time from the observations to the first prediction. Then there is
one `optimize_acqf` call of qUCB and one of qLogNEI (200 baseline points), each with q = 2,
8 restarts and 256 starting points. On a GPU the table also has the largest memory in use there,
and the largest difference from the same model's means and deviations on the processor. The exact
GP is left out above ``--exact`` observations. Needs BoTorch (extra `bench`).
"""

import importlib.util
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import noregret as nr
from benchmarks import tables

DIMENSION, LENGTHSCALE, NOISE, BASELINE = 6, 1.0, 0.3, 200


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = tables.parser("botorch", __doc__)
    parser.add_argument("--observations", default="500,2000,20000", help="numbers of them")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--exact", type=int, default=5000, help="the most for the exact GP")
    given = parser.parse_args(arguments)
    if importlib.util.find_spec("botorch") is None:
        print("\nBoTorch is not installed")
        return
    print(f"\nSeconds on {_described(given.device)}; largest memory on the GPU")
    columns = ("observations", "model", "inducing points", "build", "qUCB", "qLogNEI", "MiB")
    tables.show(tables.head(*columns, "means differ", "deviations differ"))
    for n in (int(word) for word in given.observations.split(",")):
        X, y = _observations(n)
        _row(n, "sparse", _sparse, X, y, given.device)
        if n <= given.exact:
            _row(n, "exact", _exact, X, y, given.device)


def _described(device: str) -> str:
    import botorch
    import torch

    name = torch.cuda.get_device_name() if device == "cuda" else "the processor"
    return f"{name}, PyTorch {torch.__version__}, BoTorch {botorch.__version__}"


def _observations(n: int) -> tuple[Any, Any]:
    """n random points and noisy values of a smooth function."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, DIMENSION))
    return X, np.sin(3 * X).sum(axis=1) + NOISE * rng.standard_normal(n)


def _row(n: int, name: str, build: Callable[..., Any], X: Any, y: Any, device: str) -> None:
    import torch
    from botorch.acquisition import qLogNoisyExpectedImprovement, qUpperConfidenceBound

    on_gpu = device == "cuda"
    points = torch.as_tensor(np.random.default_rng(1).uniform(size=(100, DIMENSION)))
    _predicted(build(X[:50], y[:50], device), points.to(device))  # loads libraries, starts CUDA
    if on_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    model = build(X, y, device)
    found = _predicted(model, points.to(device))
    seconds = time.perf_counter() - start
    upper = _call(qUpperConfidenceBound(model, beta=4.0), device)
    best = torch.as_tensor(X[np.argsort(-y)[:BASELINE]]).to(device)
    improvement = _call(qLogNoisyExpectedImprovement(model, X_baseline=best), device)
    memory, apart = "–", ["–", "–"]
    if on_gpu:
        memory = f"{torch.cuda.max_memory_allocated() / 2**20:,.0f}"
        # A model made anew: the exact GP keeps factors on the device it predicted on.
        same = _predicted(build(X, y, "cpu"), points)
        apart = [f"{float((a - b).abs().max()):.1e}" for a, b in zip(found, same, strict=True)]
    size = f"{len(model._inducing):,}" if name == "sparse" else "–"
    took = [f"{each:.2f}" for each in (seconds, upper, improvement)]
    tables.show(tables.line(f"{n:,}", name, size, *took, memory, *apart))


def _sparse(X: Any, y: Any, device: str) -> Any:
    """Our model, which takes in the observations on the processor."""
    from noregret.integrations.botorch import SparseModel

    box = nr.Box([(0.0, 1.0)] * DIMENSION)
    opt = nr.BBKB(box, nr.Matern(LENGTHSCALE), noise=NOISE, width=2.0, qbar=1.0, seed=0)
    opt.tell(X, y)
    return SparseModel.from_optimizer(opt).to(device)


def _exact(X: Any, y: Any, device: str) -> Any:
    """A SingleTaskGP with the same hyper-parameters."""
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import MaternKernel, ScaleKernel

    where, Y = torch.as_tensor(X).to(device), torch.as_tensor(y)[:, None].to(device)
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=DIMENSION))
    noise = torch.full_like(Y, NOISE**2)
    model = SingleTaskGP(where, Y, noise, covar_module=kernel, outcome_transform=None)
    model.covar_module.base_kernel.lengthscale = LENGTHSCALE
    model.covar_module.outputscale = 1.0
    return model.to(device).eval()


def _predicted(model: Any, points: Any) -> tuple[Any, Any]:
    """Means and deviations at points, on the processor."""
    import torch

    with torch.no_grad():
        posterior = model.posterior(points)
        return posterior.mean.cpu(), posterior.variance.sqrt().cpu()  # waits for the device


def _call(acquisition: Any, device: str) -> float:
    """Seconds of one call."""
    import torch
    from botorch.optim import optimize_acqf

    bounds = torch.tensor([[0.0] * DIMENSION, [1.0] * DIMENSION], dtype=torch.float64).to(device)

    def optimise(restarts: int, raw: int) -> Any:
        torch.manual_seed(0)
        point, _ = optimize_acqf(
            acquisition, bounds=bounds, q=2, num_restarts=restarts, raw_samples=raw
        )
        return point.cpu()  # waits for the device

    optimise(1, 2)  # loads what a first call loads
    start = time.perf_counter()
    optimise(8, 256)
    return time.perf_counter() - start
