"""The settings of how Kafka is reached: brokers, TLS, and how the worker logs in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from agents.feed_settings import parts


class KafkaSettings(BaseModel):
    """What `agents.settings.Settings` has for whoever connects to Kafka."""

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
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "SCRAM-SHA-512", description="How the worker logs in where security begins with SASL."
    )
    sasl_username: str | None = Field(None, description="The name to log in with.")
    sasl_password: SecretStr | None = Field(None, description="The password; never logged.")
    sasl_password_file: Path | None = Field(
        None, description="A file that holds the password, instead of it."
    )

    @field_validator("brokers", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = parts(value)
        if not value:
            raise ValueError("should name at least one broker")
        return value

    @model_validator(mode="after")
    def _check_login(self) -> Self:
        if self.security.startswith("SASL") and (
            self.sasl_username is None or self.password is None
        ):
            raise ValueError("sasl_username and sasl_password should be set for SASL")
        return self

    @property
    def password(self) -> str | None:
        """The SASL password, from its file if one is named."""
        if self.sasl_password_file is not None:
            return self.sasl_password_file.read_text().strip()
        return None if self.sasl_password is None else self.sasl_password.get_secret_value()
