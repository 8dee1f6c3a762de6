"""Sites: which hosts belong to one registrable domain."""

from __future__ import annotations

import re

import pytest

from urltree.address.domain import (
    SUFFIX_LIST,
    Domains,
    icann_domain,
    parse_shared_hosts,
    shipped_shared_hosts,
)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        # hosts below a suffix in the Public Suffix List
        ("example.org", "example.org"),
        ("www.example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        # wildcards and exceptions in the Public Suffix List
        ("a.b.c.ck", "b.c.ck"),
        ("www.ck", "www.ck"),
        # the private section of the Public Suffix List
        ("alice.github.io", "alice.github.io"),
        ("docs.alice.github.io", "alice.github.io"),
        # hosts that are a suffix themselves
        ("github.io", "github.io"),
        ("co.uk", "co.uk"),
        # hosts below a shared host, and the shared host itself
        ("abcnews.go.com", "abcnews.go.com"),
        ("m.abcnews.go.com", "abcnews.go.com"),
        ("davald.wordpress.com", "davald.wordpress.com"),
        ("go.com", "go.com"),
        ("www.go.com", "go.com"),
        ("www.wordpress.com", "wordpress.com"),
        # hosts that are not domain names
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        # a suffix that is in no list
        ("a.b.internal-name", "b.internal-name"),
    ],
)
def test_a_host_belongs_to_its_site(host: str, domain: str) -> None:
    """The domain of a host is its public suffix or shared host plus one label.

    Other hosts, such as IP addresses, are their own domain.
    """
    assert Domains().of(host) == domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        *(("alice.blogspot.com", "blogspot.com"), ("blogspot.com", "blogspot.com")),
        *(("docs.alice.github.io", "github.io"), ("alice.wordpress.com", "wordpress.com")),
        *(("www.example.org", "example.org"), ("news.bbc.co.uk", "bbc.co.uk")),
        *(("a.b.c.ck", "b.c.ck"), ("www.ck", "www.ck"), ("co.uk", "co.uk")),
        *(("localhost", "localhost"), ("127.0.0.1", "127.0.0.1")),
        *(("[2001:db8::1]", "[2001:db8::1]"), ("a.b.internal-name", "b.internal-name")),
    ],
)
def test_the_domain_of_a_provider_has_all_its_hosts(host: str, domain: str) -> None:
    """Below a suffix of the ICANN section, all hosts of a provider belong to one domain."""
    assert icann_domain(host) == domain


def test_users_add_shared_hosts() -> None:
    """A user's shared hosts are used in addition to those that urltree ships."""
    domains = Domains(parse_shared_hosts("# ours\nblogs.example.org  # since 2020\n\n"))
    assert domains.of("a.alice.blogs.example.org") == "alice.blogs.example.org"
    assert domains.of("blogs.example.org") == "blogs.example.org"
    assert domains.of("news.example.org") == "example.org"
    assert domains.of("abcnews.go.com") == "abcnews.go.com"


def test_the_longest_suffix_decides() -> None:
    """The longest matching suffix decides, whether it is a shared host or a public suffix."""
    assert Domains(["uk.com", "github.io"]).of("a.alice.github.io") == "alice.github.io"
    assert Domains(["co.uk"]).of("news.bbc.co.uk") == "bbc.co.uk"
    assert Domains(["alice.github.io"]).of("x.y.alice.github.io") == "y.alice.github.io"


@pytest.mark.parametrize(
    "line", ["com", "https://example.org", "exa mple.org", "*.example.org", f"{64 * 'a'}..org"]
)
def test_a_line_that_is_no_host_is_named(line: str) -> None:
    """The error for a wrong line in a file of shared hosts quotes the line."""
    with pytest.raises(ValueError, match=re.escape(repr(line))):
        parse_shared_hosts(f"example.org\n{line}\n")


def test_a_shared_host_may_be_written_as_people_write_it() -> None:
    """Upper case and letters beyond ASCII in a shared host are normalised as in URLs."""
    assert parse_shared_hosts("Blogs.M\u00fcnchen.DE.") == {"blogs.xn--mnchen-3ya.de"}


def test_the_suffix_list_has_a_date() -> None:
    """The version of the suffix list ends with a date, and is part of the label of a key scheme."""
    assert re.search(r"\d{8}$", SUFFIX_LIST)


def test_shipped_hosts_are_what_they_should_be() -> None:
    """The shipped file of shared hosts is read completely, without its comments."""
    assert {"go.com", "wordpress.com"} <= shipped_shared_hosts()
