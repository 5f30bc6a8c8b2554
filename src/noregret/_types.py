"""Array types used in every signature."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
#: n × d floats, or a vector of n Python objects
Points: TypeAlias = npt.NDArray[Any]
