"""Class names for inserted markup: names with a meaning, and neutral names without a meaning."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

Naming = Callable[[str], str]


def telling(name: str) -> str:
    """Return the attribute with a name as a person writes it: class="related-posts"."""
    return f'class="{name}"'


def neutral(name: str) -> str:
    """Return the attribute with a name without a meaning: class="kgbdoq"."""
    return f'class="{six_letters(name)}"'


def six_letters(text: str) -> str:
    """Return six letters that depend on the text; with digits, the name would count as volatile."""
    return "".join(chr(ord("a") + byte % 26) for byte in sha256(text.encode()).digest()[:6])
