"""Tokens to log in with: OAUTHBEARER (RFC 7628, KIP-255) by the client-credentials grant.

    worker ──client id, secret──▶ token endpoint        RFC 6749, section 4.4
    worker ◀──token, lifetime──── token endpoint
    worker ──token──▶ each new connection to a broker   until 80 % of the lifetime are over

aiokafka asks for a token whenever it connects; where none is to be had it logs why and tries again.
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

SECONDS = 10.0  # that a token endpoint has for its answer
FRESH = 0.8  # of a token's lifetime; Kafka's own clients ask anew then, too (KIP-368)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1
_REFUSED = (400, 401, 403)  # RFC 6749, section 5.2


class TokenError(KafkaConnectionError):
    """No token is to be had now; the message says why, and never holds the secret."""

    __str__ = Exception.__str__


class TokenRefusedError(TokenError):
    """A setting is wrong, the message says which: trying again changes nothing."""


class Token(NamedTuple):
    """A token as it was given.

    Attributes:
        text: what a broker is shown.
        fresh_until, good_until: monotonic seconds; until the one it is used without a thought,
            until the other where no new one is to be had.
    """

    text: str
    fresh_until: float
    good_until: float


class Authenticator(conn.OAuthAuthenticator):
    """Hears a broker say no, in the place of aiokafka's.

    A broker answers a bad token with what is wrong, not with an error (RFC 7628, section 3.2.3);
    aiokafka takes that for a yes, and then the connection only closes.
    """

    async def step(self, payload: bytes | None) -> tuple[bytes, bool] | None:
        """What to send next, after an answer of the broker; None when all is said.

        Raises:
            SaslAuthenticationFailed: with the broker's words.
        """
        if payload:
            raise SaslAuthenticationFailed(payload[:200].decode(errors="replace"))
        message: tuple[bytes, bool] | None = await super().step(payload)
        return message


class Tokens(AbstractTokenProvider):
    """Gives aiokafka a token for each connection, and keeps it while it is fresh.

    Called from two event loops, for Faust's consumer has a thread of its own: so nothing here is
    bound to a loop, and at worst both ask at once.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        conn.OAuthAuthenticator = Authenticator
        self._settings = settings
        self._tls = ssl.create_default_context(cafile=settings.oauth_ca_file)
        self._token = Token("", 0.0, 0.0)

    async def token(self) -> str:
        """A token that brokers take now.

        Raises:
            TokenError: there is none.
        """
        kept = self._token
        if monotonic() < kept.fresh_until:
            return kept.text
        try:
            self._token = await self._ask()
        except TokenError as error:
            if monotonic() >= kept.good_until:
                raise
            log.warning("no new token, the last one is good still", error=str(error))
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
            raise TokenError(f"no token from {url}: no answer in {SECONDS:.0f} s") from None
        except aiohttp.ClientConnectorCertificateError as error:
            said = getattr(error.certificate_error, "verify_message", "")
            raise TokenRefusedError(
                f"no token from {url}: its certificate is not trusted, {said}: see oauth_ca_file"
            ) from None
        except aiohttp.ClientConnectorError as error:
            raise TokenError(f"no token from {url}: {error.os_error}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise TokenError(f"no token from {url}: {error}") from None
        return _token(url, status, body, asked_at)


def _login(settings: KafkaSettings) -> str:
    """HTTP Basic, each part encoded as a form's value first: RFC 6749, section 2.3.1."""
    parts = (settings.oauth_client_id or "", settings.client_secret or "")
    return "Basic " + b64encode(":".join(map(quote_plus, parts)).encode()).decode()


def _token(url: str, status: int, body: bytes, asked_at: float) -> Token:
    """The token of an answer (RFC 6749, section 5); without `expires_in` it is not kept.

    Raises:
        TokenError: the answer has none.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        answer = {}
    said = " ".join(str(answer.get(name, "")) for name in ("error", "error_description"))
    problem = f"no token from {url}: status {status} {said[:200]}".rstrip()
    if status in _REFUSED:
        see = "see oauth_client_id, oauth_client_secret and oauth_scope"
        raise TokenRefusedError(f"{problem}: {see}")
    if status != HTTPStatus.OK:
        raise TokenError(problem)
    text, lifetime = answer.get("access_token"), answer.get("expires_in", 0)
    if not isinstance(text, str) or not _TOKEN.fullmatch(text):
        raise TokenError(f"no token from {url}: its answer has no access_token")
    seconds = float(lifetime) if isinstance(lifetime, int | float) else 0.0
    return Token(text, asked_at + FRESH * seconds, asked_at + seconds)
