"""URL keys: the domain, canonical form, key, id and branch of a page's URL."""

from __future__ import annotations

import pytest

from urltree.address.url_key import (
    KEY_VERSION,
    MAX_BRANCH,
    KeyScheme,
    Query,
    branch,
    document_id,
    key_with_id,
)
from urltree.page import PageError, Reason

STORY = "http://abcnews.go.com/kabc/story?section=news&id=8691010&utm_source=rss"
FRONT_PAGE = "https://www.aljazeera.com/"


def untitled() -> str | None:
    """Return None as the title of a page."""
    return None


def never_asked() -> str | None:
    """Fail if the title of a page is read."""
    raise AssertionError("the title of the page was read")


def key_of(url: str, title: str | None = None, query: Query = "known-noise") -> str:
    """Return the key of a URL by the shipped rules."""
    return KeyScheme(query=query).key(url, lambda: title).key


def test_a_key_has_four_parts() -> None:
    """A URL key has a domain, a canonical form, a key and an id.

    The example URL is from the paper. The id is pinned, because tables and topics store it.
    """
    key = KeyScheme().key(STORY, never_asked)
    assert KEY_VERSION == 1
    assert key.domain == "abcnews.go.com"
    assert key.canonical == (
        "http://abcnews.go.com/kabc/story?id=8691010&section=news&utm_source=rss"
    )
    assert key.key == "https://abcnews.go.com/kabc/story?id=8691010"
    assert key.id == "f0927b765bdb99434322115ea47caf5d"


@pytest.mark.parametrize(
    ("url", "document_id"),
    [
        ("https://example.org/", "6d30efd48d70fadadc55de07b7d96ce9"),
        ("http://m\u00fcnchen.de/caf\u00e9?p=1", "bb552f414010b3a51d7b8ce90c4687cd"),
        ("http://127.0.0.1:8080/a//b#!/c", "3a482a4154945fcdebade6330f57afda"),
    ],
)
def test_ids_never_change(url: str, document_id: str) -> None:
    """The id of a URL is the same in every release with the same KEY_VERSION."""
    assert KeyScheme().key(url, untitled).id == document_id


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://abcnews.go.com/US/story?id=1&page=2", "https://abcnews.go.com/US/story?id=1"),
        ("https://abcnews.go.com/US/story?page=2", "https://abcnews.go.com/US/story"),
        (
            "http://www.fitchratings.com/credit/desk/detail.cfm?pr_id=7&print=1",
            "https://www.fitchratings.com/credit/desk/detail.cfm?pr_id=7",
        ),
        (
            "http://bbs.chinadaily.com.cn/viewthread.php?tid=5&extra=page%3D1",
            "https://bbs.chinadaily.com.cn/viewthread.php?tid=5",
        ),
        (
            "http://www.hurriyetdailynews.com/n.php?n=a-b-2011&x=1",
            "https://www.hurriyetdailynews.com/n.php?n=a-b-2011",
        ),
        (
            "http://globeandmail.golfcanada.ca/any/where?articleId=3&s=1",
            "https://globeandmail.golfcanada.ca/any/where?articleId=3",
        ),
        ("http://podcast.ft.com/index.php?pid=9&sid=2", "https://podcast.ft.com/index.php?pid=9"),
    ],
)
def test_a_rule_retains_what_names_the_page(url: str, key: str) -> None:
    """Rules apply after normalisation, so the paper's rules apply to https as they do to http."""
    assert KeyScheme().key(url, never_asked).key == key


@pytest.mark.parametrize(
    "url",
    [
        "http://www.aljazeera.com",
        "https://www.aljazeera.com/?utm_source=x",
        "https://www.dailymail.co.uk/home/index.html",
        "https://www.foxnews.com/on-air/hannity/index.html",
        "https://www.foxnews.com/on-air-live/index.html?a=1",
    ],
)
def test_where_pages_change_the_title_is_part_of_the_key(url: str) -> None:
    """If the rule of a URL contains `_cid_`, pages with different titles have different keys."""
    assert key_of(url, "Monday") != key_of(url, "Tuesday")
    assert key_of(url, "Monday") == key_of(url, "Monday")


def test_the_titles_hash_is_pinned() -> None:
    """The key contains the XXH3-128 hash of the title.

    The title is normalised to NFC, its white space is collapsed, and its case is kept.
    """
    expected = FRONT_PAGE + "?_cid_=50fb00261886cbc88ec7878342cb83fe"
    assert key_of(FRONT_PAGE, "Caf\u00e9 News") == expected
    assert key_of(FRONT_PAGE, "  Cafe\u0301\n\u00a0 News ") == expected
    assert key_of(FRONT_PAGE, "caf\u00e9 news") != expected


def test_a_title_may_have_lone_surrogates() -> None:
    """A title with lone surrogates can be hashed and causes no error."""
    assert "_cid_" in key_of(FRONT_PAGE, "a\ud800")


@pytest.mark.parametrize("title", [None, "", " \n"])
def test_without_a_title_the_url_alone_is_the_key(title: str | None) -> None:
    """The key of a page without a title is its URL; no hash of an empty title is added."""
    assert key_of(FRONT_PAGE, title) == FRONT_PAGE


def test_a_rule_for_the_front_page_leaves_stories_alone() -> None:
    """If only the rule of the front page contains `_cid_`, other pages' titles are not read."""
    key = KeyScheme().key("https://www.aljazeera.com/news/1?a=1&_cid_=x", never_asked)
    assert key.key == "https://www.aljazeera.com/news/1?a=1"


def test_a_hash_in_the_address_counts_nowhere() -> None:
    """A parameter `_cid_` in the URL is ignored, so that only the hash of the title counts."""
    assert key_of(FRONT_PAGE + "?_cid_=1", "Monday") == key_of(FRONT_PAGE, "Monday")


@pytest.mark.parametrize(
    ("query", "key"),
    [("known-noise", "https://example.org/?p=3&x=1"), ("drop", "https://example.org/")],
)
def test_where_no_rule_applies_the_setting_decides(query: Query, key: str) -> None:
    """If no rule applies, `query` decides: known noise or the whole query is dropped.

    Sessions in the path are always dropped.
    """
    url = "http://example.org/;jsessionid=1?x=1&p=3&utm_source=a&PHPSESSID=b"
    assert key_of(url, query=query) == key


def test_users_rules_come_first() -> None:
    """The first matching rule applies, and the user's rules come before the shipped rules."""
    scheme = KeyScheme.load(
        """
        rules:
          - {host: abcnews.go.com, path: /kabc/*, retain: [section]}
          - {host: abcnews.go.com, path: /kabc/story, retain: [x]}
        """
    )
    assert scheme.key(STORY, never_asked).key == "https://abcnews.go.com/kabc/story?section=news"
    assert scheme.key("http://abcnews.go.com/a?id=1&b=2", never_asked).key.endswith("/a?id=1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.org/a", "https://example.org/a"),
        ("http://example.org:80/a", "https://example.org:443/a"),
        ("http://example.org:443/a", "https://example.org/a"),
        ("http://example.org/a#x", "http://example.org/a"),
        ("http://example.org/?b=1&a=2", "http://example.org/?a=2&b=1"),
    ],
)
def test_addresses_of_one_page_share_a_key(one: str, other: str) -> None:
    """URLs that differ only in scheme, default port, fragment or parameter order have one key."""
    assert key_of(one) == key_of(other)


def test_what_is_no_url_has_no_key() -> None:
    """A text that is not a web URL raises PageError for its domain and for its key."""
    for ask in (KeyScheme().domain, key_of):
        with pytest.raises(PageError) as caught:
            ask("mailto:joe@example.org")
        assert caught.value.reason is Reason.BAD_URL


def test_the_domain_alone_is_the_keys_domain() -> None:
    """The domain can be computed without the page, so that a record's partition is known early."""
    assert KeyScheme().domain(STORY) == "abcnews.go.com"


@pytest.mark.parametrize(
    ("domain", "key", "names"),
    [
        ("example.org", "https://example.org/", ()),
        ("example.org", "https://www.example.org/", ()),
        ("example.org", "https://example.org/a/b.html", ("a", "b.html")),
        ("example.org", "https://example.org//a//b/", ("a", "b")),
        ("example.org", "https://news.example.org/a", ("news.example.org", "a")),
        ("example.org", "https://example.org:8080/a", ("example.org:8080", "a")),
        ("go.com", "https://www.go.com/story?id=1&x=/y", ("story", "?id=1&x=/y")),
        ("example.org", "https://example.org/?id=1", ("?id=1",)),
        ("example.org", "https://example.org/a?b#!/c?d", ("a", "?b", "#!/c?d")),
        ("[::1]", "https://[::1]/a", ("a",)),
    ],
)
def test_the_branch_is_made_of_the_keys_parts(
    domain: str, key: str, names: tuple[str, ...]
) -> None:
    """The names of a branch are the host, the segments, the query and the `#!` fragment.

    The branch has no host if the host is the domain, or `www.` followed by the domain.
    """
    assert branch(domain, key) == names


def test_a_deep_branch_ends_in_one_long_name() -> None:
    """In a branch of MAX_BRANCH names, the last name contains the rest of the key."""
    names = branch("example.org", "https://example.org/" + "/".join(map(str, range(100))) + "?q")
    assert len(names) == MAX_BRANCH
    assert names[-1] == "/".join([*map(str, range(MAX_BRANCH - 1, 100)), "?q"])
    exact = "https://example.org/" + "/".join(map(str, range(MAX_BRANCH)))
    assert branch("example.org", exact)[-1] == str(MAX_BRANCH - 1)


@pytest.mark.parametrize(
    "key",
    [
        "https://example.org/",
        "https://www.example.org/a/b",
        "https://example.org/a/b/?id=1&x=/",
        "https://news.example.org/a?id=1",
        "https://example.org:8080/?id=1#!/a",
        "https://www.example.org/" + "/".join(map(str, range(100))),
    ],
)
def test_a_branch_and_an_id_tell_the_key(key: str) -> None:
    """The key can be computed from branch and id, because a row stores these and no URL."""
    assert key_with_id("example.org", branch("example.org", key), document_id(key)) == key


@pytest.mark.parametrize("key", ["https://example.org/a//b", "https://example.org/another"])
def test_a_key_is_never_guessed(key: str) -> None:
    """If no key with these branch names has the id of the row, the result is None."""
    names = ("a", "b")
    assert key_with_id("example.org", names, document_id(key)) is None


def test_the_label_names_all_that_decides() -> None:
    """Equal settings have the same label, and each setting changes the label of a key scheme."""
    rules = "rules: [{host: a.org, retain: [id]}]"
    schemes = [
        KeyScheme(),
        KeyScheme(query="drop"),
        KeyScheme.load(rules),
        KeyScheme.load(shared_hosts="a.org"),
    ]
    assert len({scheme.label for scheme in schemes}) == len(schemes)
    assert KeyScheme.load(rules).label == schemes[2].label


def test_an_unknown_query_setting_is_refused() -> None:
    """The error for an unknown value of `query` lists the known values."""
    with pytest.raises(ValueError, match="query should be known-noise or drop, is 'keep'"):
        KeyScheme(query="keep")  # type: ignore[arg-type]
