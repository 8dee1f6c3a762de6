"""A paywall stub says that it is not free, lacks its paid part, and has little text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from urltree.crawl.decisions.host.page.paywall import is_paywall_stub

TEASER = "<p>The council has voted on the bridge.</p>"
LONG = "<p>" + "The council has voted on the bridge. " * 15 + "</p>"
PAID: dict[str, Any] = {"@type": "NewsArticle", "isAccessibleForFree": False}
PART: dict[str, Any] = {
    "@type": "WebPageElement",
    "isAccessibleForFree": "False",
    "cssSelector": ".paid",
}


def page(said: Any, body: str) -> bytes:
    """Return a page with JSON-LD, and with much text that is not its body."""
    script = f'<script type="application/ld+json">{json.dumps(said)}</script>'
    around = "<nav>" + "<a>Section</a> with words " * 60 + "</nav>"
    return f"<head>{script}</head><body>{around}<main>{body}</main>".encode()


@pytest.mark.parametrize(
    "said",
    [
        PAID,
        [{"@type": "WebSite"}, PAID],
        {"@graph": [{"@type": "WebPage", "isAccessibleForFree": True}, PAID]},
        PAID | {"hasPart": PART},
        PAID | {"hasPart": [PART, PART | {"cssSelector": "#more, div.story .rest"}]},
        PAID | {"isAccessibleForFree": "http://schema.org/False"},
    ],
)
def test_a_page_without_its_paid_part_is_a_stub(said: Any) -> None:
    """A page is a stub in each form of JSON-LD that says that it is not free."""
    assert is_paywall_stub(page(said, TEASER))
    assert is_paywall_stub(page(said, TEASER + "<div class='paid'> </div><div id=more></div>"))


@pytest.mark.parametrize(
    "said",
    [
        {"@type": "NewsArticle"},
        PAID | {"isAccessibleForFree": True},
        PAID | {"isAccessibleForFree": "True", "hasPart": {"name": "isAccessibleForFree"}},
        {"text": "isAccessibleForFree false"},
        PAID | {"hasPart": PART | {"cssSelector": "div:nth-child(2)"}},
    ],
)
def test_a_page_that_does_not_say_so_is_no_stub(said: Any) -> None:
    """A short page is no stub if it is free, or if its paid part cannot be found."""
    assert not is_paywall_stub(page(said, TEASER))


@pytest.mark.parametrize(
    "body",
    [
        LONG,
        TEASER + "<div class='box paid'><p>The rest.</p></div>",
        TEASER + "<div style='display:none' class='paid'>The rest.</div>",
        "桥" * 200,
    ],
)
def test_a_page_with_its_text_is_no_stub(body: str) -> None:
    """A page that has its paid part, or a hundred words, is no stub, although it hides them."""
    assert not is_paywall_stub(page(PAID | {"hasPart": PART}, body))


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"isAccessibleForFree":' * 9_000, "<p>" * 9])
def test_no_json_ld_takes_long(text: str) -> None:
    """Damaged and deep JSON-LD is no stub."""
    script = f"<script type='application/ld+json'>{text}</script>isAccessibleForFree"
    assert not is_paywall_stub(script.encode())
