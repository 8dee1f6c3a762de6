"""An identity provider on loopback, which issues signed tokens for a client id and a secret."""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256

AUDIENCE = "kafka"


class TokenServer:
    """A token endpoint with the client-credentials grant (RFC 6749, section 4.4).

    Its tokens are JSON Web Tokens (RFC 7519).

    Attributes:
        url: https URL of the token endpoint.
        client_id, client_secret: login of the only client that the server accepts.
        key: private key that signs tokens.
        lifetime: lifetime of a token in seconds; tokens with a negative lifetime have expired.
        audience: claim `aud` of a token.
        given: number of tokens that the server has issued.
        asked: form parameters of each request so far.
        status: HTTP status of the error that the server returns instead of a token, or None.
    """

    client_id = "urltree at work"
    client_secret = "a secret: 50 % & more"  # noqa: S105 - only for tests

    def __init__(self) -> None:
        self.key = generate_private_key(public_exponent=65_537, key_size=2048)
        self.url = ""
        self.lifetime = 3600
        self.audience = AUDIENCE
        self.given = 0
        self.asked: list[dict[str, str]] = []
        self.status: int | None = None

    def jwks(self) -> str:
        """Return the public key as a JSON Web Key Set (RFC 7517), which the broker reads."""
        numbers = self.key.public_key().public_numbers()
        key = {"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256"}
        return json.dumps({"keys": [key | {"n": _number(numbers.n), "e": _number(numbers.e)}]})

    def answer(self, authorization: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Return the HTTP status and the JSON of the answer to a request for a token."""
        self.asked.append(form)
        if self.status is not None:
            return self.status, {"error": "temporarily_unavailable"}
        if authorization != f"Basic {_base64(self._login().encode())}":
            return 401, {"error": "invalid_client", "error_description": "no such client"}
        if form.get("grant_type") != "client_credentials":
            return 400, {"error": "unsupported_grant_type"}
        self.given += 1
        return 200, {
            "access_token": self._token(),
            "token_type": "Bearer",
            "expires_in": max(1, self.lifetime),
        }

    def _login(self) -> str:
        # id and secret are each encoded as a form value, RFC 6749, section 2.3.1
        return "urltree+at+work:a+secret%3A+50+%25+%26+more"

    def _token(self) -> str:
        now = int(time.time())
        head = {"alg": "RS256", "kid": "1"}
        # whole seconds, rounded up, so that a token is valid for at least `expires_in` seconds
        end = now + 1 + self.lifetime
        claims = {"sub": "urltree", "aud": self.audience, "iat": now, "exp": end}
        claims |= {"jti": str(self.given)}
        signed = ".".join(_url_safe(json.dumps(part).encode()) for part in (head, claims))
        return f"{signed}.{_url_safe(self.key.sign(signed.encode(), PKCS1v15(), SHA256()))}"


@contextmanager
def serving(tokens: TokenServer, certificate: Path) -> Iterator[TokenServer]:
    """Serve tokens over TLS on a free port, in a separate thread.

    Args:
        tokens: the server that answers requests.
        certificate: PEM file with key and certificate for 127.0.0.1.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            form = dict(parse_qsl(body.decode()))
            status, answer = tokens.answer(self.headers.get("Authorization", ""), form)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Write no log, because `TokenServer.asked` records the requests."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        tokens.url = f"https://127.0.0.1:{server.server_port}/token"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield tokens
        finally:
            server.shutdown()
            thread.join()


def _number(value: int) -> str:
    return _url_safe(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def _url_safe(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()
