"""Patterns of paths, with the wildcards of robots.txt (RFC 9309, section 2.2.3).

    /private/        every path that begins with /private/
    /*.pdf$          every path that ends with .pdf
    /*?print=        every address with a query that begins with print=

Path and query are compared as octets: `%7E`, `%7e` and `~` are equal, and so are `%2F` and `/`. In
doubt, an address is denied. A wildcard that is escaped (`%2A`, `%24`) stands for the character.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

MAX_PATTERN = 2_048
"""Largest number of characters of a pattern."""


class PathPattern:
    """A pattern of paths. The time of a comparison grows with the length of the path alone.

    Each part between two wildcards is searched once, from the end of the part before it.

    Args:
        text: pattern that begins with `/`.
    """

    __slots__ = ("_is_anchored", "_last", "_middle", "_start")

    def __init__(self, text: str) -> None:
        self._is_anchored = text.endswith("$")
        start, *rest = map(unquote_to_bytes, text.removesuffix("$").split("*"))
        self._start = start
        self._middle = [part for part in rest[:-1] if part]
        self._last = rest[-1] if rest else None

    def matches(self, path: bytes) -> bool:
        """Return whether the pattern matches a path with its query, as `octets` returns it."""
        if not path.startswith(self._start):
            return False
        if self._last is None:
            return not self._is_anchored or len(path) == len(self._start)
        at = len(self._start)
        for part in self._middle:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        if self._is_anchored:
            return len(path) - len(self._last) >= at and path.endswith(self._last)
        return path.find(self._last, at) >= 0


def octets(path: str, query: str) -> bytes:
    """Return a path and a query (`?…` or empty) as the octets that patterns are compared with."""
    decoded = unquote_to_bytes(path)
    if b"/." in decoded:
        decoded = _without_dots(decoded)
    return decoded + unquote_to_bytes(query)


def split_pattern(target: str) -> tuple[str, str]:
    """Return the host (with `*.` for its subdomains) and the pattern of the target of a rule.

    A scheme before the host is ignored.

    Raises:
        ValueError: the target has no path, or the pattern is too long.
    """
    text = target.partition("://")[2] if target.startswith(("http://", "https://")) else target
    host, slash, path = text.partition("/")
    if not host or not slash:
        raise ValueError(f"{target!r} should be HOST/PATTERN, such as example.org/private/")
    if len(path) >= MAX_PATTERN:
        raise ValueError(f"the pattern has {len(path) + 1} characters, more than {MAX_PATTERN}")
    if any(character.isspace() for character in path):
        raise ValueError(f"{target!r} contains a space; write it as %20")
    return host, f"/{path}"


def _without_dots(path: bytes) -> bytes:
    kept: list[bytes] = []
    segments = path.split(b"/")[1:]
    for segment in segments:
        if segment == b"..":
            del kept[-1:]
        elif segment != b".":
            kept.append(segment)
    if segments[-1:] in ([b"."], [b".."]):
        kept.append(b"")
    return b"/" + b"/".join(kept)
