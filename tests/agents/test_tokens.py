"""OAUTHBEARER tokens are requested and cached while they are fresh; errors contain no secret."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import trustme

from agents.kafka.tokens import TokenError, TokenRefusedError, Tokens
from agents.settings.job import Settings
from tests.token_server import TokenServer, serving


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a folder with a certificate authority (`ca.pem`) and a certificate (`server.pem`)."""
    folder, ca = tmp_path_factory.mktemp("certificates"), trustme.CA()
    ca.cert_pem.write_to_path(folder / "ca.pem")
    ca.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "server.pem")
    return folder


@pytest.fixture
def server(certificates: Path) -> Iterator[TokenServer]:
    """Run an identity provider over https."""
    with serving(TokenServer(), certificates / "server.pem") as running:
        yield running


@pytest.fixture
def settings(server: TokenServer, certificates: Path) -> dict[str, Any]:
    """Return settings with which a client gets tokens from the identity provider."""
    return {
        "oauth_token_url": server.url,
        "oauth_client_id": server.client_id,
        "oauth_client_secret": server.client_secret,
        "oauth_ca_file": certificates / "ca.pem",
    }


def tokens(settings: dict[str, Any], **changes: Any) -> Tokens:
    """Return a source of tokens with these settings."""
    return Tokens(Settings.model_validate(settings | changes))


def token(source: Tokens) -> str:
    """Return a token; each call has its own event loop, because Faust uses two."""
    return asyncio.run(source.token())


def test_a_token_is_kept_while_it_is_fresh(server: TokenServer, settings: dict[str, Any]) -> None:
    """A fresh token is used again, so two connections cause only one request for a token."""
    source = tokens(settings, oauth_scope="kafka produce")
    assert token(source) == token(source)
    assert server.asked == [{"grant_type": "client_credentials", "scope": "kafka produce"}]


def test_a_token_that_has_expired_is_asked_for_anew(
    server: TokenServer, settings: dict[str, Any]
) -> None:
    """After a token has expired, the next connection requests a new one."""
    source = tokens(settings)
    first = token(source)
    source._token = source._token._replace(fresh_until=monotonic(), good_until=monotonic())
    assert token(source) != first
    assert server.given == 2


def test_a_token_that_is_good_still_is_used_where_no_new_one_is_to_be_had(
    server: TokenServer, settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """If a request for a new token fails, the last token is used until it expires."""
    source = tokens(settings)
    first = token(source)
    source._token = source._token._replace(fresh_until=0.0)
    server.status = 503
    with caplog.at_level(logging.WARNING):
        assert token(source) == first
    source._token = source._token._replace(good_until=0.0)
    with pytest.raises(TokenError, match="status 503 temporarily_unavailable"):
        token(source)
    server.status = None
    assert token(source) != first


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"oauth_client_secret": "wrong"},
            "401 invalid_client no such client; check oauth_client_id",
        ),
        ({"oauth_client_id": "nobody"}, "401 invalid_client no such client; check oauth_client_id"),
        ({"oauth_ca_file": None}, "its certificate is not trusted .*; check oauth_ca_file"),
    ],
)
def test_a_wrong_setting_is_a_sentence_that_names_it(
    settings: dict[str, Any], change: dict[str, Any], sentence: str
) -> None:
    """A wrong setting raises TokenRefusedError, which names the setting and contains no secret."""
    with pytest.raises(TokenRefusedError, match=sentence) as caught:
        token(tokens(settings, **change))
    assert "wrong" not in str(caught.value)
    assert settings["oauth_client_secret"] not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((500, {}), "status 500"),
        ((200, {}), "has no valid access_token"),
        ((200, {"access_token": "two\x01words"}), "has no valid access_token"),
        ((302, {"access_token": "of another"}), "status 302"),
    ],
)
def test_an_answer_without_a_token_is_a_reason_to_try_again(
    server: TokenServer,
    settings: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    answer: tuple[int, dict[str, Any]],
    sentence: str,
) -> None:
    """An answer without a token, or a redirect, raises a TokenError after which a worker retries.

    Redirects are not followed, because the secret is only for the configured URL.
    """
    monkeypatch.setattr(server, "answer", lambda *_: answer)
    with pytest.raises(TokenError, match=sentence) as caught:
        token(tokens(settings))
    assert not isinstance(caught.value, TokenRefusedError)


def test_an_endpoint_that_is_not_there_is_a_reason_to_try_again(settings: dict[str, Any]) -> None:
    """An unreachable token endpoint raises a TokenError, after which a worker retries."""
    with pytest.raises(TokenError, match="Connect call failed"):
        token(tokens(settings | {"oauth_token_url": "https://127.0.0.1:1/token"}))


def test_a_token_of_unknown_life_is_not_kept(
    server: TokenServer, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token without `expires_in`, which RFC 6749 only recommends, is not cached."""
    given = iter("ab")
    monkeypatch.setattr(server, "answer", lambda *_: (200, {"access_token": next(given)}))
    source = tokens(settings)
    assert [token(source), token(source)] == ["a", "b"]


def test_a_secret_that_has_changed_is_used_for_the_next_token(
    server: TokenServer, settings: dict[str, Any], tmp_path: Path
) -> None:
    """The file of the secret is read for each token, so a rotated secret needs no restart."""
    file = tmp_path / "secret"
    file.write_text("former")
    source = tokens(settings, oauth_client_secret_file=file)
    with pytest.raises(TokenRefusedError):
        token(source)
    file.write_text(server.client_secret)
    assert token(source)
