"""Conversion of every error of an HTTP request into a `WebError`."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.web.guard import Connecting

_TOO_MANY_HEADERS = "Too many headers"  # text of a BadHttpMessage; aiohttp has no class for it


def web_error(error: Exception, connecting: Connecting, *, is_https: bool = True) -> WebError:
    """Return the `WebError` for an error of aiohttp or of the layers below it.

    Args:
        error: error that was raised.
        connecting: attempts of the request to connect.
        is_https: whether the request has an https URL. Only then the certificate is the host's.
    """
    trouble = _trouble(error, connecting)
    is_of_proxy = connecting.is_proxied and not connecting.is_tunnelled
    if trouble is Trouble.TLS and (is_of_proxy or not is_https):
        trouble = Trouble.CONNECT
    return WebError(trouble, _message(error, connecting)[:500])


def _trouble(  # noqa: C901, PLR0911 - a table
    error: Exception, connecting: Connecting
) -> Trouble:
    if connecting.refused and not connecting.tried:
        return Trouble.REFUSED_ADDRESS
    if any(isinstance(cause, ssl.SSLError | ssl.CertificateError) for cause in _causes(error)):
        return Trouble.TLS
    match error:
        case aiohttp.ClientHttpProxyError():
            return Trouble.CONNECT
        case aiohttp.ClientConnectorDNSError() if connecting.is_proxied:
            return Trouble.CONNECT  # the name of the proxy
        case aiohttp.ClientConnectorDNSError():
            return Trouble.DNS
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return Trouble.CONNECT
        case TimeoutError():
            return Trouble.TIMEOUT
        case aiohttp.ClientPayloadError():
            return Trouble.TRUNCATED if _is_short(error) else Trouble.PROTOCOL
        case aiohttp.ServerDisconnectedError(message=message) if not isinstance(message, str):
            return Trouble.TRUNCATED  # the connection ended inside the headers
        case aiohttp.ClientConnectionError() | OSError():
            return Trouble.CONNECT
        case _ if _is_too_much(error):
            return Trouble.HEADERS_TOO_LARGE
    return Trouble.PROTOCOL


def _is_short(error: Exception) -> bool:
    """Return whether the body ended too early; otherwise the error means an invalid chunk."""
    return "not completed" in str(error)


def _is_too_much(error: Exception) -> bool:
    return any(
        isinstance(cause, LineTooLong) or _TOO_MANY_HEADERS in str(cause)
        for cause in _causes(error)
    )


def _message(error: Exception, connecting: Connecting) -> str:
    if connecting.refused and not connecting.tried:
        return f"not a public web address: {', '.join(connecting.refused)}"
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy did not connect: status {error.status}"
    return " ".join(f"{type(error).__name__}: {error}".split())


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
