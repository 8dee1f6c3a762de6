"""Walls (pages of anti-bot services and consent pages) are recognised; other pages are not."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.host.walls import MAX_WALL, find_wall, load_walls

ARTICLE = (
    b"<p>The council voted on Tuesday to close the bridge for repairs until the autumn.</p>" * 20
)
JUST_A_MOMENT = (
    b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>"
    b"<noscript>Enable JavaScript and cookies to continue</noscript>"
    b"<script>(function(){window._cf_chl_opt={cvId:'3'};var a=document.createElement('script');"
    b"a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1';})();</script></body></html>"
)
WALLS = [
    ("cloudflare", 403, {"cf-mitigated": "challenge", "server": "cloudflare"}, b""),
    ("cloudflare", 503, {"server": "cloudflare"}, JUST_A_MOMENT),
    ("datadome", 403, {"x-datadome": "protected"}, b""),
    ("datadome", 200, {}, b"<script src='https://ct.captcha-delivery.com/c.js'></script>"),
    ("human", 403, {}, b'<div id="px-captcha"></div>'),
    ("human", 200, {}, b'<p>Press and hold</p><div id="px-captcha"></div>'),
    (
        "akamai",
        403,
        {"server": "AkamaiGHost"},
        b"<h1>Access Denied</h1><p>https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18",
    ),
    ("akamai", 200, {}, b'<div id="sec-if-cpt-container"></div>'),
    ("imperva", 200, {}, b'<iframe src="/_Incapsula_Resource?CWUDNSAI=9">Request failed</iframe>'),
    ("aws-waf", 202, {"x-amzn-waf-action": "challenge"}, b""),
    ("aws-waf", 405, {"x-amzn-waf-action": "captcha"}, b""),
    ("vercel", 429, {"x-vercel-mitigated": "challenge"}, b""),
    ("sucuri", 307, {"server": "Sucuri/Cloudproxy"}, b"<script>sucuri_cloudproxy_js='';</script>"),
    ("ddos-guard", 403, {"server": "ddos-guard"}, b"<title>DDoS-Guard</title>"),
    ("kasada", 429, {"x-kpsdk-ct": "0abc"}, b""),
    ("anubis", 200, {}, b'<script id="anubis_challenge" type="application/json">{}</script>'),
    ("too-many-requests", 200, {}, b"<title>Too Many Requests</title><p>Please slow down."),
    ("consent", 302, {"location": "https://consent.google.com/ml?continue=a"}, b""),
    ("consent", 307, {"location": "https://guce.yahoo.com/consent?brandType=nonEu"}, b""),
    ("consent", 200, {}, b"<script src='https://cdn.privacy-mgmt.com/unified/a.js'></script>"),
]


@pytest.mark.parametrize(("name", "status", "headers", "html"), WALLS)
def test_a_wall_is_named(name: str, status: int, headers: dict[str, str], html: bytes) -> None:
    """A wall is recognised by its headers and by strings in its HTML, in upper or lower case."""
    assert find_wall(status, headers, html) == name
    assert find_wall(status, headers, html.upper()) == name


def test_every_shipped_wall_is_met_by_a_test() -> None:
    """These tests contain an example of every wall in walls.yaml."""
    assert {name for name, *_ in WALLS} == {found.name for found in load_walls()}


@pytest.mark.parametrize(("name", "status", "headers", "html"), WALLS)
def test_an_article_that_shows_a_walls_marks_is_an_article(
    name: str,  # noqa: ARG001 - the test has the parameters of WALLS
    status: int,  # noqa: ARG001
    headers: dict[str, str],
    html: bytes,
) -> None:
    """An article with status 200 is not a wall, even if it quotes a wall's HTML."""
    kept = {key: value for key, value in headers.items() if key == "server"}
    assert find_wall(200, kept, b"<html><body>" + ARTICLE + html) is None


@pytest.mark.parametrize("html", [b"<p>short", ARTICLE, b"<title>Just a moment...</title>"])
@pytest.mark.parametrize("status", [200, 404, 410, 500, 503])
def test_an_answer_of_a_protected_site_is_no_wall(status: int, html: bytes) -> None:
    """A page of a protected site is not a wall, although it contains the vendor's scripts."""
    scripts = b"<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"
    assert find_wall(status, {"server": "cloudflare", "cf-ray": "8"}, html + scripts) is None
    assert find_wall(200, {"x-datadome": "protected"}, html) is None


def test_an_article_behind_a_consent_banner_is_an_article() -> None:
    """An article is not a wall, although its head contains the script of a consent banner."""
    head = b"<head><script src='https://cdn.privacy-mgmt.com/unified/a.js'></script></head>"
    assert find_wall(200, {}, head + ARTICLE) is None


@pytest.mark.parametrize(
    "location",
    ["https://news.example/consent.google.com", "/a", "https://[", "https://xconsent.google.com/"],
)
def test_other_redirects_are_no_walls(location: str) -> None:
    """A redirect is a consent wall only if the host of its target is a consent host."""
    assert find_wall(302, {"location": location}, b"") is None


@pytest.mark.parametrize(
    "html", [b"", b"<" * MAX_WALL, b"<script>" * 9_000, b"<!--" * 16_000, bytes(range(256)) * 256]
)
def test_no_page_takes_long(html: bytes) -> None:
    """The search for walls is fast on any page, even on a page of repeated markup."""
    assert find_wall(200, {"server": "ddos-guard"}, html) is None
