"""Class names for inserted markup: telling ones, and neutral ones without meaning."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

Naming = Callable[[str], str]


def telling(name: str) -> str:
    """Return the class as a person would write it: class="related-posts"."""
    return f'class="{name}"'


def neutral(name: str) -> str:
    """Return a class without meaning: class="kgbdoq"."""
    return f'class="{six_letters(name)}"'


def six_letters(text: str) -> str:
    """Return six letters that depend on the text; digits would make the name count as volatile."""
    return "".join(chr(ord("a") + byte % 26) for byte in sha256(text.encode()).digest()[:6])
