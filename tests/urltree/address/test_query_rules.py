"""Query rules and noise: the files that decide which parameters identify a page."""

from __future__ import annotations

import pytest

from urltree.address.query_rules import Rule, parse_rules, shipped_noise, shipped_rules

NOISE = """
    utm_source utm_id UTM_Campaign fbclid gclid msclkid mc_cid mc_eid mtm_source _hsenc __hssc
    hsa_cam WT.mc_id igshid ref_src PHPSESSID JSESSIONID ASPSESSIONIDQQAABBCC ASP.NET_SessionId
    CFID CFTOKEN replytocom xtor at_medium at_custom1 guccounter _ga
"""
NO_NOISE = """
    p id v n pid tid aid cid page story storyid article articleId newsid t q s sid f topic thread
    post cat tag date year lang source ref from pk utm at ns wt oid session_id token cHash idx hash
    hs_id attachment_id output feature
"""


def test_the_papers_nine_rules_are_shipped() -> None:
    """The shipped rules are those of Table 1 of the paper, in the same order."""
    assert [(rule.host, rule.path, *rule.retain) for rule in shipped_rules()] == [
        ("abcnews.go.com", "*", "id"),
        ("www.fitchratings.com", "*/detail.cfm", "pr_id"),
        ("bbs.chinadaily.com.cn", "/viewthread.php", "tid"),
        ("www.hurriyetdailynews.com", "/n.php", "n"),
        ("globeandmail.golfcanada.ca", "*", "articleId"),
        ("podcast.ft.com", "/index.php", "pid"),
        ("www.aljazeera.com", "/", "_cid_"),
        ("www.dailymail.co.uk", "/home/index.html", "_cid_"),
        ("www.foxnews.com", "/on-air*/index.html", "_cid_"),
    ]


def test_a_star_stands_for_any_characters_and_nothing_else_is_special() -> None:
    """A star matches any characters, and no other character is special.

    A pattern matches a whole host in any case, or a whole path in the given case.
    """
    (rule,) = parse_rules('rules: [{host: "*.Example.org", path: "/a[b]?c.*", retain: [id]}]')
    assert rule.applies_to_host("news.example.org")
    assert not rule.applies_to_host("news.example.org.uk")
    assert rule.applies_to_path("/a[b]?c.html/d")
    assert not rule.applies_to_path("/abxc.html")
    assert not rule.applies_to_path("/A[b]?c.html")


def test_a_rule_without_path_applies_to_every_path() -> None:
    """A rule without a path applies to every path, and a rule may retain no parameter."""
    assert parse_rules("rules: [{host: example.org, retain: []}]") == (
        Rule("example.org", "*", frozenset()),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules: [", "query rules: not valid YAML: while parsing"),
        ("", "query rules: should be a mapping with the key `rules`"),
        ("rules: {host: a.org}", "query rules: `rules` should be a list"),
        ("rules: [a.org]", "query rules: rule 1 should have only the keys host, path"),
        ("rules: [{host: a.org, retain: [id], keep: [b]}]", "query rules: rule 1 should have"),
        ("rules: [{retain: [id]}]", "query rules: rule 1: host should be a host name"),
        ("rules: [{host: 'http://a.org', retain: [id]}]", "query rules: rule 1: host should be"),
        (
            "rules: [{host: a.org, path: a, retain: [id]}]",
            "rule 1 (a.org): path should begin with `/` or `*`, is 'a'",
        ),
        (
            "rules: [{host: a.org, retain: id}]",
            "rule 1 (a.org): retain should be a list of parameter names, is 'id'",
        ),
        (
            "rules: [{host: a.org, retain: [id]}, {host: b.org, retain: [1]}]",
            "query rules: rule 2 (b.org): retain should be a list of parameter names",
        ),
    ],
)
def test_a_wrong_file_of_rules_is_refused_in_one_sentence(text: str, problem: str) -> None:
    """The error for a wrong file of rules is one sentence with the rule and the expected form."""
    with pytest.raises(ValueError, match="query rules") as caught:
        parse_rules(text)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", NOISE.split())
def test_noise_is_known(name: str) -> None:
    """Tracking and session parameters are noise in any letter case."""
    assert shipped_noise().is_noise(name)


@pytest.mark.parametrize("name", NO_NOISE.split())
def test_what_may_name_a_page_is_no_noise(name: str) -> None:
    """A parameter that may identify a page is not noise.

    If one page has two keys, it is extracted twice. If two pages share a key, one is lost.
    """
    assert not shipped_noise().is_noise(name)


def test_the_list_of_noise_has_no_entry_twice() -> None:
    """No name in the list of noise begins with a prefix that is in the list too."""
    noise = shipped_noise()
    assert [name for name in noise.names if name.startswith(noise.prefixes)] == []


@pytest.mark.parametrize(
    ("path", "stripped"),
    [
        ("/story;jsessionid=0A1B.node2", "/story"),
        ("/story;JSESSIONID=0A1B/part;v=2", "/story/part;v=2"),
        ("/a;phpsessid=1;b=2", "/a;b=2"),
        ("/a;b=jsessionid", "/a;b=jsessionid"),
    ],
)
def test_sessions_leave_the_path(path: str, stripped: str) -> None:
    """Session parameters are removed from the path; other path parameters stay."""
    assert shipped_noise().strip(path) == stripped
