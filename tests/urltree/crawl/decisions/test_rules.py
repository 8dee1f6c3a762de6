"""Rules deny addresses, and remove waiting pages, exactly where their targets say so."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.rules.path_pattern import PathPattern, octets
from urltree.crawl.decisions.rules.rule import (
    Action,
    CrawlRule,
    Extent,
    RuleKey,
    Scope,
    make_key,
)
from urltree.crawl.decisions.rules.rules import (
    Denied,
    Removed,
    Rules,
    TopicIds,
    WaitingPage,
)
from urltree.page import Reason

FEED = "https://example.org/feed"
ENDS = Extent("f" * 32, (10, 20))
IDS = TopicIds(fetches="f" * 32, feeds="e" * 32)


def rules(*texts: str, **fields: object) -> Rules:
    """Return rules with these keys."""
    found = Rules()
    found.ids = IDS
    for text in texts:
        found.put(CrawlRule(RuleKey.parse(text), **fields))  # type: ignore[arg-type]
    return found


def is_denied(rule: str, url: str) -> bool:
    """Return whether a rule denies an address."""
    return isinstance(rules(rule).verdict(url), Denied)


@pytest.mark.parametrize(
    ("rule", "denied", "allowed"),
    [
        (
            "deny host www.Example.ORG.",
            ["https://www.example.org/", "http://WWW.example.org.:8080/a?b"],
            ["https://example.org/", "https://a.www.example.org/", "https://www.example.org.net/"],
        ),
        (
            "deny domain example.org",
            ["https://example.org/", "https://a.b.example.org/x", "http://u:p@example.org:1/"],
            ["https://badexample.org/", "https://example.org.net/", "https://org/"],
        ),
        ("deny domain münchen.example", ["https://www.xn--mnchen-3ya.example/"], []),
        ("deny host 192.0.2.1", ["http://192.0.2.1/", "http://0xC0000201/"], ["http://192.0.2.2/"]),
        ("deny host [2001:db8:0::1]", ["http://[2001:db8::1]/"], ["http://[2001:db8::2]/"]),
        (
            "deny path https://example.org/private/",
            [
                "https://example.org/private/a",
                "http://example.org/x/../private/",
                "https://example.org/priv%61te/",
            ],
            [
                "https://example.org/Private/",
                "https://example.org/",
                "https://a.example.org/private/",
            ],
        ),
        (
            "deny path *.example.org/*.pdf$",
            ["https://a.example.org/x/y.pdf", "https://example.org/.pdf"],
            ["https://example.org/y.pdf?x", "https://example.org/y.pdfx"],
        ),
        (
            "deny path example.org/*?*print=1",
            ["https://example.org/a?x=2&print=1", "https://example.org/?print=12"],
            ["https://example.org/print=1", "https://example.org/a?print=2"],
        ),
        ("deny path example.org/a%2Ab", ["https://example.org/a*b"], ["https://example.org/axb"]),
        ("deny path example.org/ü", ["https://example.org/%C3%BC/x"], ["https://example.org/u"]),
        ("deny path example.org/x/y", ["https://example.org/x/.y/../y"], []),
    ],
)
def test_a_rule_denies_what_its_target_covers(
    rule: str, denied: list[str], allowed: list[str]
) -> None:
    """A rule denies addresses of its target in any spelling, and no others."""
    assert [url for url in denied if not is_denied(rule, url)] == []
    assert [url for url in allowed if is_denied(rule, url)] == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "deny", "deny host", "deny host ", "allow host example.org", "deny feed x y"),
        *("deny host a/b", "deny host a:80", "deny host a@b", "deny host a..b", "deny host ."),
        *("deny domain org", "deny domain 192.0.2.1", "deny domain [::1]"),
        *("deny path example.org", "deny path /a", "deny path example.org/" + "a" * 2_048),
        *("deny path example.org/a b", "remove feed example.org", "purge all x", "remove host a.b"),
        *("purge feed " + "a" * 16_385, "purge feed"),
    ],
)
def test_an_invalid_target_is_refused(text: str) -> None:
    """A text that is not the key of a rule raises ValueError."""
    with pytest.raises(ValueError, match=" "):
        RuleKey.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("deny host example.org", "deny domain example.org", "deny path example.org/a*b$"),
        *("deny path *.example.org/", f"remove feed example.org {FEED}", f"purge feed {FEED}"),
        *("purge all -", "purge host example.org", "purge domain example.org"),
    ],
)
def test_a_key_in_normal_form_stays_as_it_is(text: str) -> None:
    """The key of a rule is read and written without a change."""
    assert str(RuleKey.parse(text)) == text


PARTS = st.text("ab*", max_size=8)


@given(PARTS, st.booleans(), st.text("ab", max_size=12))
def test_a_pattern_matches_what_a_regular_expression_matches(
    text: str, anchored: bool, path: str
) -> None:
    """A pattern agrees with the regular expression that has its meaning."""
    meaning = ".*".join(map(re.escape, f"/{text}".split("*"))) + (r"\Z" if anchored else "")
    expected = re.match(meaning, f"/{path}") is not None
    assert PathPattern(f"/{text}{'$' * anchored}").matches(octets(f"/{path}", "")) == expected


HOSTS = st.sampled_from(["example.org", "a.example.org", "b.a.example.org", "example.net", "net.x"])


def key_of(scope: Scope, host: str) -> RuleKey:
    """Return the key of a deny rule for a host, its domain or its paths."""
    target = {Scope.PATH: f"{host}/p", Scope.FEED: f"*.{host}/q"}.get(scope, host)
    return make_key(Action.DENY, Scope.PATH if scope is Scope.FEED else scope, target)


CHANGES = st.lists(
    st.tuples(
        st.booleans(), st.sampled_from([Scope.HOST, Scope.DOMAIN, Scope.PATH, Scope.FEED]), HOSTS
    ),
    max_size=30,
)


def plainly_denies(key: RuleKey, host: str, path: str) -> bool:
    """Return whether a rule covers an address, without any index."""
    target, slash, pattern = key.target.partition("/")
    of_domain = key.scope is Scope.DOMAIN or target.startswith("*.")
    domain = target.removeprefix("*.")
    is_of_host = host == domain or (of_domain and host.endswith(f".{domain}"))
    return is_of_host and path.startswith(slash + pattern)


@given(CHANGES, HOSTS, st.sampled_from(["/p", "/q/x", "/"]))
def test_the_index_agrees_with_a_list_of_rules(
    changes: list[tuple[bool, Scope, str]], host: str, path: str
) -> None:
    """After rules were added and deleted, the index denies what one of the present rules denies."""
    found, present = Rules(), set()
    for is_added, scope, of in changes:
        key = key_of(scope, of)
        if is_added:
            found.put(CrawlRule(key))
            present.add(key)
        else:
            found.delete(key)
            present.discard(key)
    verdict = found.verdict(f"https://{host}{path}")
    assert len(found) == len(present)
    assert (verdict is not None) == any(plainly_denies(key, host, path) for key in present)
    if verdict is not None:
        assert verdict.rule in present


def test_a_purge_covers_what_waited_at_the_command() -> None:
    """A purge covers pages whose first copy lies before the ends, in the same topic only."""
    found = rules("purge domain example.org", fetches=ENDS)
    url, other = "https://a.example.org/x", "https://example.net/x"
    assert isinstance(found.verdict(url, WaitingPage((0, 9))), Removed)
    assert isinstance(found.verdict(url, WaitingPage((1, 19))), Removed)
    later = [WaitingPage(place) for place in ((0, 10), (1, 20), (2, 0), None)]
    assert [found.verdict(url, page) for page in later] == [None] * 4
    assert found.verdict(other, WaitingPage((0, 9))) is None
    found.ids = TopicIds(fetches="a" * 32)
    assert found.verdict(url, WaitingPage((0, 9))) is None


@pytest.mark.parametrize("url", ["https://example.net/x", "no address"])
@pytest.mark.parametrize("rule", ["purge all -", f"purge feed {FEED}"])
def test_a_purge_of_all_or_of_a_feed_covers_any_address(rule: str, url: str) -> None:
    """A purge without a host covers pages of all hosts, even those with invalid addresses."""
    verdict = rules(rule, fetches=ENDS).verdict(url, WaitingPage((0, 0), FEED))
    assert isinstance(verdict, Removed)
    assert (verdict.reason, verdict.counts_as_seen) == (Reason.REMOVED, True)
    assert rules(rule, fetches=ENDS).verdict(url, WaitingPage((0, 10), FEED)) is None


@pytest.mark.parametrize(
    ("page", "is_removed"),
    [
        (WaitingPage((1, 99), FEED, "example.org", 6), True),
        (WaitingPage((1, 99), FEED, "example.org", 7), False),  # added again
        (WaitingPage((1, 99), FEED, "example.net", 6), False),  # followed under another site
        (WaitingPage((1, 99), "https://example.org/2", "example.org", 6), False),
        (WaitingPage((1, 19), FEED), True),  # of an earlier release, which wrote no offset
        (WaitingPage((1, 20), FEED), False),
        (WaitingPage(None, FEED), False),
    ],
)
def test_a_removed_feed_takes_its_waiting_pages_along(page: WaitingPage, is_removed: bool) -> None:
    """Pages of the feed's additions before the removal are removed; later additions are not."""
    found = rules(f"remove feed example.org {FEED}", fetches=ENDS, feeds=(IDS.feeds, 7))
    verdict = found.verdict("https://example.org/a", page)
    assert (verdict is not None) == is_removed
    if verdict is not None:
        assert (verdict.reason, verdict.counts_as_seen) == (Reason.REMOVED, False)


def test_offsets_of_a_former_topic_feeds_do_not_count() -> None:
    """If feeds was created anew, its first additions are not taken for those of the old topic."""
    found = rules(f"remove feed example.org {FEED}", fetches=ENDS, feeds=(IDS.feeds, 7))
    found.ids = TopicIds(IDS.fetches, "a" * 32)
    page = WaitingPage((1, 99), FEED, "example.org", 6)
    assert found.verdict("https://example.org/a", page) is None


def test_a_denied_page_is_denied_even_if_it_was_removed() -> None:
    """A deny rule comes first, and an item that it stops does not count as seen."""
    found = rules("purge all -", "deny host example.org", fetches=ENDS)
    verdict = found.verdict("https://example.org/", WaitingPage((0, 0)))
    assert isinstance(verdict, Denied)
    assert (verdict.reason, verdict.counts_as_seen) == (Reason.DENIED, False)
    assert "deny host example.org" in verdict.message


def test_octets_are_compared_after_one_decoding() -> None:
    """Escapes are decoded once: `%2541` is not `A`."""
    assert octets("/%2541", "?%41") == unquote_to_bytes("/%2541?%41") == b"/%41?A"
