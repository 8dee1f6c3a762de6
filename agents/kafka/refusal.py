"""Find the reason why no broker can be reached: aiokafka logs it, but omits it from its error.

Temporary errors are distinguished from errors that only a person can solve: a broker that is down
will return, but a wrong password stays wrong.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

from aiokafka.conn import create_conn, get_ip_port_afi
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
    UnsupportedSaslMechanismError,
)

from agents.kafka.tokens import TokenError, TokenRefusedError
from agents.settings.job import Settings, SettingsError

_SECONDS = 10

Denied = (
    ClusterAuthorizationFailedError
    | GroupAuthorizationFailedError
    | TopicAuthorizationFailedError
    | TransactionalIdAuthorizationFailed
)
"""Kafka's errors for a right that is missing."""


class NoKafkaError(SettingsError, KafkaConnectionError):
    """No broker can be reached; a worker retries, a command shows the message to the operator."""

    __str__ = Exception.__str__


async def find_refusal(options: Mapping[str, Any]) -> SettingsError:
    """Connect to each broker once more, and return an error whose message gives the reason.

    Args:
        options: Keyword arguments for aiokafka's clients.

    Returns:
        NoKafkaError if a retry may help, SettingsError if only a person can solve it.
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
    return NoKafkaError(f"Kafka cannot be reached at {', '.join(brokers)}{why}")


def _for_good(error: Exception, broker: str, arguments: Mapping[str, Any]) -> str | None:
    """Return the message for an error that a retry cannot solve, or None for any other error."""
    mechanism, said = arguments.get("sasl_mechanism"), None
    match error:
        case ssl.SSLCertVerificationError():
            said = f"the certificate of {broker} is not trusted ({error.verify_message}); "
            said += "check ssl_ca_file"
        case SaslAuthenticationFailed():
            said = f"{broker} refuses the login with {mechanism}: {error.args[0]}"
        case UnsupportedSaslMechanismError():
            said = f"{broker} does not support the mechanism {mechanism}; check sasl_mechanism"
        case IllegalSaslStateError():
            said = f"{broker} does not support SASL on this listener; check security"
        case TokenRefusedError():
            said = str(error)
    return said


def _reason(error: Exception) -> str:
    """Return a short description of a temporary error."""
    if isinstance(error, TokenError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"no answer within {_SECONDS} s"
    if isinstance(error, KafkaConnectionError | ConnectionResetError):
        # A listener without TLS, or a missing client certificate, causes the same error.
        return (
            "the broker closed the connection at once; if this continues, check security and "
            "ssl_cert_file"
        )
    return str(error)


def explain(error: BaseException) -> str:
    """Return a sentence for an error of Kafka: which right is missing, or the error itself."""
    names = ", ".join(map(str, error.args))
    match error:
        case TopicAuthorizationFailedError():
            what = f"use the topic {names}"
        case GroupAuthorizationFailedError():
            what = f"use the group {names}"
        case TransactionalIdAuthorizationFailed():
            what = f"use the transactional id {names}"
        case ClusterAuthorizationFailedError():
            what = "write to any topic"
        case KafkaError() | SettingsError():
            return str(error)
        case _:
            return repr(error)
    return f"Kafka does not allow this client to {what}; docs/access.md lists the ACLs it needs"


def user_of(settings: Settings) -> str:
    """Return words for the user as which these settings log in."""
    if settings.security.startswith("SASL") and settings.sasl_mechanism != "OAUTHBEARER":
        return f"the user {settings.sasl_username}"
    return "this client"
