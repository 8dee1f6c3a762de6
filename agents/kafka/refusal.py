"""Why no broker can be reached: aiokafka logs it, and says only that it could not.

What waiting may mend is told from what it cannot: a broker that is down comes back, a wrong
password stays wrong until a person sets another.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

from aiokafka.conn import create_conn, get_ip_port_afi
from aiokafka.errors import (
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)

from agents.kafka.tokens import TokenError, TokenRefusedError
from agents.settings.job import SettingsError

_SECONDS = 10


class NoKafkaError(SettingsError, KafkaConnectionError):
    """No broker answers: a sentence for an operator, a reason to try again for a worker."""

    __str__ = Exception.__str__


async def refusal(options: Mapping[str, Any]) -> SettingsError:
    """Try each broker once more, with aiokafka's arguments, and say what is wrong.

    Returns:
        NoKafkaError where waiting may help, SettingsError where only a person can.
    """
    arguments = {name: value for name, value in options.items() if name != "bootstrap_servers"}
    brokers = options["bootstrap_servers"]
    reasons = []
    for broker in brokers:
        host, port, _ = get_ip_port_afi(broker)
        try:
            connection = await create_conn(
                host, port, **arguments, request_timeout_ms=_SECONDS * 1000
            )
        except (KafkaError, OSError) as error:
            if for_good := _for_good(error, broker, arguments):
                return SettingsError(for_good)
            reasons.append(_reason(error))
        else:
            connection.close()
    why = f": {'; '.join(dict.fromkeys(reasons))}" if reasons else ""
    return NoKafkaError(f"no Kafka at {', '.join(brokers)}{why}")


def _for_good(error: Exception, broker: str, arguments: Mapping[str, Any]) -> str | None:
    """The sentence for an error that waiting does not mend."""
    mechanism, said = arguments.get("sasl_mechanism"), None
    match error:
        case ssl.SSLCertVerificationError():
            said = f"the certificate of {broker} is not trusted, {error.verify_message}"
            said += ": see ssl_ca_file"
        case SaslAuthenticationFailed():
            said = f"{broker} refuses the login by {mechanism}: {error.args[0]}"
        case UnsupportedSaslMechanismError():
            said = f"{broker} has no login by {mechanism}: see sasl_mechanism"
        case IllegalSaslStateError():
            said = f"{broker} has no login: see security"
        case TokenRefusedError():
            said = str(error)
    return said


def _reason(error: Exception) -> str:
    """Few words about an error that may pass."""
    if isinstance(error, TokenError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"no answer in {_SECONDS} s"
    if isinstance(error, KafkaConnectionError | ConnectionResetError):
        # TLS or a certificate that is missing on one side looks the same
        return "the connection was closed at once; if that stays so, see security and ssl_cert_file"
    return str(error)
