"""The shape of an address: the address with its variable parts replaced.

https://news.example/news/2026/11/after-the-flood-17.html     /news/9/9/slug.html
https://news.example/after-the-flood/                         /slug/
https://news.example/viewtopic.php?t=1017                     /w.php?t=9
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

_DIGITS = re.compile(r"\d+")
_SEPARATOR = re.compile(r"[-_+.,]|%20")


def address_shape(url: str) -> str:
    """Return the shape of an address; the scheme and host do not count.

    Numbers become 9, names of several words or with a long number `slug`, other names `w`. Only the
    first name of a path keeps its word, because it often tells articles from tags and authors.
    """
    parts = urlsplit(url)
    *folders, last = parts.path.split("/")[1:]
    name, dot, ending = last.rpartition(".")
    if not dot or not ending.isalnum() or len(ending) > 5 or ending.isdigit():
        name, dot, ending = last, "", ""
    names = [_segment(folder) for folder in folders] + [_segment(name)]
    if folders and names[0] == "w":
        names[0] = folders[0][:30].lower()
    query = [f"{key}={_segment(value)}" for key, value in parse_qsl(parts.query)]
    return ("/" + "/".join(names) + dot + ending + "?" * bool(query) + "&".join(query[:5]))[:100]


def _segment(name: str) -> str:
    if not name:
        return ""
    if name.isdigit():
        return "9"
    words = [word for word in _SEPARATOR.split(name) if word]
    longest = max((len(number) for number in _DIGITS.findall(name)), default=0)
    return "slug" if len(words) > 2 or longest > 3 or len(name) > 24 else "w"


def has_own_name(shape: str) -> bool:
    """Return whether an address of this shape has a number, or a name of several words."""
    return "slug" in shape or "9" in shape


def is_distinctive(shape: str) -> bool:
    """Return whether a shape can tell articles from other pages: by a folder and several words."""
    return shape.count("/") > 1 and "slug" in shape
