"""HTML files, and the rules that find the URL of each.

mirror/example.org/news/a.html     https://example.org/news/a.html      a `host/path` mirror
example.org/news/index.html        https://example.org/news/            the folder is the host
pages/a.html                       its canonical link, else --base-url + a.html
"""

from __future__ import annotations

import re
from pathlib import PurePath
from urllib.parse import quote, urljoin, urlsplit

from urltree.html.tokenizer import tokenize
from urltree.reading.source import Source

# A name with dots whose last part has letters (RFC 3696, section 2), and optionally a port.
_HOST = re.compile(
    r"(?=[^:]{4,253}(:|$))([a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?\.)+([a-z]{2,63}|xn--[a-z0-9-]+)"
    r"([:+]\d{1,5})?",
    re.IGNORECASE,
)
_INDEX = re.compile(r"(^|/)index\.x?html?$", re.IGNORECASE)
_SAFE = "/?=&%:;,+@!$'()*~"  # characters of a path and a query that need no escape


def html_page(html: bytes, url: str | None) -> Source:
    """Return the page of one file; without a URL its canonical link is used."""
    return {"url": url or canonical_url(html), "html": html}


def mirror_url(folder: PurePath, file: PurePath) -> str | None:
    """Return the URL of a file in a mirror, None if the folder is no mirror.

    In a mirror, the folder or the folders in it are named after hosts.

    Args:
        folder: as given by the user.
        file: a file below it.
    """
    host, *path = file.relative_to(folder).parts
    if path and _HOST.fullmatch(host):
        return _url(f"https://{_port(host)}/", path)
    if _HOST.fullmatch(folder.name):
        return _url(f"https://{_port(folder.name)}/", [host, *path])
    return None


def url_below(base_url: str, folder: PurePath, file: PurePath) -> str:
    """Return the URL of a file whose folder corresponds to `base_url`."""
    return _url(base_url.rstrip("/") + "/", file.relative_to(folder).parts)


def canonical_url(html: bytes) -> str | None:
    """Return the canonical link of a page if it is an absolute URL, else None."""
    link = tokenize(html).canonical if b"canonical" in html else None
    return link if link and urlsplit(link).scheme in ("http", "https") else None


def _url(base: str, path: tuple[str, ...] | list[str]) -> str:
    name = "/".join(path)
    return urljoin(base, quote(_INDEX.sub(r"\1", name).encode(errors="surrogateescape"), _SAFE))


def _port(host: str) -> str:
    return host.replace("+", ":")  # wget writes `host+8080` if file names cannot contain `:`
