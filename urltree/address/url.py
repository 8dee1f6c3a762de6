"""Normalise URLs, so that each address has one spelling (paper, section 3; RFC 3986; WHATWG URL).

    http://u:p@EXAMPLE.com.:80/a/../%7Eb%2fc?z=1&a=%E4#top
    http://example.com/~b%2Fc?a=%E4&z=1

`can_ada` parses a URL as browsers do. It resolves dot segments, writes international host names in
punycode, normalises IP addresses, and removes default ports. This module does the rest. It decodes
an escape once, and only if this does not change the address (RFC 3986, section 2.3).
`w3lib.url.canonicalize_url` is not used, because it also decodes reserved characters in the path
(`%5B`, `%2B`) and so changes the address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

import can_ada

from urltree.page import PageError, Reason

MAX_URL = 8_192  # characters of a URL, both before and after normalisation

Parameter = tuple[str, str]

_SCHEMES = {"http:", "https:"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DOTS = re.compile(r"/\.\.?(?:/|\Z)")
# Matches an escape, or a character that a path cannot contain (RFC 3986, section 3.3: pchar).
_TO_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]")


@dataclass(frozen=True, slots=True)
class NormalUrl:
    """The parts of a normalised URL; `str()` returns the URL.

    Attributes:
        scheme: `http` or `https`.
        host: host in lower case and punycode, without a trailing dot; an IPv6 address in brackets.
        port: port in digits; empty for the default port of the scheme.
        path: percent-encoded path, which begins with `/`; its case is not changed.
        query: decoded parameters, sorted by name; bytes that are not UTF-8 are surrogate escapes.
        fragment: fragment that begins with `#!`, else empty, because other fragments do not
            identify a page.
    """

    scheme: str
    host: str
    port: str
    path: str
    query: tuple[Parameter, ...]
    fragment: str

    @property
    def netloc(self) -> str:
        """The host, followed by the port if it is not the default of the scheme."""
        return f"{self.host}:{self.port}" if self.port else self.host

    def __str__(self) -> str:
        query = encode_query(self.query)
        return f"{self.scheme}://{self.netloc}{self.path}{query}{self.fragment}"


def normalise(url: str) -> NormalUrl:
    """Normalise a URL. To normalise the result again changes nothing.

    Raises:
        PageError: `bad-url`: the URL is not an http or https URL, or is longer than MAX_URL.
    """
    if len(url) > MAX_URL:
        raise _bad(url, f"has {len(url)} characters, the limit is {MAX_URL}")
    try:
        parsed = can_ada.parse(_SURROGATE.sub("\ufffd", url))
    except ValueError:
        raise _bad(url, "is not an absolute URL") from None
    scheme: str = parsed.protocol
    if scheme not in _SCHEMES:
        raise _bad(url, "is not an http or https URL")
    fragment = _escape(parsed.hash[2:]) if parsed.hash.startswith("#!") else None
    normal = NormalUrl(
        scheme[:-1],
        _host(url, parsed.hostname),
        parsed.port,
        _without_dots(_escape(parsed.pathname)),
        _parameters(parsed.search[1:]),
        "" if fragment is None else "#!" + fragment,
    )
    if len(str(normal)) > MAX_URL:
        raise _bad(url, f"has more than {MAX_URL} characters after percent-encoding")
    return normal


def encode_query(query: tuple[Parameter, ...]) -> str:
    """Return parameters as a query such as `?a=1&b`, or an empty string without parameters.

    A parameter with an empty value gets no equals sign.
    """
    if not query:
        return ""
    encoded = urlencode(query, errors="surrogateescape")
    return "?" + encoded.replace("=&", "&").removesuffix("=")


def _bad(url: str, problem: str) -> PageError:
    shown = url if len(url) <= 200 else url[:200] + "…"
    return PageError(Reason.BAD_URL, f"url: {shown!r} {problem}")


def _host(url: str, hostname: str) -> str:
    host = hostname.removesuffix(".")
    if not host or host.startswith(".") or host.endswith(".") or ".." in host:
        raise _bad(url, "has a host with an empty label")
    return host


def _without_dots(path: str) -> str:
    """Resolve the dot segments that can_ada 3.0 has left: in `/x/.y/../z` it leaves all of them."""
    if not _DOTS.search(path):
        return path
    kept: list[str] = []
    for segment in path[1:].split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if path.endswith(("/.", "/..")):
        kept.append("")
    return "/" + "/".join(kept)


def _parameters(search: str) -> tuple[Parameter, ...]:
    """Return the parameters of a query, sorted by name.

    Parameters with the same name keep their order, because it may change the page.
    """
    if not search:
        return ()
    pairs = parse_qsl(search, keep_blank_values=True, errors="surrogateescape")
    return tuple(sorted((pair for pair in pairs if pair != ("", "")), key=_name))


def _name(parameter: Parameter) -> str:
    return parameter[0]


def _escape(path: str) -> str:
    return _TO_ESCAPE.sub(_escaped, path)


@lru_cache(maxsize=1_024)
def _escape_of(found: str) -> str:
    if len(found) == 3:
        character = chr(int(found[1:], 16))
        return character if character in _UNRESERVED else found.upper()
    return "".join(f"%{byte:02X}" for byte in found.encode())


def _escaped(match: re.Match[str]) -> str:
    return _escape_of(match.group())
