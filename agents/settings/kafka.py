"""The settings of the connection to Kafka: brokers, TLS and login."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from agents.settings.feeds import split_list


class KafkaSettings(BaseModel):
    """The part of `agents.settings.job.Settings` that a connection to Kafka needs."""

    brokers: Annotated[tuple[str, ...], NoDecode] = Field(
        ("127.0.0.1:9092",),
        description="Kafka brokers as host:port, separated by commas. If URLTREE_BROKERS is not "
        "set, the environment variable KAFKA_BROKERS is used.",
    )
    security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="Security protocol of the brokers' listener, as Kafka names it."
    )
    ssl_ca_file: Path | None = Field(
        None,
        description="PEM file with the certificate authorities that are trusted for brokers. By "
        "default those of the system are trusted.",
    )
    ssl_cert_file: Path | None = Field(
        None, description="PEM file of the client certificate, for brokers that require one."
    )
    ssl_key_file: Path | None = Field(
        None, description="PEM file of the private key of ssl_cert_file. It must have no password."
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        "SCRAM-SHA-512",
        description="SASL mechanism of the login; used if security is SASL_PLAINTEXT or SASL_SSL.",
    )
    sasl_username: str | None = Field(None, description="User name of the SASL login.")
    sasl_password: SecretStr | None = Field(
        None, description="Password of the SASL login. It is never logged."
    )
    sasl_password_file: Path | None = Field(
        None, description="File that contains the password, used instead of sasl_password."
    )
    oauth_token_url: str | None = Field(
        None,
        description="OAUTHBEARER: URL of the token endpoint (client-credentials grant). It must be "
        "https; http is allowed on loopback only.",
    )
    oauth_client_id: str | None = Field(
        None, description="OAUTHBEARER: client id at the token endpoint."
    )
    oauth_client_secret: SecretStr | None = Field(
        None, description="OAUTHBEARER: client secret at the token endpoint. It is never logged."
    )
    oauth_client_secret_file: Path | None = Field(
        None,
        description="OAUTHBEARER: file that contains the client secret, used instead of "
        "oauth_client_secret. It is read again for each token.",
    )
    oauth_scope: str | None = Field(None, description="OAUTHBEARER: scope of the requested tokens.")
    oauth_ca_file: Path | None = Field(
        None,
        description="OAUTHBEARER: PEM file with the certificate authorities that are trusted for "
        "the token endpoint. By default those of the system are trusted.",
    )

    @field_validator("brokers")
    @classmethod
    def _has_no_login(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        # A password may contain commas and "@", so no part of such a value is shown.
        if any("@" in broker for broker in value):
            raise ValueError(
                "a broker is named with a login (the value is not shown): name brokers as "
                "host:port, and set the login in sasl_username and sasl_password_file"
            )
        if schemes := [broker for broker in value if "://" in broker]:
            raise ValueError(f"{schemes[0]} should be host:port, without a scheme; set security")
        return value

    @field_validator("brokers", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = split_list(value)
        if not value:
            raise ValueError("no broker is named; name at least one as host:port")
        return value

    @field_validator("oauth_token_url")
    @classmethod
    def _is_private(cls, value: str | None) -> str | None:
        """Require TLS for a request that carries a secret (RFC 6749, section 3.2)."""
        url = urlsplit(value or "https://none")
        host = url.hostname or ""
        if not host or not (url.scheme == "https" or (url.scheme == "http" and _is_loopback(host))):
            raise ValueError("the URL should begin with https://, or with http:// on loopback")
        return value

    @model_validator(mode="after")
    def _check_login(self) -> Self:
        if not self.security.startswith("SASL"):
            return self
        if self.sasl_mechanism == "OAUTHBEARER":
            if None in (self.oauth_token_url, self.oauth_client_id, self.client_secret):
                raise ValueError(
                    "sasl_mechanism is OAUTHBEARER, so oauth_token_url, oauth_client_id and "
                    "oauth_client_secret (or oauth_client_secret_file) should be set"
                )
        elif self.sasl_username is None or self.password is None:
            raise ValueError(
                f"security is {self.security}, so sasl_username and sasl_password "
                "(or sasl_password_file) should be set"
            )
        return self

    @property
    def password(self) -> str | None:
        """SASL password, read from `sasl_password_file` if that is set."""
        return read_secret(self.sasl_password, self.sasl_password_file)

    @property
    def client_secret(self) -> str | None:
        """OAUTHBEARER client secret, read from `oauth_client_secret_file` if that is set."""
        return read_secret(self.oauth_client_secret, self.oauth_client_secret_file)


def read_secret(value: SecretStr | None, file: Path | None) -> str | None:
    """Return the content of a file without surrounding spaces, or else the value.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not text in UTF-8. The message contains no byte of the secret.
    """
    if file is None:
        return None if value is None else value.get_secret_value()
    try:
        return file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(f"{file} should contain a secret as text in UTF-8") from None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
