"""Hyper-parameter search in scikit-learn's own form, with folds as noisy replicates.

    from noregret.integrations.sklearn import NoRegretSearchCV

    search = NoRegretSearchCV(SVC(), {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    search.fit(X, y).best_params_

Needs scikit-learn: ``pip install "noregret[sklearn]"``.
"""

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise ImportError(
        'noregret.integrations.sklearn needs scikit-learn: pip install "noregret[sklearn]"'
    ) from error

from noregret.integrations.sklearn.search import NoRegretSearchCV

__all__ = ["NoRegretSearchCV"]
