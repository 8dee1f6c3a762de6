"""`python -m bench.hard_streams`: F1 of heuristics on every generator, and what each costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

import click

from bench.hard_streams.generators import SECTIONS, files_of, names
from bench.hard_streams.measuring import Measured, Work, measure
from bench.pages import STREAMS
from urltree.heuristics.registry import DEFAULT
from urltree_evaluation.pool import map_unordered

# small and large, a blog, news, release notes, three scripts
SITES = (
    "blog.johnsonlu.org",
    "blog.rust-lang.org",
    "freepressokc.com",
    "izquierdahispanica.org",
    "konnov.name",
    "partito-pirata.it",
)
_HEADER = (
    f"{'generator':25} {'heuristic':12} {'pages':>5} {'ceiling':>7}"
    f" {'F1':>6} {'+title':>6} {'loss':>6}   worst site"
)


@click.command()
@click.argument("streams", type=click.Path(path_type=Path, file_okay=False), default=STREAMS)
@click.option("--sites", multiple=True, help="Names of domains; six by default, `all` for all.")
@click.option("--pages", type=click.IntRange(20), default=240, show_default=True, help="Of a site.")
@click.option("--scored", type=click.IntRange(1), default=40, show_default=True, help="Of a site.")
@click.option("--generator", "generators", multiple=True, type=click.Choice(names()))
@click.option("--heuristic", "heuristics", multiple=True, default=(DEFAULT,), show_default=True)
@click.option(
    "--option",
    "options",
    multiple=True,
    default=("revisits=replace",),
    show_default=True,
    help="Of the Extractor; live blogs need this one.",
)
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True)
def main(  # noqa: PLR0913 - one parameter an option
    *,
    streams: Path,
    sites: Sequence[str],
    pages: int,
    scored: int,
    generators: Sequence[str],
    heuristics: Sequence[str],
    options: Sequence[str],
    processes: int,
) -> None:
    """Measure heuristics on what generators make of STREAMS, a folder of a .jsonl.zst a site."""
    files = tuple(files_of(streams, () if "all" in sites else sites or SITES))
    if not files:
        raise click.ClickException(f"no streams with gold at {streams}")
    chosen = [name for name in names() if not generators or name in generators]
    more = dict(option.partition("=")[::2] for option in options)
    alone = tuple(name for name in chosen if name != SECTIONS)
    work = [Work((file,), pages, scored, alone, tuple(heuristics), more) for file in files]
    if SECTIONS in chosen:
        merged = Work(files, pages, scored * len(files), (SECTIONS,), tuple(heuristics), more)
        work.insert(0, merged)
    found: list[Measured] = []
    for done in map_unordered(measure, [each for each in work if each.generators], processes):
        found += done
        click.echo(".", err=True, nl=False)
    click.echo("", err=True)
    for line in table(found, chosen, heuristics):
        click.echo(line)


def table(
    found: Iterable[Measured], generators: Sequence[str], heuristics: Sequence[str]
) -> list[str]:
    """A line for each generator and heuristic: means over sites, and the site that is worst.

    `loss` is what the generator costs: F1 with title of the same pages as they really came, less
    that of the generated ones.
    """
    grouped: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for each in found:
        grouped[each.generator, each.heuristic].append(each)
    lines = [
        _line(generator, heuristic, grouped[generator, heuristic])
        for generator in generators
        for heuristic in heuristics
        if (generator, heuristic) in grouped
    ]
    return [_HEADER, *lines]


def _line(generator: str, heuristic: str, sites: Sequence[Measured]) -> str:
    worst = min(sites, key=lambda site: site.titled)
    best, f1, titled, without = (
        fmean(getattr(site, figure) for site in sites)
        for figure in ("ceiling", "f1", "titled", "titled_without")
    )
    return (
        f"{generator:25} {heuristic:12} {sum(site.pages for site in sites):5} {best:7.4f}"
        f" {f1:6.4f} {titled:6.4f} {without - titled:+6.4f}   {worst.titled:.4f} {worst.site}"
    )


if __name__ == "__main__":
    main()
