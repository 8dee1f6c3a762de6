"""The expected outcome of each page and feed of a server that misbehaves.

Each path of `tests.urltree.crawl.web.misbehaving` names a misbehaviour, and has its own host.
"""

from __future__ import annotations

LAST = 2  # number of attempts before the last one; the test sets `fetch_attempts` to LAST + 1

# Pages that become dead letters after the first attempt.
_FINAL = {
    "too-large": ("bomb", "large-headers", "large-header", "many-headers", "some-headers"),
    "empty": ("gzip-empty",),
    "not-html": ("feed", "moved"),
    "http-status": ("gone", "false-304", "redirect-nowhere", "redirect-utf-8", "moved-and-back"),
    "redirect": ("redirect-loop", "redirect-file", "redirect-empty", "redirect-odd"),
    "refused-address": ("redirect-private", "redirect-literal", "redirect-metadata"),
}
# Pages that may succeed later.
_AGAIN = {
    "truncated": ("truncated-length", "truncated-chunk", "truncated-chunks", "truncated-gzip"),
    "truncated ": ("half-headers", "reset-in-body"),
    "encoding": ("fake-gzip", "damaged-gzip", "brotli", "endless-members"),
    "protocol": ("bad-chunk", "two-lengths", "negative-length", "huge-length", "http-0.9"),
    "protocol ": ("garbage", "bad-status", "status-999", "switching", "null-in-header"),
    "protocol  ": ("endless-chunks", "endless-continue", "more-than-length", "continue-garbage"),
    "timeout": ("hang", "hang-after-headers", "drip-body", "drip-headers", "much-then-hang"),
    "connect": ("close", "reset"),
}
_STATUS = {"error": "status 500", "wait-seconds": "status 429", "wait-date": "status 429"}
_FORGIVEN = (
    *("page", "no-length", "gzip", "wrong-charset", "continue", "control-in-header"),
    *("repeated-headers", "redirect-relative", "redirect-schemeless"),
)
_TROUBLE = {path: trouble.strip() for trouble, paths in _AGAIN.items() for path in paths}
_CERTIFICATES = ("expired", "wrong-name", "self-signed")
_HOSTS = {
    **{f"https://{name}.example": "tls" for name in _CERTIFICATES},
    "https://garbage-tls.example": "tls",
    "https://silent-tls.example": "connect",
    "http://refused.example": "connect",
}

# Number of failed attempts and outcome of each page, by URL. The outcome of `endless` depends on
# the speed of the machine.
BAD_PAGES: dict[str, tuple[int, str]] = {
    **{f"http://{p}.example/{p}": (0, reason) for reason, ps in _FINAL.items() for p in ps},
    **{f"http://{p}.example/{p}": (0, f"again: {t}") for p, t in (_TROUBLE | _STATUS).items()},
    **{f"http://last-{p}.example/{p}": (LAST, "unreachable") for p in _TROUBLE | _STATUS},
    **{f"http://{p}.example/{p}": (0, "page") for p in _FORGIVEN},
    "http://endless.example/endless": (0, "too-large or again: timeout"),
}
BAD_HOSTS: dict[str, tuple[int, str]] = {
    **{f"{host}/page": (0, "again: robots.txt") for host in _HOSTS},
    **{f"https://{name}.last.example/page": (LAST, "unreachable") for name in _CERTIFICATES},
    "http://private.example/page": (0, "refused-address"),
    "https://trusted.example/page": (0, "page"),
}

_NO_FEED = (*set(_FORGIVEN) - {"wrong-charset"}, "gzip-empty")
_FEED_TROUBLE = {
    **_TROUBLE,
    **dict.fromkeys(_NO_FEED, "not-a-feed"),
    **dict.fromkeys(_FINAL["too-large"], "headers-too-large"),
    **dict.fromkeys((*_FINAL["http-status"], *_STATUS), "status"),
    **dict.fromkeys((*_FINAL["redirect"], "redirect-empty"), "redirect"),
    **dict.fromkeys(_FINAL["refused-address"], "refused-address"),
    **dict.fromkeys(("feed", "moved", "moved-and-back", "feed-wrong-charset"), "None"),
    "bomb": "not-a-feed",  # the first 10 MB are read
    "endless": "not-a-feed or timeout",
}
_POLLS = {"moved-and-back": 3}  # only the third response of this server is the feed

# Number of polls of each feed, and the trouble in its state after these polls, by URL.
BAD_FEEDS: dict[str, tuple[int, str]] = {
    **{
        f"http://{p}-feed.example/{p}": (_POLLS.get(p, 1), trouble)
        for p, trouble in _FEED_TROUBLE.items()
    },
    **{f"{host}/feed": (1, trouble) for host, trouble in _HOSTS.items()},
    "http://private.example/feed": (1, "refused-address"),
    "https://trusted.example/feed": (1, "None"),
}
