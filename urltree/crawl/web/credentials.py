"""Credentials by reference: a feed names a file, and the file contains the secret.

    credentials_dir/agency      user:password       Authorization: Basic dXNlcjpwYXNzd29yZA==
    credentials_dir/archive     Bearer TOKEN        Authorization: Bearer TOKEN

Records, logs and dumps contain only the name of the file. The file is read at each request, so that
a changed password takes effect at once. No message shows what the file contains.
"""

from __future__ import annotations

import os
import re
import stat
from base64 import b64encode
from pathlib import Path

from yarl import URL

from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.web.redirects import request_url

MAX_BYTES = 8_192  # size of a file; servers refuse longer headers

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_BEARER = re.compile(r"Bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)  # RFC 6750, 2.1
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_credentials_name(name: str) -> bool:
    """Return whether a text can be the name of a file of credentials."""
    return _NAME.fullmatch(name) is not None


def read_credentials(directory: Path | None, name: str) -> str:
    """Return the value of the header Authorization that the file of a name describes.

    The file has one line, `user:password` (RFC 7617) or `Bearer TOKEN` (RFC 6750). It may be a
    symbolic link to a file in the same directory or below it, as Kubernetes mounts a Secret.

    Args:
        directory: directory of the files (setting `credentials_dir`); None if it is not set.
        name: name of the file.

    Raises:
        WebError: CREDENTIALS: the file cannot be used.
    """
    if not is_credentials_name(name):
        raise _error(name[:100], "the name should consist of letters, digits, '.', '_' and '-'")
    if directory is None:
        raise _error(name, "the setting credentials_dir is not set")
    try:
        content = _read(directory, name)
    except FileNotFoundError:
        raise _error(name, "credentials_dir has no such file") from None
    except OSError as error:
        raise _error(name, f"the file cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise _error(name, f"the file has more than {MAX_BYTES} bytes")
    return _authorization(name, content)


def is_same_origin(url: URL, allowed: str) -> bool:
    """Return whether a request may send the credentials that belong to a URL.

    It may only over https, and to the same host and port.

    Args:
        url: URL of the request.
        allowed: URL or origin to which the credentials belong.
    """
    try:
        other = URL(request_url(allowed), encoded=True)
    except WebError:
        return False
    same = (url.scheme, url.raw_host, url.port) == (other.scheme, other.raw_host, other.port)
    return same and url.scheme == "https"


def _read(directory: Path, name: str) -> bytes:
    folder = directory.resolve(strict=True)
    path = (folder / name).resolve(strict=True)
    if not path.is_relative_to(folder):
        raise _error(name, "the file is a symbolic link that leads out of credentials_dir")
    # Without O_NONBLOCK, a named pipe would block; without O_NOFOLLOW, the link could change now.
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(opened, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise _error(name, "this is not a regular file")
        return file.read(MAX_BYTES + 1)


def _authorization(name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _error(name, "the file is not valid UTF-8") from None
    text = text.removesuffix("\n").removesuffix("\r")
    if _CONTROL.search(text):
        raise _error(name, "the file should have one line without control characters")
    if bearer := _BEARER.fullmatch(text.strip()):
        return f"Bearer {bearer[1]}"
    if ":" not in text or text.lower().startswith("bearer "):
        raise _error(name, "the line should be user:password or Bearer TOKEN")
    return f"Basic {b64encode(text.encode()).decode()}"


def _error(name: str, problem: str) -> WebError:
    return WebError(Trouble.CREDENTIALS, f"credentials {name!r}: {problem}")
