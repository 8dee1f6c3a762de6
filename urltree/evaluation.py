"""Deprecated name of `urltree_evaluation`; it will be removed in the next release.

Plug-ins that import `urltree.evaluation` keep working and get a DeprecationWarning.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return the attribute of `urltree_evaluation`, with a deprecation warning for the caller."""
    if name.startswith("__"):
        raise AttributeError(name)
    warnings.warn(
        f"urltree.evaluation is deprecated: import {name} from urltree_evaluation instead.",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(import_module("urltree_evaluation"), name)
