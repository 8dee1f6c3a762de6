"""Valid and invalid certificates for any name; the client's TLS server name (SNI) selects one."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme


class Certificates:
    """TLS certificates of the test server; each is made when a client first requests its name."""

    def __init__(self, folder: Path) -> None:
        self._authority, self._other = trustme.CA(), trustme.CA()
        self._contexts: dict[str, ssl.SSLContext] = {}
        self.ca_file = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(self.ca_file)

    def context(self, name: str = "any.example") -> ssl.SSLContext:
        """Return a TLS server context; it sends a certificate for the name the client requests."""
        if name not in self._contexts:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._certificate(name).configure_cert(context)
            context.sni_callback = self._choose
            self._contexts[name] = context
        return self._contexts[name]

    def _choose(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        connection.context = self.context(name or "any.example")

    def _certificate(self, name: str) -> trustme.LeafCert:
        match name.split(".", maxsplit=1)[0]:
            case "self-signed":
                return self._other.issue_cert(name)
            case "wrong-name":
                return self._authority.issue_cert("another.example")
            case "expired":
                return self._authority.issue_cert(
                    name, not_after=datetime.now(UTC) - timedelta(days=1)
                )
        return self._authority.issue_cert(name)
