"""JSON that every reader accepts: no NaN and no Infinity."""

import json
import math
from typing import Any

import numpy as np


def dumps(value: Any) -> str:
    """``value`` as JSON; numbers that are not finite become ``null``, other objects text."""
    return json.dumps(_plain(value), default=str, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
