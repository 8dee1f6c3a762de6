"""The embedded Kafka with TLS, and with logins by SCRAM, by password and by token.

The broker has four listeners: PLAINTEXT, SASL_SSL (SCRAM-SHA-512, PLAIN, OAUTHBEARER), SSL (which
requires a certificate of the client) and the controller's. Kafka's own validator checks tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from demo.kafka import Kafka, Security
from tests.token_server import AUDIENCE, TokenServer, serving

USERNAME, PASSWORD = "urltree", "a-good-password"
# host names of the broker: loopback, and the name that the chart's test values use
NAMES = ("127.0.0.1", "localhost", "kafka.kafka.svc")

_CONFIG = """
listener.name.sasl_ssl.sasl.enabled.mechanisms=SCRAM-SHA-512,PLAIN,OAUTHBEARER
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_{username}="{password}";
listener.name.sasl_ssl.oauthbearer.sasl.jaas.config=\
org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
listener.name.sasl_ssl.oauthbearer.sasl.server.callback.handler.class=\
org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler
# KIP-368: who logged in with a token is gone when it expires
listener.name.sasl_ssl.oauthbearer.connections.max.reauth.ms=3600000
# the default validator looks at no signature and no expiry here (tried with 4.1.1)
sasl.oauthbearer.jwt.validator.class=org.apache.kafka.common.security.oauthbearer.BrokerJwtValidator
sasl.oauthbearer.jwks.endpoint.url={jwks}
sasl.oauthbearer.expected.audience={audience}
sasl.oauthbearer.clock.skew.seconds=0
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={ca}
listener.name.ssl.ssl.client.auth=required
"""


@dataclass(frozen=True)
class SecureKafka:
    """A running broker, with the addresses and files that a client needs to reach it.

    Attributes:
        plain: `host:port` of the listener PLAINTEXT, without any security.
        brokers: `host:port` of the listener SASL_SSL.
        tls_brokers: `host:port` of the listener SSL, for clients with a certificate.
        ca_file: certificate of the authority that has signed all certificates here.
        other_ca_file: certificate of another authority, which has signed no certificate here.
        cert_file, key_file: certificate and private key of a client.
        username, password_file: login of a user, by SCRAM-SHA-512 or PLAIN.
        tokens: the identity provider, which issues tokens.
        secret_file: file with the client secret of `tokens`.
    """

    plain: str
    brokers: str
    tls_brokers: str
    ca_file: Path
    other_ca_file: Path
    cert_file: Path
    key_file: Path
    username: str
    password_file: Path
    tokens: TokenServer
    secret_file: Path

    def scram(self) -> dict[str, str]:
        """Return the settings of a worker that logs in by name and password."""
        return {
            "brokers": self.brokers,
            "security": "SASL_SSL",
            "ssl_ca_file": str(self.ca_file),
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_username": self.username,
            "sasl_password_file": str(self.password_file),
        }

    def oauth(self) -> dict[str, str]:
        """Return the settings of a worker that logs in by token."""
        return {
            "brokers": self.brokers,
            "security": "SASL_SSL",
            "ssl_ca_file": str(self.ca_file),
            "sasl_mechanism": "OAUTHBEARER",
            "oauth_token_url": self.tokens.url,
            "oauth_client_id": self.tokens.client_id,
            "oauth_client_secret_file": str(self.secret_file),
            "oauth_ca_file": str(self.ca_file),
        }

    def certificate(self) -> dict[str, str]:
        """Return the settings of a worker that logs in by a client certificate."""
        return {
            "brokers": self.tls_brokers,
            "security": "SSL",
            "ssl_ca_file": str(self.ca_file),
            "ssl_cert_file": str(self.cert_file),
            "ssl_key_file": str(self.key_file),
        }


@contextmanager
def running_securely(directory: Path) -> Iterator[SecureKafka]:
    """Run the broker and the identity provider, with their files in `directory`."""
    files = _files(directory)
    tokens = TokenServer()
    jwks = _write(directory / "jwks.json", tokens.jwks())
    secret_file = _write(directory / "secret", tokens.client_secret)
    config = _CONFIG.format(
        username=USERNAME,
        password=PASSWORD,
        audience=AUDIENCE,
        jwks=jwks.as_uri(),
        keystore=files["keystore"],
        ca=files["ca"],
    )
    # Kafka reads key sets only from the URLs that this property lists (CVE-2025-27817)
    options = (f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={jwks.as_uri()}",)
    security = Security(("SASL_SSL", "SSL"), config, {USERNAME: PASSWORD}, options)
    with Kafka(directory / "kafka", security=security) as kafka, serving(tokens, files["keystore"]):
        yield SecureKafka(
            plain=kafka.brokers,
            brokers=f"127.0.0.1:{kafka.ports['SASL_SSL']}",
            tls_brokers=f"127.0.0.1:{kafka.ports['SSL']}",
            ca_file=files["ca"],
            other_ca_file=files["other"],
            cert_file=files["cert"],
            key_file=files["key"],
            username=USERNAME,
            password_file=_write(directory / "password", PASSWORD),
            tokens=tokens,
            secret_file=secret_file,
        )


def _files(directory: Path) -> dict[str, Path]:
    """Write keys and certificates; return their paths by name. `ca` signs all except `other`."""
    ca = trustme.CA()
    server, client = ca.issue_cert(*NAMES), ca.issue_cert("urltree")
    files = {name: directory / f"{name}.pem" for name in ("ca", "other", "keystore", "cert", "key")}
    ca.cert_pem.write_to_path(files["ca"])
    trustme.CA().cert_pem.write_to_path(files["other"])
    key = load_pem_private_key(server.private_key_pem.bytes(), None)
    # PKCS #8 is the only format of a private key that Kafka reads
    pkcs8 = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain = b"".join(certificate.bytes() for certificate in server.cert_chain_pems)
    files["keystore"].write_bytes(pkcs8 + chain)
    client.cert_chain_pems[0].write_to_path(files["cert"])
    client.private_key_pem.write_to_path(files["key"])
    return files


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
