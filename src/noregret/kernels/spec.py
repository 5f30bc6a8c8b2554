"""Kernels written as JSON and arrays, for files."""

import inspect
import json
from typing import Any

import numpy as np

from noregret.kernels.adapters import FunctionKernel, SklearnKernel
from noregret.kernels.base import Kernel


def to_spec(kernel: Kernel, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """JSON that :func:`from_spec` reads; arrays go to ``arrays``.

    ``None`` for kernels that cannot be made again from a file: callables, classes that do not keep
    the arguments of their constructor, and classes with the name of another kernel.
    """
    if isinstance(kernel, FunctionKernel) or not _can_be_made_again(kernel):
        return None
    if isinstance(kernel, SklearnKernel):
        return {"sklearn": _sklearn_spec(kernel.kernel)}
    params: dict[str, Any] = {}
    for name, value in kernel.params().items():
        if isinstance(value, Kernel):
            inner = to_spec(value, arrays)
            if inner is None:
                return None
            params[name] = {"kernel": inner}
        elif isinstance(value, np.ndarray):
            key = f"kernel/{len(arrays)}"
            arrays[key] = value
            params[name] = {"array": key}
        else:
            params[name] = value
    return {"class": type(kernel).__name__, "params": params}


def from_spec(spec: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Kernel:
    """The kernel a spec describes. Only kernel classes are ever built."""
    if "sklearn" in spec:
        return SklearnKernel(_sklearn_kernel(spec["sklearn"]))
    cls = Kernel.registry.get(spec["class"])
    if cls is None:
        raise ValueError(
            f"kernel class {spec['class']!r} is unknown here: in Python, import the module that "
            "defines it before you load or open the file"
        )
    params: dict[str, Any] = {}
    for name, value in spec["params"].items():
        if isinstance(value, dict):
            inner = value.get("kernel")
            value = from_spec(inner, arrays) if inner else arrays[value["array"]]
        params[name] = value
    return cls(**params)


def same_kernel(one: Kernel, other: Kernel) -> bool:
    """Whether two kernels are the same as far as a file can tell; of callables, only their kind."""
    arrays: tuple[dict[str, np.ndarray[Any, Any]], dict[str, np.ndarray[Any, Any]]] = {}, {}
    first, second = (
        json.dumps(to_spec(kernel, into)) for kernel, into in zip((one, other), arrays, strict=True)
    )
    return first == second and all(
        np.array_equal(array, arrays[1][name]) for name, array in arrays[0].items()
    )


def _can_be_made_again(kernel: Kernel) -> bool:
    """Whether a file can name the kernel's class and hold the arguments of its constructor."""
    if isinstance(kernel, SklearnKernel):
        return True
    params = kernel.params()
    try:
        inspect.signature(type(kernel)).bind(**params)
        json.dumps([one for one in params.values() if not isinstance(one, (Kernel, np.ndarray))])
    except (TypeError, ValueError):
        return False
    return Kernel.registry.get(type(kernel).__name__) is type(kernel)


def _sklearn_spec(kernel: Any) -> Any:
    params = {}
    for name, value in kernel.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            params[name] = {"kernel": _sklearn_spec(value)}
        elif isinstance(value, np.ndarray):
            params[name] = value.tolist()
        else:
            params[name] = value
    return {"class": type(kernel).__name__, "params": params}


def _sklearn_kernel(spec: Any) -> Any:
    from sklearn.gaussian_process import kernels

    cls = getattr(kernels, spec["class"], None)
    if not (isinstance(cls, type) and issubclass(cls, kernels.Kernel)):
        raise ValueError(f"scikit-learn has no kernel {spec['class']!r}; pass kernel= to load")
    params = {
        name: _sklearn_kernel(value["kernel"]) if isinstance(value, dict) else value
        for name, value in spec["params"].items()
    }
    return cls(**params)
