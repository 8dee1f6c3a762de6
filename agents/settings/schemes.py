"""The URL key schemes that apply to a page: the current rules, and the former ones.

A change of the rules takes effect at a point in document time. So a replayed page gets the same key
as the first time. A document with a key of the former rules can still be found as long as the table
`seen` contains its record.
"""

from __future__ import annotations

from pathlib import Path

from agents.settings.job import Settings, SettingsError
from urltree.address.url_key import KeyScheme, UrlKey
from urltree.html.tokenizer import tokenize
from urltree.page import Page, microseconds


class Schemes:
    """The current key scheme and, after a change of the rules, the former one.

    Raises:
        SettingsError: A file of rules or hosts cannot be read, or its content is invalid.
    """

    def __init__(self, settings: Settings) -> None:
        self._since: int | None = None
        self._now: tuple[KeyScheme, ...] = (
            _load(settings.rules, settings.query, settings.shared_hosts),
        )
        if settings.rules_since is not None:
            self._since = microseconds(settings.rules_since)
            former = _load(
                settings.former_rules, settings.former_query, settings.former_shared_hosts
            )
            self._now = (*self._now, former)

    def of(self, page: Page) -> tuple[KeyScheme, ...]:
        """Return the schemes for a page; the first is the one that applied at the page's time.

        For a page without a time, the current scheme is the first.
        """
        if self._since is not None and page.time is not None and page.time < self._since:
            return self._now[::-1]
        return self._now

    def keys(self, page: Page) -> list[UrlKey]:
        """Return all URL keys that a page may have; the first is the one of the page's time.

        Raises:
            PageError: The page has no valid URL, or its title is needed and cannot be read.
        """

        def title() -> str | None:
            return page.title or tokenize(page.html, page.content_type).title

        return [scheme.key(page.final_url or "", title) for scheme in self.of(page)]

    def domain(self, url: str) -> str:
        """Return the registrable domain of a URL under the current scheme.

        Raises:
            PageError: `bad-url`.
        """
        return self._now[0].domain(url)


def _load(rules: Path | None, query: str, shared_hosts: Path | None) -> KeyScheme:
    try:
        return KeyScheme.load(_read(rules), query, _read(shared_hosts))  # type: ignore[arg-type]
    except OSError as error:
        raise SettingsError(f"a file of rules or shared hosts cannot be read: {error}") from error
    except ValueError as error:
        raise SettingsError(str(error)) from error


def _read(path: Path | None) -> str | None:
    return None if path is None else path.read_text(encoding="utf-8")
