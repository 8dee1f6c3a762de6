"""Tokens for the OAUTHBEARER login (RFC 7628, KIP-255), by the client-credentials grant.

    worker ──client id, secret──▶ token endpoint        RFC 6749, section 4.4
    worker ◀──token, lifetime──── token endpoint
    worker ──token──▶ each new connection to a broker   until 80 % of the lifetime are over

aiokafka requests a token for each new connection. If it gets none, it logs the reason and retries.
"""

from __future__ import annotations

import re
import ssl
from base64 import b64encode
from http import HTTPStatus
from time import monotonic
from typing import NamedTuple
from urllib.parse import quote_plus

import aiohttp
import orjson
from aiokafka import conn
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaConnectionError, SaslAuthenticationFailed

from agents.settings.kafka import KafkaSettings
from agents.telemetry.logs import log

SECONDS = 10.0  # timeout of a request to the token endpoint
FRESH = 0.8  # share of the lifetime after which a token is renewed, as Kafka's clients do (KIP-368)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1
_REFUSED = (400, 401, 403)  # RFC 6749, section 5.2


class TokenError(KafkaConnectionError):
    """No token can be obtained now; the message gives the reason and never the secret."""

    __str__ = Exception.__str__


class TokenRefusedError(TokenError):
    """No token can be obtained because a setting is wrong; a retry would not help."""


class Token(NamedTuple):
    """Access token with the times that limit its use.

    Attributes:
        text: The token itself, as it is sent to brokers.
        fresh_until: Monotonic time in seconds until which it is used without a renewal.
        good_until: Monotonic time in seconds at which it expires; until then it is used if the
            renewal fails.
    """

    text: str
    fresh_until: float
    good_until: float


class Authenticator(conn.OAuthAuthenticator):
    """Authenticator that reports a refused token; replaces aiokafka's.

    A broker answers an invalid token with a description of the problem, not with an error
    (RFC 7628, section 3.2.3). aiokafka takes that answer for success, and the connection is closed
    later.
    """

    async def step(self, payload: bytes | None) -> tuple[bytes, bool] | None:
        """Return the next message to the broker after its answer, or None at the end.

        Raises:
            SaslAuthenticationFailed: The broker refused the token; contains its description.
        """
        if payload:
            raise SaslAuthenticationFailed(payload[:200].decode(errors="replace"))
        message: tuple[bytes, bool] | None = await super().step(payload)
        return message


class Tokens(AbstractTokenProvider):
    """Provider of tokens for aiokafka, which caches a token while the token is fresh.

    aiokafka calls the provider from two event loops, because Faust's consumer has its own thread.
    Therefore no attribute belongs to a loop. In the worst case both loops request a token at once.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        conn.OAuthAuthenticator = Authenticator
        self._settings = settings
        self._tls = ssl.create_default_context(cafile=settings.oauth_ca_file)
        self._token = Token("", 0.0, 0.0)

    async def token(self) -> str:
        """Return a valid token.

        Raises:
            TokenError: No token can be obtained.
        """
        kept = self._token
        if monotonic() < kept.fresh_until:
            return kept.text
        try:
            self._token = await self._ask()
        except TokenError as error:
            if monotonic() >= kept.good_until:
                raise
            log.warning("token renewal failed, using the last token", error=str(error))
        return self._token.text

    async def _ask(self) -> Token:
        settings, asked_at = self._settings, monotonic()
        url = str(settings.oauth_token_url)
        form = {"grant_type": "client_credentials"}
        if settings.oauth_scope is not None:
            form["scope"] = settings.oauth_scope
        headers = {"Authorization": _login(settings), "Accept": "application/json"}
        limit = aiohttp.ClientTimeout(total=SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=limit, headers=headers) as session,
                session.post(url, data=form, ssl=self._tls, allow_redirects=False) as response,
            ):
                status, body = response.status, await response.read()
        except TimeoutError:
            raise TokenError(
                f"cannot get a token from {url}: no answer within {SECONDS:.0f} s"
            ) from None
        except aiohttp.ClientConnectorCertificateError as error:
            said = getattr(error.certificate_error, "verify_message", "")
            raise TokenRefusedError(
                f"cannot get a token from {url}: its certificate is not trusted ({said}); "
                "check oauth_ca_file"
            ) from None
        except aiohttp.ClientConnectorError as error:
            raise TokenError(f"cannot get a token from {url}: {error.os_error}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise TokenError(f"cannot get a token from {url}: {error}") from None
        return _token(url, status, body, asked_at)


def _login(settings: KafkaSettings) -> str:
    """Return the HTTP Basic header value; both parts are form-encoded (RFC 6749, section 2.3.1)."""
    parts = (settings.oauth_client_id or "", settings.client_secret or "")
    return "Basic " + b64encode(":".join(map(quote_plus, parts)).encode()).decode()


def _token(url: str, status: int, body: bytes, asked_at: float) -> Token:
    """Parse the answer of the token endpoint (RFC 6749, section 5).

    A token without `expires_in` is not cached.

    Raises:
        TokenError: The answer contains no token.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        answer = {}
    said = " ".join(str(answer.get(name, "")) for name in ("error", "error_description"))
    problem = f"cannot get a token from {url}: status {status} {said[:200]}".rstrip()
    if status in _REFUSED:
        check = "check oauth_client_id, oauth_client_secret and oauth_scope"
        raise TokenRefusedError(f"{problem}; {check}")
    if status != HTTPStatus.OK:
        raise TokenError(problem)
    text, lifetime = answer.get("access_token"), answer.get("expires_in", 0)
    if not isinstance(text, str) or not _TOKEN.fullmatch(text):
        raise TokenError(f"cannot get a token from {url}: its answer has no valid access_token")
    seconds = float(lifetime) if isinstance(lifetime, int | float) else 0.0
    return Token(text, asked_at + FRESH * seconds, asked_at + seconds)
