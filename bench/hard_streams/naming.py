"""Class names of what is put into pages: telling ones, and neutral ones that must not decide."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

Naming = Callable[[str], str]


def telling(name: str) -> str:
    """The class as a person would write it: class="related-posts"."""
    return f'class="{name}"'


def neutral(name: str) -> str:
    """A class that says nothing: class="kgbdoq"."""
    return f'class="{letters(name)}"'


def letters(text: str) -> str:
    """Six letters that depend on the text alone: no digit, which would make the name volatile."""
    return "".join(chr(ord("a") + byte % 26) for byte in sha256(text.encode()).digest()[:6])
