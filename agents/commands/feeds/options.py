"""Options of a source on the command line, and the record that they make.

    --kind, --content, …  ─▶ changes: fields of the record that were named
    followed feed ────────▶ fields  ─┴▶ merged ─▶ Feed

An option that is not named changes nothing. `none` removes a bound, a limit or credentials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from models.crawl.feed import Feed, decode
from models.record import SCHEMA, read_fields, write_fields
from urltree.crawl.decisions.poll.source_options import Content, SourceKind

Command = TypeVar("Command", bound=Callable[..., Any])

NONE = "none"


class OrNone(click.ParamType):
    """A value of another type, or the word `none`, which removes the value that was set before."""

    def __init__(self, of: click.ParamType) -> None:
        self._of = of
        self.name = of.name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any]:
        """Return a tuple with the value, or with None; the option's own None means not named."""
        if isinstance(value, tuple):
            return value
        if value == NONE:
            return (None,)
        return (self._of.convert(value, param, ctx),)


_SECONDS = OrNone(click.FloatRange(0, min_open=True))
_OPTIONS = (
    click.option(
        "--kind",
        type=click.Choice([kind.value for kind in SourceKind]),
        help="Kind of the source: a feed, a sitemap, or a section page whose links are followed. "
        "By default, the address is requested to find out its kind.",
    ),
    click.option(
        "--content",
        type=click.Choice([content.value for content in Content]),
        help="Source of the text: `page` fetches each page, `feed` takes the full text in the "
        "feed, `auto` compares both on five items.",
    ),
    click.option(
        "--interval-min",
        type=_SECONDS,
        metavar="SECONDS",
        help="Shortest interval between two polls; `none` for the setting of the job.",
    ),
    click.option(
        "--interval-max",
        type=_SECONDS,
        metavar="SECONDS",
        help="Longest interval between two polls; `none` for the setting of the job.",
    ),
    click.option("--pause/--resume", "paused", default=None, help="Stop polling, or go on."),
    click.option(
        "--only-new/--not-only-new",
        "only_new",
        default=None,
        help="Whether the items of the first poll count as seen and are not fetched.",
    ),
    click.option(
        "--first-poll-max",
        type=OrNone(click.IntRange(0)),
        metavar="N",
        help="Largest number of items that the first poll takes, the newest; `none` for no limit.",
    ),
    click.option(
        "--credentials",
        type=OrNone(click.STRING),
        metavar="NAME",
        help="Name of the file below `credentials_dir` with the user name and password or the "
        "token; `none` for a public source.",
    ),
    click.option(
        "--credentials-for-pages/--no-credentials-for-pages",
        "credentials_for_pages",
        default=None,
        help="Whether the credentials are sent with the pages of the source, too.",
    ),
)


def source_options(command: Command) -> Command:
    """Add the options of a source to a command, which takes them as keyword arguments."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def named_changes(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the record that were named on the command line.

    Args:
        options: keyword arguments that `source_options` has added to a command.
    """
    return {
        name: value[0] if isinstance(value, tuple) else value
        for name, value in options.items()
        if value is not None
    }


def option_fields(feed: Feed) -> dict[str, Any]:
    """Return the fields of the record of a feed that are options of its source."""
    fields = read_fields(feed.encode())
    return {name: value for name, value in fields.items() if name in OPTION_FIELDS}


def make_feed(site: str, url: str, changes: Mapping[str, Any], former: Feed | None = None) -> Feed:
    """Return a feed that workers will accept.

    Args:
        site: registrable domain of the feed.
        url: address of the feed.
        changes: fields of the record: `title`, `meta` and the options of the source. A field with
            the value None gets its default.
        former: the feed as it is followed now, whose other fields stay; None for a new feed.

    Raises:
        ValueError: options exclude each other.
        PageError: `malformed`: a field is invalid.
    """
    fields = {} if former is None else read_fields(former.encode())
    fields |= {**changes, "schema": SCHEMA}
    feed = decode(f"{site} {url}".encode(), write_fields(fields))
    _check(feed)
    return feed


def _check(feed: Feed) -> None:
    options = feed.options
    if options.kind is not SourceKind.FEED and options.content is not Content.PAGE:
        raise ValueError(
            f"--content {options.content} needs a feed; a {options.kind} contains no text of pages"
        )
    least, most = options.interval_min, options.interval_max
    if least is not None and most is not None and least > most:
        raise ValueError(
            f"--interval-min {least:g} is longer than --interval-max {most:g}; swap the two"
        )
    if options.are_credentials_for_pages and options.credentials is None:
        raise ValueError("--credentials-for-pages needs --credentials NAME")
    if options.credentials is not None and not feed.url.startswith("https://"):
        raise ValueError(
            f"--credentials needs an https address, because {feed.url} would send them unencrypted"
        )


OPTION_FIELDS = (
    *("kind", "content", "interval_min", "interval_max", "paused", "only_new", "first_poll_max"),
    *("credentials", "credentials_for_pages"),
)
