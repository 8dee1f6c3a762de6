"""Settings are read from a file and the environment and validated; secrets are never shown."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agents.settings.job import (
    FILE,
    PREFIX,
    Settings,
    SettingsError,
    edit_distance,
    load_settings,
    unknown_variables,
)
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
        ("settings", "/", "URLTREE_SETTINGS: / cannot be read: Is a directory"),
        ("header_key", "short", "header_key has 5 characters, but should have at least 32"),
        ("former_header_key", "k" * 32, "header_key is not: set header_key"),
        ("unsigned_until", "tomorrow", "Invalid isoformat string"),
        ("brokers", "kafka://a:9092", "kafka://a:9092 should be host:port, without a scheme"),
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


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"brokers: [a:1\nprefix: secret", "is not valid YAML: line 2, column 7"),
        (b"- brokers: a:1\n", "should contain one line `name: value` per setting"),
        (b"1: 2\n", "should contain one line `name: value` per setting"),
        (b"brokers: \xff\n", "is not text in UTF-8"),
    ],
    ids=["broken", "list", "number", "bytes"],
)
def test_a_file_that_is_none_of_settings_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes, words: str
) -> None:
    """A settings file that is not a mapping in YAML raises an error that names the file.

    The error contains nothing of the file, which may contain a password.
    """
    file = tmp_path / "s.yaml"
    file.write_bytes(content)
    monkeypatch.setenv("URLTREE_SETTINGS", str(file))
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(file) in str(caught.value)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_empty_file_of_settings_sets_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A settings file with comments only is valid."""
    (tmp_path / "s.yaml").write_text("# nothing yet\n")
    monkeypatch.setenv("URLTREE_SETTINGS", str(tmp_path / "s.yaml"))
    assert load_settings().brokers == ("127.0.0.1:9092",)


@pytest.mark.parametrize(
    "brokers",
    [
        "user:s3cret@a:9092",
        "sasl://user:s3cret@a:9092",
        "b:1,user:s3cret,s3cret@a:9092",
        "user:s3cret@s3cret@a:9092",
    ],
)
def test_a_password_among_the_brokers_is_refused_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, brokers: str
) -> None:
    """A login among the brokers is refused, in either variable, without showing a part of it."""
    for name in ("KAFKA_BROKERS", "URLTREE_BROKERS"):
        monkeypatch.setenv(name, brokers)
        with pytest.raises(SettingsError, match="set the login in sasl_username and") as caught:
            load_settings()
        assert "s3cret" not in str(caught.value)
    with pytest.raises(ValueError, match="the value is not shown") as invalid:
        Settings.model_validate({"brokers": brokers})
    assert "s3cret" not in str(invalid.value)


def test_a_password_in_the_url_of_the_proxy_is_refused_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The credentials of the proxy stand in a file, and never in a setting."""
    monkeypatch.setenv("URLTREE_PROXY", "http://user:s3cret@proxy.example:3128")
    with pytest.raises(SettingsError, match="write them to a file in credentials_dir") as caught:
        load_settings()
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"PROXY": "proxy:3128"}, "the proxy should be a URL"),
        ({"NO_PROXY": "a.example, a b"}, "'a b' is not a host, a domain or a network"),
        ({"PROXY": "http://p:1", "PROXY_CREDENTIALS": "../a"}, "the name should consist of"),
        ({"PROXY": "http://p:1", "PROXY_CREDENTIALS": "a"}, "needs the settings proxy and"),
    ],
)
def test_a_wrong_proxy_is_refused(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    """A proxy that cannot be used is an error at the start, not at the first request."""
    for name, value in settings.items():
        monkeypatch.setenv(f"URLTREE_{name}", value)
    with pytest.raises(SettingsError, match=message):
        load_settings()


def test_the_client_gets_the_proxy_and_the_limits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The settings for requests become the options of the HTTP client."""
    values = {"PROXY": "http://p:1", "PROXY_CREDENTIALS": "a", "NO_PROXY": "b, 10.0.0.0/8"}
    for name, value in {**values, "CREDENTIALS_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(f"URLTREE_{name}", value)
    client = load_settings().client
    assert (client.proxy, client.proxy_credentials) == ("http://p:1/", "a")
    assert (client.no_proxy, client.credentials_dir) == (("b", "10.0.0.0/8"), tmp_path)
    assert client.requests_per_address == 8


def test_keys_for_headers_are_read_from_files_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first key signs, both are accepted, and none is in repr() or in an error."""
    (tmp_path / "now").write_text("n" * 32 + "\n")
    monkeypatch.setenv("URLTREE_HEADER_KEY", "e" * 40)
    monkeypatch.setenv("URLTREE_FORMER_HEADER_KEY", "f" * 32)
    monkeypatch.setenv("URLTREE_UNSIGNED_UNTIL", "1970-01-01T00:00:01.5Z")
    keys = load_settings().header_keys
    assert (keys.keys, keys.unsigned_until) == ((b"e" * 40, b"f" * 32), 1.5)
    monkeypatch.setenv("URLTREE_HEADER_KEY_FILE", str(tmp_path / "now"))
    assert load_settings().header_keys.keys == (b"n" * 32, b"f" * 32)
    assert not any(letter * 32 in repr(load_settings()) for letter in "enf")
    (tmp_path / "now").write_bytes(b"s3cret \xff" * 8)
    with pytest.raises(SettingsError, match="should contain a secret as text in UTF-8") as caught:
        load_settings()
    assert "0xff" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("URLTREE_HEURISTICS", "URLTREE_HEURISTIC"),
        ("URLTREE_BROKRES", "URLTREE_BROKERS"),
        ("URLTREE_LOGLEVL", "URLTREE_LOG_LEVEL"),
        ("URLTRE_BROKER", "URLTREE_BROKERS"),
        ("urltree_prefx", "URLTREE_PREFIX"),
        ("URLTREE_SETTING", "URLTREE_SETTINGS"),
    ],
)
def test_a_slip_in_the_name_of_a_variable_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    """A variable that is almost a setting is an error, which names the setting."""
    monkeypatch.setenv(name, "1")
    with pytest.raises(SettingsError, match=f"{name} is not a setting, but {meant} is"):
        load_settings()


def test_other_unknown_variables_are_named_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """`unknown_variables` returns other variables URLTREE_...; they are no error."""
    monkeypatch.setenv("URLTREE_LUCK", "1")
    monkeypatch.setenv("URLTREE_HEURISTIC", "strict")
    load_settings()
    assert "URLTREE_LUCK" in unknown_variables()
    assert "URLTREE_HEURISTIC" not in unknown_variables()


def test_no_variable_of_our_own_is_a_slip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the embedded Kafka, the tools, the tests and the benchmarks are accepted.

    Variables that Kubernetes sets for a Service named urltree are accepted, too.
    """
    others = ["CACHE", "TOOLS", "STORMS", "BENCH_ROW", "PORT", "SERVICE_HOST", "SERVICE_PORT"]
    for name in others:
        monkeypatch.setenv(PREFIX + name, "1")
    load_settings()


def test_the_edit_distance_counts_insertions_deletions_replacements_and_exchanges() -> None:
    """The distance is the number of edits, and an exchange of neighbours is one edit."""
    assert [edit_distance("abcd", other) for other in ("abcd", "acbd", "abc", "xbcde", "dcba")] == [
        *(0, 1, 1, 2, 3)
    ]
    assert edit_distance("", FILE) == edit_distance(FILE, "") == len(FILE)
