from __future__ import annotations

import os
from base64 import b64decode
from pathlib import Path

import pytest
from yarl import URL

from tests.urltree.crawl.web.conftest import Ask
from tests.urltree.crawl.web.misbehaving import Misbehaving
from urltree.crawl.decisions.response import Trouble, WebError
from urltree.crawl.web.credentials import is_credentials_name, is_same_origin, read_credentials


def refused(folder: Path | None, name: str) -> str:
    """Return the message of the error for a name."""
    with pytest.raises(WebError) as raised:
        read_credentials(folder, name)
    assert raised.value.trouble is Trouble.CREDENTIALS
    assert not raised.value.trouble.is_transient
    assert "secret" not in raised.value.message
    return raised.value.message


@pytest.mark.parametrize(
    ("content", "header"),
    [
        (b"user:secret", b"user:secret"),
        (b"user:se:cr et\n", b"user:se:cr et"),
        (b"\xef\xbb\xbfuser: secret \r\n", b"user: secret "),
        (b":secret", b":secret"),
        ("übung:geheim".encode(), "übung:geheim".encode()),
    ],
)
def test_a_user_and_a_password_are_basic(tmp_path: Path, content: bytes, header: bytes) -> None:
    """A line with a colon is a user name and a password in UTF-8 (RFC 7617)."""
    (tmp_path / "agency").write_bytes(content)
    scheme, _, value = read_credentials(tmp_path, "agency").partition(" ")
    assert (scheme, b64decode(value)) == ("Basic", header)


@pytest.mark.parametrize("content", ["Bearer abc.DEF-1~+/==", "bearer   abc.DEF-1~+/==\n"])
def test_a_token_is_a_bearer(tmp_path: Path, content: str) -> None:
    """A line that begins with Bearer is a token (RFC 6750)."""
    (tmp_path / "agency").write_text(content)
    assert read_credentials(tmp_path, "agency") == "Bearer abc.DEF-1~+/=="


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\n", b"secret", b"Bearer", b"Bearer secret secret", b"Bearer secret:x"),
        *(b"user:secret\nuser:secret", b"user:sec\0ret", b"user:secret\xff", b"a:" + b"s" * 8_192),
    ],
)
def test_other_files_are_refused_without_showing_them(tmp_path: Path, content: bytes) -> None:
    """A file that is empty, too large, or has another form is an error that names only the file."""
    (tmp_path / "agency").write_bytes(content)
    message = refused(tmp_path, "agency")
    assert message.startswith("credentials 'agency': ")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".hidden", "../agency", "a/b", "/etc/passwd", "a\0", "a\n", "é", "a" * 101],
)
def test_a_name_is_one_component_of_a_path(tmp_path: Path, name: str) -> None:
    """No name leads out of the directory."""
    (tmp_path / "agency").write_text("user:secret")
    (tmp_path / "inside").mkdir()
    assert not is_credentials_name(name)
    assert "the name should consist of" in refused(tmp_path / "inside", name)


def test_a_secret_of_kubernetes_is_read(tmp_path: Path) -> None:
    """Kubernetes mounts a Secret as a link to a file below a link to a directory."""
    (tmp_path / "..2026_01").mkdir()
    (tmp_path / "..2026_01" / "agency").write_text("user:secret")
    (tmp_path / "..data").symlink_to("..2026_01")
    (tmp_path / "agency").symlink_to("..data/agency")
    assert read_credentials(tmp_path, "agency").startswith("Basic ")
    mounted = tmp_path / "mounted"
    mounted.symlink_to(".")
    assert read_credentials(mounted, "agency").startswith("Basic ")


def test_a_link_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    """A link to a file elsewhere is an error, absolute or relative."""
    (tmp_path / "other").write_text("user:secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, target in [("one", "../other"), ("two", tmp_path / "other")]:
        (folder / name).symlink_to(target)
        assert "leads out of credentials_dir" in refused(folder, name)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A missing file, a directory, a named pipe, and a missing setting are errors."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert "has no such file" in refused(tmp_path, "missing")
    assert "has no such file" in refused(tmp_path / "missing", "agency")
    assert "not a regular file" in refused(tmp_path, "pipe")
    assert "credentials 'folder'" in refused(tmp_path, "folder")
    assert "credentials_dir is not set" in refused(None, "agency")


@pytest.mark.parametrize(
    ("url", "allowed", "same"),
    [
        ("https://a.example/x", "https://a.example/feed", True),
        ("https://a.example:443/x", "https://A.example", True),
        ("https://a.example:8443/x", "https://a.example:8443/", True),
        ("http://a.example/x", "http://a.example/feed", False),
        ("http://a.example:443/x", "https://a.example/feed", False),
        ("https://a.example:8443/x", "https://a.example/feed", False),
        ("https://b.a.example/x", "https://a.example/feed", False),
        ("https://a.example./x", "https://a.example/feed", False),
        ("https://a.example/x", "", False),
    ],
)
def test_credentials_belong_to_one_origin(url: str, allowed: str, *, same: bool) -> None:
    """Credentials are sent only over https, and only to the scheme, host and port of their feed."""
    assert is_same_origin(URL(url), allowed) is same


def test_a_request_sends_its_credentials_to_its_origin_alone(
    ask: Ask, server: Misbehaving, tmp_path: Path
) -> None:
    """Credentials are read at each request, and are not sent over http or to another host."""
    (tmp_path / "agency").write_text("Bearer one")
    before = len(server.requests)

    def get(url: str, origin: str = "https://a.example") -> None:
        options = {"credentials": "agency", "credentials_for": origin}
        ask(url, change={"credentials_dir": tmp_path}, **options)

    get("https://a.example/page")
    (tmp_path / "agency").write_text("Bearer two")
    get("https://a.example/page")
    for url in ("http://a.example/page", "https://b.example/page"):
        get(url)
    get("http://a.example/page", "http://a.example")
    sent = [request.headers.get("authorization") for request in server.requests[before:]]
    assert sent == ["Bearer one", "Bearer two", None, None, None]


def test_without_its_file_there_is_no_request(
    ask: Ask, server: Misbehaving, tmp_path: Path
) -> None:
    """A missing file is the error `credentials`; the host is not asked without it."""
    before = len(server.requests)
    with pytest.raises(WebError) as raised:
        ask(
            "https://a.example/page",
            change={"credentials_dir": tmp_path},
            credentials="agency",
            credentials_for="https://a.example",
        )
    assert raised.value.trouble is Trouble.CREDENTIALS
    assert len(server.requests) == before
