"""The job works on a Kafka with TLS and a login by password, token or certificate."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from agents.commands.topics import apply, check_topics
from agents.extract import Extract
from agents.fetch import Fetch
from agents.kafka.refusal import NoKafkaError
from agents.normalize import Normalize
from agents.poll import Poll
from agents.settings.job import Settings, SettingsError
from models import clean_text, raw_html
from tests.agents.learned import send, values
from tests.agents.limits import OF_WORKERS
from tests.agents.records import Publish, ReadAll, Run, Sent
from tests.agents.test_worker import PATIENCE, ROOT, heard, wait_for, worker
from tests.agents.workers import idle, is_ready, started, until
from tests.agents.workers import run as bounded
from tests.conftest import Record
from tests.secure_kafka import PASSWORD, SecureKafka
from tests.token_server import TokenServer
from urltree.page import Page

pytestmark = pytest.mark.kafka


@pytest.fixture
def tokens(secure_kafka: SecureKafka) -> Iterator[TokenServer]:
    """Yield the identity provider; after the test, restore its token lifetime and its status."""
    server = secure_kafka.tokens
    lifetime = server.lifetime
    yield server
    server.lifetime, server.status = lifetime, None


# Workers also log in by SCRAM in tests/deploy, and by tokens in another test of this file.
# Therefore the tests with these two logins run only in `make test-all`.
thorough = pytest.mark.thorough


@pytest.fixture(
    params=[
        pytest.param("scram", marks=thorough),
        pytest.param("oauth", marks=thorough),
        "certificate",
    ]
)
def settings(
    request: pytest.FixtureRequest,
    secure_kafka: SecureKafka,
    prefix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Settings:
    """Return settings of a job with one kind of login; the environment contains them too."""
    fields = getattr(secure_kafka, request.param)()
    fields |= {"prefix": prefix, "data_dir": str(tmp_path), "contact": "mail@example.org"}
    for name, value in fields.items():
        monkeypatch.setenv(f"URLTREE_{name.upper()}", value)
    return Settings.model_validate(fields | {"commit_seconds": 0.3} | OF_WORKERS)


def page(path: str) -> Sent:
    """Return the record of a page of example.org."""
    html = f"<p>This is {path} and nothing else.</p><p>Imprint and contact</p>"
    value = raw_html.encode(Page(url=f"https://example.org/{path}", html=html))
    return Sent("raw-html", b"example.org", value)


def test_every_stage_and_the_commands_work_through_tls_and_a_login(
    settings: Settings, publish: Publish, read_all: ReadAll, run: Run, record: Record
) -> None:
    """With TLS and a login, topics are created, all pages are processed, and no page is missing."""
    publish(*(page(f"page-{letter}") for letter in "abcdefgh"))

    async def scenario() -> None:
        async with started(settings, Poll, Fetch, Normalize, Extract) as stages:
            await until(lambda: all(map(is_ready, stages)))
            await idle(stages[2:])

    bounded(scenario())
    texts = [clean_text.decode(record.value) for record in read_all("clean-text")]
    assert texts[-1]["text"] == "This is page-h and nothing else."
    assert len(texts) == 8
    audit = run("audit", "--json")
    missing = orjson.loads(audit.stdout)["missing"]
    assert (audit.exit_code, missing) == (0, 0)
    assert run("topics", "check").exit_code == 0
    login = settings.sasl_mechanism if settings.security == "SASL_SSL" else "a certificate"
    record(
        f"secure Kafka: {settings.security} with {login}: 4 stages ready, "
        f"{len(texts)} of 8 pages carried, {missing} missing by the audit"
    )


@pytest.mark.parametrize(
    ("login", "change", "sentence"),
    [
        ("scram", {"sasl_username": "nobody"}, "refuses the login with SCRAM-SHA-512: "),
        ("scram", {"sasl_password_file": "{ca_file}"}, "refuses the login with SCRAM-SHA-512: "),
        (
            "scram",
            {"sasl_mechanism": "SCRAM-SHA-256"},
            "does not support the mechanism SCRAM-SHA-256",
        ),
        ("scram", {"ssl_ca_file": "{other_ca_file}"}, "not trusted .*; check ssl_ca_file"),
        ("oauth", {"oauth_client_id": "nobody"}, "401 invalid_client .*; check oauth_client_id"),
        ("oauth", {"oauth_ca_file": "{other_ca_file}"}, "not trusted .*; check oauth_ca_file"),
    ],
)
def test_what_only_a_person_can_mend_is_a_sentence_that_names_the_setting(
    secure_kafka: SecureKafka, login: str, change: dict[str, str], sentence: str
) -> None:
    """A wrong login or certificate causes an error that names the setting, without a retry.

    The error contains no secret.
    """
    changes = {name: value.format(**vars(secure_kafka)) for name, value in change.items()}
    fields = getattr(secure_kafka, login)() | changes
    with pytest.raises(SettingsError, match=sentence) as caught:
        asyncio.run(check_topics(Settings.model_validate(fields)))
    assert not isinstance(caught.value, NoKafkaError)
    assert secure_kafka.tokens.client_secret not in str(caught.value)
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize("arguments", [["worker", "normalize"], ["topics", "check"], ["audit"]])
def test_a_wrong_password_ends_a_worker_and_a_command_with_2(
    secure_kafka: SecureKafka, tmp_path: Path, arguments: list[str]
) -> None:
    """With a wrong password, a worker and a command print one sentence and exit with code 2."""
    (tmp_path / "password").write_text("another")
    fields = secure_kafka.scram() | {"sasl_password_file": str(tmp_path / "password")}
    code, said = ended(fields, *arguments)
    assert code == 2
    assert re.search(r"^agents: .* refuses the login with SCRAM-SHA-512: ", said, re.MULTILINE)
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("lifetime", lambda: -60, id="expired"),
        pytest.param("audience", lambda: "another", id="for-another"),
        pytest.param("key", lambda: TokenServer().key, id="signed-by-another"),
    ],
)
def test_a_token_that_the_broker_does_not_take_is_a_sentence(
    secure_kafka: SecureKafka, monkeypatch: pytest.MonkeyPatch, name: str, value: Callable[[], Any]
) -> None:
    """If the broker refuses a token, the error contains the broker's reason.

    Without our change, aiokafka would drop the reason.
    """
    monkeypatch.setattr(secure_kafka.tokens, name, value())
    with pytest.raises(SettingsError, match=r"refuses the login with OAUTHBEARER: .*invalid_token"):
        asyncio.run(check_topics(Settings.model_validate(secure_kafka.oauth())))


def test_a_client_without_certificate_is_told_where_to_look(secure_kafka: SecureKafka) -> None:
    """If the client has no certificate, the error names the settings, and a worker retries.

    The broker only closes the connection, which a broker that is starting also does.
    """
    fields = secure_kafka.certificate()
    del fields["ssl_cert_file"], fields["ssl_key_file"]
    with pytest.raises(
        NoKafkaError, match=r"closed the connection at once; .* check security and ssl_cert_file"
    ):
        asyncio.run(check_topics(Settings.model_validate(fields)))


def test_a_worker_waits_for_an_identity_provider_that_is_down(
    secure_kafka: SecureKafka, tokens: TokenServer, prefix: str, tmp_path: Path
) -> None:
    """While the identity provider is down, a worker is alive but not ready, and logs the reason.

    The worker starts when it gets a token.
    """
    fields = secure_kafka.oauth() | {"prefix": prefix}
    asyncio.run(apply(Settings.model_validate(fields)))
    tokens.status = 503
    with worker("normalize", tmp_path, **fields) as (process, url):
        said = heard(process, "Kafka has not answered since")
        assert wait_for(f"{url}/readyz", 503).startswith("Kafka has not answered since")
        tokens.status = None
        assert wait_for(f"{url}/readyz", 200) == "ready\n"
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert "Kafka has not answered since" in said
    assert "status 503 temporarily_unavailable" in said
    assert "Traceback" not in said + errors
    assert tokens.client_secret not in said + errors


@pytest.mark.parametrize("settings", ["oauth"], indirect=True)
def test_pages_are_carried_on_while_tokens_expire(
    job: Settings, secure_kafka: SecureKafka, tokens: TokenServer, record: Record
) -> None:
    """Pages are processed once each, although brokers close connections when a token expires.

    See KIP-368. The test itself connects without a token, because it would not retry.
    """
    tokens.lifetime = 3
    plain = job.model_copy(update={"brokers": (secure_kafka.plain,), "security": "PLAINTEXT"})

    async def scenario() -> None:
        async with started(job, Normalize, Extract) as stages:
            await until(lambda: all(map(is_ready, stages)))
            for name in "abc":
                enough = tokens.given + 2
                await until(lambda enough=enough: tokens.given >= enough)  # type: ignore[misc]
                await asyncio.to_thread(send, plain, [page(name)])
                await idle(stages)

    bounded(scenario())
    texts = [found["url"] for found in values(plain, "clean-text")]
    assert texts == [f"https://example.org/{name}" for name in "abc"]
    record(
        f"secure Kafka: {tokens.given} tokens of 3 s, {len(texts)} of 3 pages carried, once each"
    )


def ended(fields: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Run `python -m agents` with these settings; return its exit code and its stderr."""
    environment = {f"URLTREE_{name.upper()}": value for name, value in fields.items()}
    process = subprocess.run(
        [sys.executable, "-m", "agents", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return process.returncode, process.stderr
