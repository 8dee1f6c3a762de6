"""Read HTML files, and find the URL of each file.

input     file                         URL
mirror    example.org/news/a.html      https://example.org/news/a.html (a folder for each host)
example.org    news/index.html         https://example.org/news/ (the input is the folder of a host)
pages     a.html                       canonical link of the page, or else --base-url and a.html
"""

from __future__ import annotations

import re
from pathlib import PurePath
from urllib.parse import quote, urljoin, urlsplit

from urltree.html.tokenizer import tokenize
from urltree.reading.source import Source

# Matches a host: a name with dots whose last part has letters (RFC 3696, section 2), and a port.
_HOST = re.compile(
    r"(?=[^:]{4,253}(:|$))([a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?\.)+([a-z]{2,63}|xn--[a-z0-9-]+)"
    r"([:+]\d{1,5})?",
    re.IGNORECASE,
)
_INDEX = re.compile(r"(^|/)index\.x?html?$", re.IGNORECASE)
_SAFE = "/?=&%:;,+@!$'()*~"  # characters that are not escaped in a path and a query


def html_page(html: bytes, url: str | None) -> Source:
    """Return the page of one file; if `url` is None, the canonical link is the URL of the page."""
    return {"url": url or canonical_url(html), "html": html}


def mirror_url(folder: PurePath, file: PurePath) -> str | None:
    """Return the URL of a file in a mirror, or None if the file is not in a mirror.

    In a mirror, the name of the input folder or of its subfolder is a host.

    Args:
        folder: folder that the user gave as an input.
        file: path of a file below this folder.
    """
    host, *path = file.relative_to(folder).parts
    if path and _HOST.fullmatch(host):
        return _url(f"https://{_port(host)}/", path)
    if _HOST.fullmatch(folder.name):
        return _url(f"https://{_port(folder.name)}/", [host, *path])
    return None


def url_below(base_url: str, folder: PurePath, file: PurePath) -> str:
    """Return the URL of a file: `base_url` and the path of the file below the folder."""
    return _url(base_url.rstrip("/") + "/", file.relative_to(folder).parts)


def canonical_url(html: bytes) -> str | None:
    """Return the canonical link of a page if it is an absolute URL, else None."""
    link = tokenize(html).canonical if b"canonical" in html else None
    return link if link and urlsplit(link).scheme in ("http", "https") else None


def _url(base: str, path: tuple[str, ...] | list[str]) -> str:
    name = "/".join(path)
    return urljoin(base, quote(_INDEX.sub(r"\1", name).encode(errors="surrogateescape"), _SAFE))


def _port(host: str) -> str:
    return host.replace("+", ":")  # wget writes `host+8080` where file names have no `:`
