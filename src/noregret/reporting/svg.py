"""Charts as inline SVG: no library, nothing loaded from elsewhere, text that scales with the page.

A chart is drawn 360 units wide, so that on a telephone its text is as large as the page's. Its key
stands above the plot, never on it.
"""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret._types import Floats

BLUE, GREY, RED = "#1f5fa8", "#8a939d", "#c0392b"

_WIDTH = 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 66.0, 10.0, 8.0, 40.0
#: at most this many points, or vertices of a line, are drawn
MOST_POINTS = 2000
#: at most this many steps lie between the first and the last label of an axis
_STEPS = 6
#: at most this many characters of a name are shown in a chart
_MOST_LETTERS = 44


def number(value: Any) -> str:
    """A number for people: five digits."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.5g}"
    return "" if value is None else str(value)


def text(value: Any) -> str:
    """Text for a page, escaped: what comes from files is never markup."""
    return html.escape("".join(c if c.isprintable() else "\ufffd" for c in str(value)))


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends, in at most six steps."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low]
    raw = span / _STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Decimal logarithms of round numbers between two logarithms: of powers of ten, if possible."""
    for digits in ((1,), (1, 2, 5)):
        powers = range(math.floor(low), math.ceil(high) + 1)
        found = [power + math.log10(digit) for power in powers for digit in digits]
        found = [one for one in found if low <= one <= high]
        if len(found) > 2:
            return found[:: math.ceil(len(found) / (_STEPS + 1))]
    return [math.log10(one) for one in ticks(10**low, 10**high)]


@dataclass
class Chart:
    """Lines, bands and points over two axes.

    Parameters
    ----------
    title
        Shown above the chart; screen readers read it in place of the chart.
    x_label, y_label
        Labels of the axes.
    height
        Height, in units of which the chart is 360 wide.
    log_x
        Whether the horizontal axis is logarithmic.
    """

    title: str
    x_label: str
    y_label: str = ""
    height: float = 230.0
    log_x: bool = False
    _parts: list[tuple[str, Floats, Any, str]] = field(default_factory=list)
    _key: list[tuple[str, str, str]] = field(default_factory=list)
    _x: list[float] = field(default_factory=list)
    _y: list[float] = field(default_factory=list)

    def line(self, x: Any, y: Any, color: str = BLUE, label: str = "") -> "Chart":
        """A line through points (n each)."""
        return self._add("line", x, [y], color, label)

    def band(self, x: Any, lower: Any, upper: Any, color: str = BLUE, label: str = "") -> "Chart":
        """The area between two lines (n each)."""
        return self._add("band", x, [lower, upper], color, label)

    def points(self, x: Any, y: Any, color: str = GREY, label: str = "") -> "Chart":
        """Dots (n)."""
        return self._add("points", x, [y], color, label)

    def bars(self, x: Any, lower: Any, upper: Any, color: str = BLUE, label: str = "") -> "Chart":
        """Vertical strokes from ``lower`` to ``upper`` (n)."""
        return self._add("bars", x, [lower, upper], color, label)

    def rule(self, x: float) -> "Chart":
        """A vertical line at x, as high as the chart."""
        return self._add("rule", [x], [], RED, "")

    def include(self, y: float) -> "Chart":
        """Let the vertical axis reach this value."""
        self._y.append(y)
        return self

    def _add(self, kind: str, x: Any, columns: list[Any], color: str, label: str) -> "Chart":
        array = np.asarray(x, dtype=np.float64)
        array = np.log10(array) if self.log_x else array
        values = [np.asarray(one, dtype=np.float64) for one in columns]
        kept = np.isfinite(array)
        for one in values:
            kept &= np.isfinite(one)
        chosen = _thinned(np.flatnonzero(kept))
        array, values = array[chosen], [one[chosen] for one in values]
        if len(array):
            self._x += [float(array.min()), float(array.max())]
            self._y += [float(end) for one in values for end in (one.min(), one.max())]
        self._parts.append((kind, array, values, color))
        if label:
            self._key.append((kind, color, label))
        return self

    def render(self) -> str:
        """The chart as a part of a page."""
        x_low, x_high = _ends(self._x)
        y_low, y_high = _ends(self._y)
        across, down = _WIDTH - _LEFT - _RIGHT, self.height - _TOP - _BOTTOM

        def px(x: Any) -> Any:
            return _LEFT + (x - x_low) / (x_high - x_low) * across

        def py(y: Any) -> Any:
            return _TOP + (y_high - y) / (y_high - y_low) * down

        along = log_ticks if self.log_x else ticks
        drawn = [self._axes(px, py, along(x_low, x_high), ticks(y_low, y_high))]
        drawn += [_mark(kind, px(x), [py(one) for one in ys], color, _TOP, _TOP + down)
                  for kind, x, ys, color in self._parts]  # fmt: skip
        return _figure(self.title, self._key, self.height, "".join(drawn))

    def _axes(self, px: Any, py: Any, xs: list[float], ys: list[float]) -> str:
        right, bottom = _WIDTH - _RIGHT, self.height - _BOTTOM
        out = []
        for y in ys:
            at = f"{py(y):.1f}"
            out.append(f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{at}" y2="{at}"/>')
            out.append(f'<text x="{_LEFT - 5}" y="{py(y) + 4:.1f}" class="end">{y:.4g}</text>')
        for x in xs:
            value = 10**x if self.log_x else x
            out.append(f'<text x="{px(x):.1f}" y="{bottom + 15}" class="mid">{value:.4g}</text>')
        out.append(f'<line class="axis" x1="{_LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
        middle = (_LEFT + right) / 2
        out.append(
            f'<text x="{middle}" y="{self.height - 6}" class="mid">{_label(self.x_label)}</text>'
        )
        if self.y_label:
            half = (_TOP + bottom) / 2
            out.append(
                f'<text transform="translate(11 {half}) rotate(-90)" class="mid">'
                f"{text(self.y_label)}</text>"
            )
        return "".join(out)


def _mark(kind: str, x: Any, ys: list[Any], color: str, top: float, bottom: float) -> str:
    if kind == "rule":
        return (
            f'<line x1="{x[0]:.1f}" x2="{x[0]:.1f}" y1="{top}" y2="{bottom}" stroke="{color}" '
            'stroke-dasharray="4 3"/>'
        )
    if kind == "points":
        dots = (f"M{a:.1f} {b:.1f}h0" for a, b in zip(x, ys[0], strict=True))
        return (
            f'<path d="{"".join(dots)}" stroke="{color}" stroke-width="4" stroke-linecap="round" '
            'opacity=".75" fill="none"/>'
        )
    if kind == "line":
        return (
            f'<polyline points="{_path(x, ys[0])}" fill="none" stroke="{color}" stroke-width="2"/>'
        )
    if kind == "band":
        around = f"{_path(x, ys[0])} {_path(x[::-1], ys[1][::-1])}"
        return f'<polygon points="{around}" fill="{color}" opacity=".18"/>'
    strokes = (f"M{a:.1f} {b:.1f}V{c:.1f}" for a, b, c in zip(x, *ys, strict=True))
    return f'<path d="{"".join(strokes)}" stroke="{color}" opacity=".4" fill="none"/>'


def _path(x: Any, y: Any) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def rows_chart(
    title: str,
    x_label: str,
    names: Sequence[str],
    values: Any,
    lower: Any = None,
    upper: Any = None,
    strong: int | None = None,
) -> str:
    """A row for each name: a bar from 0, or, if there are intervals (n), a dot in its interval.

    Names stand above their rows, so that long ones fit. ``strong`` is the row to point out.
    """
    values = np.asarray(values, dtype=np.float64)
    interval = lower is not None
    low, high = _ends([0.0, *values] if not interval else [*lower, *upper])
    across, height = _WIDTH - 30.0, 34.0 * len(names) + 36.0
    px = 10.0 + (values - low) / (high - low) * across
    start = 10.0 + (max(low, 0.0) - low) / (high - low) * across
    out = []
    for i, name in enumerate(names):
        y, weight = 34.0 * i + 14.0, ' font-weight="bold"' if i == strong else ""
        color = RED if i == strong else BLUE
        out.append(f'<text x="10" y="{y}"{weight}>{_label(name)}</text>')
        if interval:
            a, b = (10.0 + (end[i] - low) / (high - low) * across for end in (lower, upper))
            out.append(
                f'<line x1="{a:.1f}" x2="{b:.1f}" y1="{y + 9}" y2="{y + 9}" stroke="{color}" '
                'stroke-width="6" opacity=".25"/>'
                f'<circle cx="{px[i]:.1f}" cy="{y + 9}" r="4" fill="{color}"/>'
            )
        else:
            width = max(px[i] - start, 1.0)
            out.append(
                f'<rect x="{start:.1f}" y="{y + 4}" width="{width:.1f}" height="10" '
                f'fill="{color}"/>'
            )
    for at in ticks(low, high):
        x = 10.0 + (at - low) / (high - low) * across
        out.append(f'<text x="{x:.1f}" y="{height - 20}" class="mid">{at:.4g}</text>')
    out.append(f'<text x="{_WIDTH / 2}" y="{height - 4}" class="mid">{_label(x_label)}</text>')
    return _figure(title, [], height, "".join(out))


def shortened(name: str) -> str:
    """A name on one line; of a long one the beginning and the end, which say most."""
    line = " ".join(name.split())
    if len(line) <= _MOST_LETTERS:
        return line
    end = (_MOST_LETTERS - 1) // 2
    return f"{line[: _MOST_LETTERS - 1 - end]}…{line[-end:]}"


def _label(name: str) -> str:
    """The inside of a text element: the name, and if it is shortened a tooltip with all of it."""
    short = shortened(name)
    tooltip = f"<title>{text(name)}</title>" if short != name else ""
    return f"{text(short)}{tooltip}"


def _figure(title: str, key: list[tuple[str, str, str]], height: float, drawn: str) -> str:
    swatches = "".join(
        f'<span><i class="{"dot" if kind == "points" else "bar"}" style="background:{color};'
        f'opacity:{".3" if kind in ("band", "bars") else "1"}"></i>{text(label)}</span>'
        for kind, color, label in key
    )
    legend = f'<div class="key">{swatches}</div>' if swatches else ""
    return (
        f'<figure><figcaption>{text(title)}</figcaption>{legend}<svg viewBox="0 0 {_WIDTH:g} '
        f'{height:g}" role="img" aria-label="{text(title)}">{drawn}</svg></figure>'
    )


def _thinned(rows: Any) -> Any:
    """At most MOST_POINTS of these rows, evenly spaced, with the last one."""
    if len(rows) <= MOST_POINTS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MOST_POINTS).astype(int)]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The range of an axis, with a little room."""
    low, high = (min(values), max(values)) if len(values) else (0.0, 1.0)
    room = 0.04 * (high - low) or 0.5 * abs(low) or 1.0
    return low - room, high + room
