"""Deprecated name of the package `urltree_evaluation`; the next release removes this module.

Plug-ins that import `urltree.evaluation` keep working and get a DeprecationWarning.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return an attribute of `urltree_evaluation`, and warn the caller that this name is old."""
    if name.startswith("__"):
        raise AttributeError(name)
    warnings.warn(
        f"urltree.evaluation is deprecated: import {name} from urltree_evaluation instead.",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(import_module("urltree_evaluation"), name)
