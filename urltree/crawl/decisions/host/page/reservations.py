"""Reservations: publishers say that a page must not be indexed, archived, or used for AI or mining.

    noindex, noarchive, noai    header X-Robots-Tag; <meta name="robots"> or <meta name="urltree">
    tdm                         <meta name="tdm-reservation">, else header TDM-Reservation, else the
                                longest matching location of /.well-known/tdmrep.json (W3C TDMRep)

Only the signals of setting `obey_signals` are obeyed. `none` means noindex too. Directives for
other user agents do not count. Repeated headers arrive as one: a directive belongs to the user
agent that was named last.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote, urlsplit

import orjson

from urltree.crawl.decisions.host.head_links import MAX_HEAD, read_head, read_tag

MAX_TDMREP = 256 * 1024  # bytes of tdmrep.json that are read; a longer file is not parsed

_MAX_RULES = 1_000
_MAX_PATTERN = 2_048
_AGENTS = frozenset({"robots", "urltree"})
_NO_AGENT = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
_META = re.compile(rb"<meta\s([^<>]{1,4000})>", re.IGNORECASE)
_WANTED = re.compile(rb"robots|urltree|tdm-reservation", re.IGNORECASE)


class Signal(StrEnum):
    """A reservation that the setting `obey_signals` may name."""

    NOINDEX = "noindex"
    NOARCHIVE = "noarchive"
    NOAI = "noai"
    TDM = "tdm"


@dataclass(frozen=True, slots=True)
class TdmRule:
    """A rule of tdmrep.json.

    Attributes:
        location: pattern of paths, as in robots.txt: `*` is any text, a `$` at its end is the end.
        is_reserved: whether `tdm-reservation` is 1.
    """

    location: str
    is_reserved: bool


def find_reservation(
    obeyed: Collection[Signal],
    headers: Mapping[str, str],
    page: bytes,
    url: str,
    rules: Collection[TdmRule] = (),
) -> str | None:
    """Return the reservation of a page that must be obeyed, with its place; None if there is none.

    Args:
        obeyed: signals of the setting `obey_signals`.
        headers: header fields by lower-case name.
        page: bytes of the page; its head is searched.
        url: address of the response.
        rules: rules of the host's tdmrep.json.

    Returns:
        For example "noai in the header X-Robots-Tag".
    """
    if not obeyed:
        return None
    for name in _robots_directives(headers.get("x-robots-tag", "")):
        if name in obeyed:
            return f"{name} in the header X-Robots-Tag"
    metas = list(_metas(page[:MAX_HEAD]))
    for agent, content in metas:
        if agent in _AGENTS:
            found = {name.strip() for name in content.split(",")}
            for name in _with_none(found):
                if name in obeyed:
                    return f"{name} in <meta name={agent!r}>"
    return _find_tdm(headers, metas, url, rules) if Signal.TDM in obeyed else None


def tdmrep_url(url: str) -> str:
    """Return the address of the tdmrep.json for a page."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/.well-known/tdmrep.json"


def parse_tdmrep(body: str | bytes) -> tuple[TdmRule, ...]:
    """Return the rules of a tdmrep.json; entries of another form are skipped.

    A file that is no JSON array has no rules: most such files are pages for "not found".
    """
    if len(body) > MAX_TDMREP:
        return ()
    try:
        entries = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ()
    if not isinstance(entries, list):
        return ()
    found: list[TdmRule] = []
    for entry in entries[:_MAX_RULES]:
        location = entry.get("location") if isinstance(entry, dict) else None
        if isinstance(location, str) and 0 < len(location) <= _MAX_PATTERN:
            found.append(TdmRule(location, entry.get("tdm-reservation") in (1, "1")))
    return tuple(found)


def is_tdm_reserved(rules: Collection[TdmRule], url: str) -> bool:
    """Return whether the longest rule that matches an address reserves it (RFC 9309, 2.2.2).

    Of equally long rules, the one that reserves decides.
    """
    parts = urlsplit(url)
    path = unquote(parts.path or "/") + (f"?{unquote(parts.query)}" if parts.query else "")
    matching = [rule for rule in rules if _matches(unquote(rule.location), path)]
    best = max(matching, key=lambda r: (len(r.location), r.is_reserved), default=None)
    return best is not None and best.is_reserved


def _find_tdm(
    headers: Mapping[str, str],
    metas: list[tuple[str, str]],
    url: str,
    rules: Collection[TdmRule],
) -> str | None:
    said = next((content for name, content in metas if name == "tdm-reservation"), None)
    if said is not None:
        return "tdm in <meta name='tdm-reservation'>" if said == "1" else None
    header = headers.get("tdm-reservation")
    if header is not None:
        return "tdm in the header TDM-Reservation" if header.strip() == "1" else None
    return "tdm in /.well-known/tdmrep.json" if is_tdm_reserved(rules, url) else None


def _robots_directives(header: str) -> Iterator[str]:
    """Yield the directives of X-Robots-Tag for every agent, or for ours."""
    counts, found = True, set()
    for part in header.lower().split(","):
        agent, colon, rest = part.partition(":")
        is_for_agent = bool(colon) and agent.strip() not in _NO_AGENT
        if is_for_agent:
            counts = agent.strip() in _AGENTS
        if counts:
            found.add((rest if is_for_agent else part).strip())
    return iter(_with_none(found))


def _with_none(directives: set[str]) -> list[str]:
    """Return directives in a fixed order; `none` means noindex too."""
    return sorted(directives | ({"noindex"} if "none" in directives else set()))


def _metas(page: bytes) -> Iterator[tuple[str, str]]:
    """Yield name and content of the `meta` tags that may reserve a page, in lower case."""
    for tag in filter(_WANTED.search, _META.findall(read_head(page))):
        attributes = read_tag(tag)
        name = attributes.get("name", "").lower()
        if name in _AGENTS or name == "tdm-reservation":
            yield name, attributes.get("content", "").lower().strip()


def _matches(pattern: str, path: str) -> bool:
    """Return whether a pattern matches a path; the time is linear in both."""
    is_whole = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    if not others:
        return not is_whole or at == len(path)
    for part in others[:-1]:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    last = others[-1]
    if is_whole:
        return path.endswith(last) and len(path) - len(last) >= at
    return path.find(last, at) >= 0
