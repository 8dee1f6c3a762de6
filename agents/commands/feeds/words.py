"""Failures of requests in words, for people who read the output of a command."""

from __future__ import annotations

from urltree.crawl.decisions.response import Trouble

_WORDS = {
    Trouble.DNS: "the name of the host does not resolve",
    Trouble.CONNECT: "the connection to the server failed",
    Trouble.TLS: "the server's certificate or encryption is not valid",
    Trouble.TIMEOUT: "the server took too long to answer",
    Trouble.PROTOCOL: "the answer is not valid HTTP",
    Trouble.TRUNCATED: "the answer ended too early",
    Trouble.ENCODING: "the answer could not be decompressed",
    Trouble.TOO_LARGE: "the answer is larger than the limit",
    Trouble.HEADERS_TOO_LARGE: "the headers of the answer are larger than the limit",
    Trouble.REFUSED_ADDRESS: "the address is private, or its port belongs to another protocol",
    Trouble.REDIRECT: "the server's redirects could not be followed",
    Trouble.STATUS: "the server answered with an error",
    Trouble.NOT_A_FEED: "there is no feed at the address",
    Trouble.TOO_SLOW: "the answer took too long to read",
    Trouble.CREDENTIALS: "the file with the credentials is missing or not valid",
}


def in_words(trouble: str | None, message: str | None = None) -> str:
    """Return what went wrong as words, followed by the message of the failure.

    Args:
        trouble: value of a `Trouble`. A value that a later release has stored is returned as it is.
        message: explanation that was stored with it.
    """
    known = next((words for one, words in _WORDS.items() if one == trouble), trouble or "")
    detail = " ".join((message or "").split())
    return ": ".join(part for part in (known, detail) if part)
