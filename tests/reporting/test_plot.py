"""Pictures of a cover."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import noregret as nr

KERNEL = nr.Matern(0.3, nu=1.5)


def played(domain, **options):
    opt = nr.PiGPUCB(domain, KERNEL, noise=0.1, norm=5.0, horizon=50, seed=0, **options)
    rng = np.random.default_rng(0)
    for _ in range(25):
        batch = opt.ask()
        opt.tell(batch, np.sin(6 * batch.points[:, 0]) + 0.1 * rng.standard_normal(1))
    return opt


@pytest.mark.parametrize("on", ["list", "box"])
def test_line_shows_edges_bound_mean_and_evaluations(on):
    box = nr.Box({"dose": (0.0, 2.0)})
    opt = played(box.grid(40) if on == "list" else box)
    (ax,) = nr.plot.cover(opt).axes
    edges = {cell.lower[0] for cell in opt.cover} | {cell.upper[0] for cell in opt.cover}
    assert len(ax.lines) == len(edges) + 2
    upper = next(line for line in ax.lines if line.get_label() == "upper bound")
    where = np.arange(40) if on == "list" else np.asarray(upper.get_xdata())[:, None]
    assert np.array_equal(upper.get_ydata(), opt.upper(where))
    assert len(ax.collections[0].get_offsets()) == 25
    assert ax.get_xlabel() == "dose"


@pytest.mark.parametrize("on", ["list", "box"])
def test_plane_shows_cells_bound_and_evaluations(on):
    box = nr.Box([(0.0, 1.0), (-1.0, 1.0)])
    opt = played(box.grid(12) if on == "list" else box)
    figure = Figure()
    ax = figure.subplots()
    assert nr.plot.cover(opt, ax) is figure
    assert len(ax.patches) == len(opt.cover)
    corners = {(*patch.get_xy(), patch.get_width()) for patch in ax.patches}
    assert corners == {(*cell.lower, cell.upper[0] - cell.lower[0]) for cell in opt.cover}
    bound, told = ax.collections
    assert len(told.get_offsets()) == 25
    if on == "list":
        assert np.array_equal(bound.get_array(), opt.upper())
    figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="one or two dimensions"):
        nr.plot.cover(nr.PiGPUCB(np.random.default_rng(0).random((9, 3)), KERNEL))
    with pytest.raises(TypeError, match="PiGPUCB"):
        nr.plot.cover(nr.IGPUCB(np.arange(3.0), KERNEL))


def test_importing_the_package_does_not_import_matplotlib():
    code = "import noregret, sys; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
