"""Who asks: whoever runs a crawler is to be reached by the people whose sites it reads."""

from __future__ import annotations

from agents.settings.job import Settings, SettingsError


def contact(settings: Settings) -> str:
    """The address that stands in the User-Agent; stages that ask the web do not start without.

    Raises:
        SettingsError: it is not set.
    """
    if not settings.contact:
        raise SettingsError(
            "contact: should be an address of mail or web where owners of sites reach you, such "
            "as URLTREE_CONTACT=https://example.org/crawler; poll and fetch do not start without it"
        )
    return settings.contact
