"""Which key schemes read a page: rules that change take effect at a point in time.

The point is in document time, so that a replay is read as it was the first time. A document that
was seen under the former rules is still found, for as long as `seen` remembers it.
"""

from __future__ import annotations

from pathlib import Path

from agents.settings.job import Settings, SettingsError
from urltree.address.url_key import KeyScheme
from urltree.page import Page, microseconds


class Schemes:
    """The scheme in force and the one before it.

    Raises:
        SettingsError: a file cannot be read, or what is in it is wrong.
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
        """The scheme in force at the page's time first; now, where it has none."""
        if self._since is not None and page.time is not None and page.time < self._since:
            return self._now[::-1]
        return self._now

    def domain(self, url: str) -> str:
        """Registrable domain of an address that is to be asked now.

        Raises:
            PageError: `bad-url`.
        """
        return self._now[0].domain(url)


def _load(rules: Path | None, query: str, shared_hosts: Path | None) -> KeyScheme:
    try:
        return KeyScheme.load(_read(rules), query, _read(shared_hosts))  # type: ignore[arg-type]
    except (OSError, ValueError) as error:
        raise SettingsError(str(error)) from error


def _read(path: Path | None) -> str | None:
    return None if path is None else path.read_text(encoding="utf-8")
