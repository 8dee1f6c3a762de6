"""The settings of how Kafka is reached: brokers, TLS, and how the worker logs in."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from agents.settings.feeds import parts


class KafkaSettings(BaseModel):
    """What `agents.settings.job.Settings` has for whoever connects to Kafka."""

    brokers: Annotated[tuple[str, ...], NoDecode] = Field(
        ("127.0.0.1:9092",),
        description="Kafka brokers, host:port, separated by commas; else KAFKA_BROKERS counts.",
    )
    security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="How brokers are reached, in Kafka's words."
    )
    ssl_ca_file: Path | None = Field(
        None, description="Certificates that sign the brokers'; else the system's."
    )
    ssl_cert_file: Path | None = Field(None, description="The worker's own certificate.")
    ssl_key_file: Path | None = Field(None, description="The key of that certificate.")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        "SCRAM-SHA-512", description="How the worker logs in where security begins with SASL."
    )
    sasl_username: str | None = Field(None, description="The name to log in with.")
    sasl_password: SecretStr | None = Field(None, description="The password; never logged.")
    sasl_password_file: Path | None = Field(
        None, description="A file that holds the password, instead of it."
    )
    oauth_token_url: str | None = Field(
        None,
        description="For OAUTHBEARER: where tokens are given, by the client-credentials grant; "
        "https, http on loopback only.",
    )
    oauth_client_id: str | None = Field(None, description="The name of the worker there.")
    oauth_client_secret: SecretStr | None = Field(None, description="Its secret; never logged.")
    oauth_client_secret_file: Path | None = Field(
        None, description="A file that holds the secret, instead of it; read for each token."
    )
    oauth_scope: str | None = Field(None, description="What the token is asked for.")
    oauth_ca_file: Path | None = Field(
        None, description="Certificates that sign that of oauth_token_url; else the system's."
    )

    @field_validator("brokers", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = parts(value)
        if not value:
            raise ValueError("should name at least one broker")
        return value

    @field_validator("oauth_token_url")
    @classmethod
    def _is_private(cls, value: str | None) -> str | None:
        """RFC 6749, section 3.2: what carries a secret has TLS."""
        url = urlsplit(value or "https://none")
        host = url.hostname or ""
        if not host or not (url.scheme == "https" or (url.scheme == "http" and _is_loopback(host))):
            raise ValueError("should be an https address")
        return value

    @model_validator(mode="after")
    def _check_login(self) -> Self:
        if not self.security.startswith("SASL"):
            return self
        if self.sasl_mechanism == "OAUTHBEARER":
            if None in (self.oauth_token_url, self.oauth_client_id, self.client_secret):
                raise ValueError(
                    "oauth_token_url, oauth_client_id and oauth_client_secret should be set for "
                    "OAUTHBEARER"
                )
        elif self.sasl_username is None or self.password is None:
            raise ValueError("sasl_username and sasl_password should be set for SASL")
        return self

    @property
    def password(self) -> str | None:
        """The SASL password, from its file if one is named."""
        return _secret(self.sasl_password, self.sasl_password_file)

    @property
    def client_secret(self) -> str | None:
        """The secret of OAUTHBEARER, from its file if one is named."""
        return _secret(self.oauth_client_secret, self.oauth_client_secret_file)


def _secret(value: SecretStr | None, file: Path | None) -> str | None:
    if file is not None:
        return file.read_text().strip()
    return None if value is None else value.get_secret_value()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
