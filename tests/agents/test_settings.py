"""Settings are read from a file and the environment and validated; secrets are never shown."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agents.settings.job import Settings, SettingsError, load_settings, unknown_variables
from agents.settings.schemes import Schemes
from urltree.page import Page


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URLTREE_BROKERS", "URLTREE_SETTINGS", "KAFKA_BROKERS"):
        monkeypatch.delenv(name, raising=False)


def test_brokers_come_from_our_own_name_else_from_the_usual_one_else_from_loopback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`brokers` is taken from URLTREE_BROKERS, or else KAFKA_BROKERS, or else is on loopback."""
    assert load_settings().brokers == ("127.0.0.1:9092",)
    monkeypatch.setenv("KAFKA_BROKERS", "a:1, b:2")
    assert load_settings().brokers == ("a:1", "b:2")
    monkeypatch.setenv("URLTREE_BROKERS", "c:3")
    assert load_settings().brokers == ("c:3",)


def test_a_file_is_read_and_the_environment_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Settings are read from the settings file, and environment variables take precedence."""
    (tmp_path / "s.yaml").write_text("brokers: a:1,b:2\nprefix: p-\nkeep: 7\n")
    monkeypatch.setenv("URLTREE_SETTINGS", str(tmp_path / "s.yaml"))
    monkeypatch.setenv("URLTREE_KEEP", "8")
    settings = load_settings()
    assert (settings.brokers, settings.prefix, settings.keep) == (("a:1", "b:2"), "p-", 8)
    assert settings.topic("raw-html") == "p-raw-html"


def test_a_misspelt_name_in_the_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An unknown name in the settings file is an error, so that no misspelt setting is ignored."""
    (tmp_path / "s.yaml").write_text("heuristik: strict\n")
    monkeypatch.setenv("URLTREE_SETTINGS", str(tmp_path / "s.yaml"))
    with pytest.raises(SettingsError, match="heuristik"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("heuristic", "best", "heuristic: 'best' does not exist"),
        ("in_flight", "many", "in_flight: Input should be a valid integer"),
        (
            "security",
            "SASL_SSL",
            r"so sasl_username and sasl_password \(or sasl_password_file\) should be set",
        ),
        ("oauth_token_url", "http://id.example.org/token", "the URL should begin with https://"),
        ("oauth_token_url", "id.example.org", "the URL should begin with https://"),
        ("topics_replicas", "0", "greater than 0"),
        ("keep", "3", "keep should be from 5"),
        ("rules_since", "yesterday", "Invalid isoformat string"),
        ("brokers", ",", "no broker is named"),
        ("prefix", "a/b", "prefix: String should match pattern"),
        ("settings", "/no/such/file", "names a file that does not exist"),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    """A wrong setting raises an error of one line that names the setting."""
    monkeypatch.setenv(f"URLTREE_{name.upper()}", value)
    with pytest.raises(SettingsError, match=words) as caught:
        load_settings()
    assert "\n" not in str(caught.value)


def test_metadata_without_its_libraries_ends_the_worker_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If the libraries for metadata are missing, loading the settings fails and names the extra.

    So a worker does not fail only at its first page.
    """
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    monkeypatch.delitem(sys.modules, "urltree.enrich.metadata.language", raising=False)
    monkeypatch.setenv("URLTREE_METADATA", "true")
    with pytest.raises(SettingsError, match=r"urltree\[metadata\]"):
        load_settings()


def test_a_password_is_read_from_its_file_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The password is read from its file, or else its variable, and never shown in repr()."""
    file = tmp_path / "password"
    file.write_text("from a file\n")
    monkeypatch.setenv("URLTREE_SASL_PASSWORD", "from the environment")
    assert load_settings().password == os.environ["URLTREE_SASL_PASSWORD"]
    assert "from the environment" not in repr(load_settings())
    monkeypatch.setenv("URLTREE_SASL_PASSWORD_FILE", str(file))
    assert load_settings().password == file.read_text().strip()


def test_a_login_by_token_needs_a_client_and_no_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """OAUTHBEARER needs a client secret, which comes from its variable or its file, and no user.

    The secret is not in repr() of the settings.
    """
    monkeypatch.setenv("URLTREE_SECURITY", "SASL_SSL")
    monkeypatch.setenv("URLTREE_SASL_MECHANISM", "OAUTHBEARER")
    monkeypatch.setenv("URLTREE_OAUTH_TOKEN_URL", "https://id.example.org/token")
    monkeypatch.setenv("URLTREE_OAUTH_CLIENT_ID", "urltree")
    with pytest.raises(
        SettingsError, match=r"oauth_client_secret \(or oauth_client_secret_file\) should be set"
    ):
        load_settings()
    monkeypatch.setenv("URLTREE_OAUTH_CLIENT_SECRET", "from the environment")
    assert load_settings().client_secret == "from the environment"  # noqa: S105 - a fake secret
    assert "from the environment" not in repr(load_settings())
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.setenv("URLTREE_OAUTH_CLIENT_SECRET_FILE", str(tmp_path / "secret"))
    assert load_settings().client_secret == "from a file"  # noqa: S105 - a fake secret


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:80"])
def test_a_token_is_asked_for_without_tls_on_loopback_only(host: str) -> None:
    """The token URL may be http only on loopback, where a sidecar may run."""
    address = f"http://{host}/token"
    assert Settings.model_validate({"oauth_token_url": address}).oauth_token_url == address


def test_every_setting_is_described() -> None:
    """Every setting has a description, from which the reference in docs/job.md is generated."""
    assert all(field.description for field in Settings.model_fields.values())


def test_new_rules_take_effect_at_a_point_in_document_time() -> None:
    """From `rules_since` on, pages get their key by the new rules; older pages keep the old rules.

    A page is looked up by both keys, first by the key under the rules of its own time.
    """
    settings = Settings(query="drop", rules_since="2026-03-01T00:00:00Z")
    schemes = Schemes(settings)
    before, after, undated = (
        [scheme.query for scheme in schemes.of(Page(url="https://a.org", html="", published=at))]
        for at in ("2026-02-28T23:59:59Z", "2026-03-01T00:00:00Z", None)
    )
    assert before == ["known-noise", "drop"]
    assert after == undated == ["drop", "known-noise"]
    assert len(Schemes(Settings()).of(Page(url="https://a.org", html=""))) == 1


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """`unknown_variables` returns the variables URLTREE_... that are not a setting."""
    monkeypatch.setenv("URLTREE_HEURISTICS", "strict")
    monkeypatch.setenv("URLTREE_HEURISTIC", "strict")
    assert "URLTREE_HEURISTICS" in unknown_variables()
    assert "URLTREE_HEURISTIC" not in unknown_variables()
