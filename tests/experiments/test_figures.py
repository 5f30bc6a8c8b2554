"""The common style: bands over runs, limits that bands do not stretch, small pictures."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from noregret.experiments import figures

pytest.importorskip("matplotlib")


def test_the_interval_is_students():
    values = np.random.default_rng(0).random(7)
    mean, half = figures.interval(values)
    low, high = stats.t.interval(0.95, 6, loc=values.mean(), scale=stats.sem(values))
    assert (mean - half, mean + half) == pytest.approx((low, high))
    mean, half = figures.interval([3.0])
    assert mean == 3.0
    assert np.isnan(half)  # one run says nothing of the spread


def test_bands_are_over_runs_at_each_x():
    frame = pl.DataFrame({"t": [2, 1, 2, 1], "y": [5.0, 1.0, 7.0, 3.0]})
    at, mean, half = figures.over_runs(frame, "t", "y")
    assert at.tolist() == [1.0, 2.0]
    assert mean.tolist() == [2.0, 6.0]
    assert half == pytest.approx(figures.interval([1.0, 3.0])[1])


def test_styles_differ_in_more_than_colour():
    styles = figures.styles([str(i) for i in range(8)])
    assert len({str(style["linestyle"]) for style in styles.values()}) == 8
    assert len({style["marker"] for style in styles.values()}) == 8


def _wide_band(scale: str) -> tuple[object, list[object]]:
    """Two panels with a line of 1, 2, 3 and one of 10, 20, 30, and bands far wider than they."""
    rows = [
        {"t": t, "what": f"{size}", "value": size * t + off, "panel": size}
        for size in (1, 10)
        for t in (1, 2, 3)
        for off in (-100.0, 100.0)
    ]
    figure, axes = figures.panels(2)
    for axis, size in zip(axes, (1, 10), strict=True):
        part = pl.DataFrame(rows).filter(pl.col("panel") == size)
        figures.lines(axis, part, "t", "value", "what", ["1", "10"])
        axis.set_yscale(scale)
    return figure, axes


def test_limits_follow_the_lines_of_all_panels():
    _, axes = _wide_band("log")
    figures.cut_bands(axes)
    for axis in axes:
        assert axis.get_ylim() == pytest.approx((0.6, 48.0))


def test_a_linear_axis_starts_at_zero():
    _, axes = _wide_band("linear")
    figures.cut_bands(axes[:1])
    assert axes[0].get_ylim() == pytest.approx((0.0, 3.6))
    assert axes[1].get_ylim()[1] > 100.0


def test_negative_lines_have_a_margin_on_both_sides():
    _, (axis,) = figures.panels(1)
    axis.plot([0, 1], [-6.0, -1.0])
    axis.fill_between([0, 1], -50.0, 50.0)
    figures.cut_bands([axis])
    assert axis.get_ylim() == pytest.approx((-6.5, -0.5))


def test_one_legend_for_all_panels():
    figure, axes = _wide_band("linear")
    figures.legend(figure, axes[1])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["10"]


def test_saved_pictures_are_smaller_and_look_the_same(tmp_path: Path):
    from PIL import Image

    figure, _ = _wide_band("linear")
    figure.savefig(tmp_path / "full.png", dpi=110)
    figures.save(figure, tmp_path / "small.png")
    full, small = (
        np.asarray(Image.open(tmp_path / f"{name}.png").convert("RGB"), dtype=float)
        for name in ("full", "small")
    )
    assert full.shape == small.shape
    assert np.abs(full - small).mean() < 1.0
    sizes = [(tmp_path / f"{name}.png").stat().st_size for name in ("full", "small")]
    assert sizes[1] < sizes[0]
