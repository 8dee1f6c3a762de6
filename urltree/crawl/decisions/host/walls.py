"""Recognise walls: responses that replace the page by a robot test or a demand for consent.

    walls.yaml      status, headers and marks of each wall; a response must meet all conditions

If a wall is not recognised, it is published as the text of a page. If a page is taken for a wall,
the page is lost. So a mark in the page is never enough: an entry also requires a header that only
the wall sends, or an error status, or a page with little text.
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

MAX_WALL = 64 * 1024  # bytes of the page that are searched

_SHORT = 400  # characters of text; walls have 20 to 350, articles rarely fewer than 500
_HIDDEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|noscript|svg|head)\b.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(rb"<[^>]{0,4000}>?")


@dataclass(frozen=True, slots=True)
class Wall:
    """The conditions by which one wall is recognised. An empty condition is always met.

    Attributes:
        name: name of the wall in metrics and dead letters.
        status: possible status codes.
        headers: patterns by header name; each pattern must match the value of its header.
        marks: byte strings in lower case; one of them must occur in the page.
        short: whether the page must have little text.
        hosts: hosts; the response must redirect to one of them or to a subdomain of one. The other
            conditions are then ignored.
    """

    name: str
    status: frozenset[int] = frozenset()
    headers: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    marks: tuple[bytes, ...] = ()
    short: bool = False
    hosts: tuple[str, ...] = ()

    def is_met(self, status: int, headers: Mapping[str, str], html: bytes) -> bool:
        """Return whether a response meets all conditions; `html` is in lower case."""
        if self.hosts:
            return 300 <= status < 400 and _is_below(headers.get("location", ""), self.hosts)
        return (
            (not self.status or status in self.status)
            and all(p.search(headers.get(name, "")) for name, p in self.headers.items())
            and (not self.marks or any(mark in html for mark in self.marks))
            and (not self.short or _is_short(html))
        )


def find_wall(status: int, headers: Mapping[str, str], html: bytes) -> str | None:
    """Return the name of the wall that a response contains; None if it contains no wall.

    Args:
        status: status of the response.
        headers: header fields by lower-case name.
        html: body of the response; its first MAX_WALL bytes are searched.
    """
    lower = html[:MAX_WALL].lower()
    return next((w.name for w in load_walls() if w.is_met(status, headers, lower)), None)


@cache
def load_walls() -> tuple[Wall, ...]:
    """Return the walls of walls.yaml."""
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
    """Return whether the first MAX_WALL bytes of a page contain little text."""
    text = _TAG.sub(b" ", _HIDDEN.sub(b" ", html))
    return len(b" ".join(text.split())) <= _SHORT
