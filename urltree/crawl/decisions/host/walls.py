"""Recognises what stands in for a page: a test for robots, or a demand for consent.

    walls.yaml          status, headers and marks of each; all that an entry names must hold

Published, a wall would be the text of its site, on every page of it. A wrong alarm would lose a
page: so a mark alone never decides. Each entry needs a header that only the wall sends, or a
status of refusal with its mark, or a mark within a page that is hardly longer than the wall.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import yaml

MAX_WALL = 64 * 1024  # bytes that are looked at

_SHORT = 400  # characters of text; a wall's are 20 to 350, an article's rarely below 500
_HIDDEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|noscript|svg|head)\b.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(rb"<[^>]{0,4000}>?")


@dataclass(frozen=True, slots=True)
class Wall:
    """How one is recognised; what is empty says nothing.

    Attributes:
        name: in counts and dead letters.
        status: one of these.
        headers: patterns by name, all of them.
        marks: bytes of the page, one of them, whatever their case.
        short: whether its text must be short.
        hosts: a redirect to one of these, or below.
    """

    name: str
    status: frozenset[int] = frozenset()
    headers: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    marks: tuple[bytes, ...] = ()
    short: bool = False
    hosts: tuple[str, ...] = ()

    def is_met(self, status: int, headers: Mapping[str, str], html: bytes) -> bool:
        """Whether an answer is it; `html` is in lower case."""
        if self.hosts:
            return 300 <= status < 400 and _is_below(headers.get("location", ""), self.hosts)
        return (
            (not self.status or status in self.status)
            and all(p.search(headers.get(name, "")) for name, p in self.headers.items())
            and (not self.marks or any(mark in html for mark in self.marks))
            and (not self.short or _is_short(html))
        )


def find_wall(status: int, headers: Mapping[str, str], html: bytes) -> str | None:
    """The name of the wall that an answer is, None for what is none.

    Args:
        status: of the answer.
        headers: names in lower case.
        html: its body, of which MAX_WALL bytes count.
    """
    lower = html[:MAX_WALL].lower()
    return next((w.name for w in load_walls() if w.is_met(status, headers, lower)), None)


@cache
def load_walls() -> tuple[Wall, ...]:
    """The walls of walls.yaml."""
    text = files("urltree.crawl.decisions.host").joinpath("walls.yaml").read_text("utf-8")
    return tuple(_wall(entry) for entry in yaml.safe_load(text))


def _wall(entry: dict[str, Any]) -> Wall:
    return Wall(
        name=entry["wall"],
        status=frozenset(entry.get("status", ())),
        headers={n: re.compile(p, re.IGNORECASE) for n, p in entry.get("headers", {}).items()},
        marks=tuple(mark.lower().encode() for mark in entry.get("marks", ())),
        short=entry.get("short", False),
        hosts=tuple(entry.get("hosts", ())),
    )


def _is_below(location: str, hosts: tuple[str, ...]) -> bool:
    try:
        host = urlsplit(location).hostname or ""
    except ValueError:
        return False
    return any(host == known or host.endswith(f".{known}") for known in hosts)


def _is_short(html: bytes) -> bool:
    """Whether a page has hardly any text; a cut one has none of what was cut."""
    text = _TAG.sub(b" ", _HIDDEN.sub(b" ", html))
    return len(b" ".join(text.split())) <= _SHORT
