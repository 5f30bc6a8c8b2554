"""The main job: 10,000 candidates, 10,000 noisy evaluations, in adaptive batches.

Run it with `make demo`. It ends with a recommendation and a picture, demo.png.
"""

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import noregret as nr
from noregret.reporting import plot

CANDIDATES, BUDGET, NOISE = 10_000, 10_000, 0.1


def main() -> None:
    """Play the game and say how it went."""
    console = Console()
    rng = np.random.default_rng(2024)
    X = rng.uniform(size=(CANDIDATES, 2))
    centres = rng.uniform(size=(40, 2))
    kernel = nr.RBF(lengthscale=0.2)
    f = kernel(X, centres) @ rng.standard_normal(40)
    f /= np.abs(f).max()

    console.print(
        f"[bold]noregret[/bold]: the best of {CANDIDATES:,} candidates by {BUDGET:,} evaluations, "
        f"each with noise of standard deviation {NOISE} on values between {f.min():.2f} and "
        f"{f.max():.2f}."
    )
    # The norm of f, √(heights·K·heights) over the scale, is 1.96: bounds are proved.
    opt = nr.BBKB(nr.Candidates(X), kernel, noise=NOISE, norm=2.0, delta=0.01, seed=0)
    sizes: list[int] = []
    dictionary: list[int] = []
    deciding = 0.0
    columns = (
        TextColumn("evaluating"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[state]}"),
    )
    try:
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("", total=BUDGET, state="")
            while opt.t < BUDGET:
                start = time.perf_counter()
                batch = opt.ask(BUDGET - opt.t)
                deciding += time.perf_counter() - start
                opt.tell(batch, f[batch.ids] + NOISE * rng.standard_normal(len(batch)))
                sizes.append(len(batch))
                dictionary.append(batch.info.dictionary_size if batch.info else 0)
                state = f"batch of {sizes[-1]}, {dictionary[-1]} inducing points"
                progress.update(task, completed=opt.t, state=state)
    except KeyboardInterrupt:
        console.print(f"Stopped after {opt.t:,} evaluations; what is known so far:")
    if not opt.t:
        return

    best = opt.recommend()
    regret = f.max() - f[opt.history.ids]
    uniform = float(f.max() - f.mean())
    figure = plot.run(regret, sizes, dictionary, uniform=uniform, title="BBKB, 10,000 candidates")
    picture = Path("demo.png")
    figure.savefig(picture, dpi=110)
    rank = int((f > f[best.id]).sum()) + 1
    console.print(
        f"recommended    candidate {best.id} at {np.round(best.point, 3)}\n"
        f"its value      {best.mean:.3f}, in [{best.lower:.3f}, {best.upper:.3f}]; "
        f"no other is better by more than {best.gap:.3f}\n"
        f"still possible {opt.certify().alive:,} candidates can still be the best\n"
        f"the truth      {f[best.id]:.3f}, number {rank} of {CANDIDATES:,} (the best is "
        f"{f.max():.3f})\n"
        f"regret         {regret.mean() / uniform:.1%} of uniform choice's\n"
        f"decisions      {1e3 * deciding / opt.t:.3f} ms each, {len(sizes)} batches\n"
        f"picture        {picture}",
        highlight=False,
    )


if __name__ == "__main__":
    main()
