"""The Kafka clients of the commands: their connection settings, errors and reading of topics."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiokafka.errors import KafkaConnectionError
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from agents.kafka.client import options
from agents.kafka.refusal import NoKafkaError
from agents.settings.job import Settings, SettingsError
from tests.agents.records import Publish, ReadAll, Sent


def reached(**fields: Any) -> dict[str, Any]:
    """Return the arguments for aiokafka's clients that follow from these settings."""
    return options(Settings.model_validate(fields))


def test_plain_brokers_need_nothing_else() -> None:
    """Without security settings, a client uses neither TLS nor a login."""
    found = reached(brokers="a:1,b:2")
    assert found["bootstrap_servers"] == ["a:1", "b:2"]
    assert "ssl_context" not in found
    assert "sasl_mechanism" not in found


def test_tls_and_login_are_passed_on() -> None:
    """TLS and login settings reach aiokafka; by default certificates and host names are checked."""
    found = reached(security="SASL_SSL", sasl_username="me", sasl_password="secret")  # noqa: S106
    assert found["ssl_context"].verify_mode is ssl.CERT_REQUIRED
    assert found["ssl_context"].check_hostname
    assert (found["sasl_plain_username"], found["sasl_plain_password"]) == ("me", "secret")


def test_a_certificate_that_is_none_is_a_wrong_setting(tmp_path: Path) -> None:
    """An invalid or missing certificate file causes an error that names its setting."""
    (tmp_path / "ca.pem").write_text("nonsense")
    with pytest.raises(SettingsError, match="ssl_ca_file"):
        reached(security="SSL", ssl_ca_file=tmp_path / "ca.pem")
    with pytest.raises(SettingsError, match="ssl_ca_file"):
        reached(security="SSL", ssl_ca_file=tmp_path / "none.pem")


def test_a_key_with_a_password_is_a_wrong_setting(tmp_path: Path) -> None:
    """A key with a password causes an error, because OpenSSL would wait for input on a terminal."""
    issued = trustme.CA().issue_cert("urltree")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))
    (tmp_path / "key.pem").write_bytes(locked)
    with pytest.raises(SettingsError, match="ssl_key_file"):
        reached(
            security="SSL", ssl_cert_file=tmp_path / "cert.pem", ssl_key_file=tmp_path / "key.pem"
        )


def test_no_broker_is_an_error_to_operators_and_a_reason_to_wait_for_workers() -> None:
    """NoKafkaError ends a command as a SettingsError, and makes a worker retry."""
    error = NoKafkaError("Kafka cannot be reached at a:1")
    assert isinstance(error, SettingsError)
    assert isinstance(error, KafkaConnectionError)
    assert str(error) == "Kafka cannot be reached at a:1"


@pytest.mark.kafka
def test_a_topic_is_read_to_its_end_and_no_further(publish: Publish, read_all: ReadAll) -> None:
    """Reading stops at the end of a topic, even of an empty one or of one with large records."""
    assert read_all("documents") == []
    large = b"x" * (10 * 1024 * 1024)
    publish(*[Sent("documents", b"k", value) for value in (b"1", large, None)])
    assert [record.value for record in read_all("documents")] == [b"1", large, None]
