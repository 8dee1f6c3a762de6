"""Sites whose URLs have query parameters, as pages with the fields of JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from string import ascii_lowercase

HOST = "https://www.example.org"
_MENU = "".join(f"<p>{name}</p>" for name in ("Home", "News", "Sport", "Contact", "Imprint"))


def page(address: str, content: str, host: str = HOST) -> dict[str, str]:
    """Return a page with the menu of the site, and ten paragraphs that depend on `content`."""
    return {"url": host + address, "html": _MENU + "".join(paragraphs(content))}


def paragraphs(content: str) -> list[str]:
    """Return ten paragraphs of letters only, because block hashes ignore digits."""
    chance = Random(content)
    return [f"<p>{''.join(chance.choices(ascii_lowercase, k=20))}</p>" for _ in range(10)]


def stories(number: int) -> Iterator[dict[str, str]]:
    """Return each story three times: `id` names the story, `session` is new for each reader."""
    chance = Random(1)
    for story in range(number):
        for _ in range(3):
            session = chance.getrandbits(32)
            yield page(f"/story.php?id={story}&session={session:08x}", f"story {story}")


def lists(number: int) -> Iterator[dict[str, str]]:
    """Return pages of lists: `page` selects the entries of a list, `sort` only their order."""
    for name in range(number):
        for part in ("", "&page=2", "&page=3"):
            items = paragraphs(f"list {name} {part}")
            for at, order in enumerate(("date", "price", "title")):
                html = _MENU + "".join(items[at:] + items[:at])
                yield {"url": f"{HOST}/list/{name}/?sort={order}{part}", "html": html}
