"""Measure heuristics on every generated stream: `python -m bench.hard_streams`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

import click
from rich.console import Console
from rich.progress import track

from bench.hard_streams.generators import SECTIONS, files_of, generator_names
from bench.hard_streams.measuring import GeneratorScore, StreamTask, measure_generators
from bench.pages import STREAMS
from urltree.heuristics.registry import DEFAULT
from urltree_evaluation.pool import map_unordered

# Small and large sites: blogs, news and release notes, in three scripts.
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
@click.option(
    "--sites",
    multiple=True,
    help="Name of a domain; `all` selects all domains. By default, six domains are used.",
)
@click.option(
    "--pages",
    type=click.IntRange(20),
    default=240,
    show_default=True,
    help="Number of pages of each site. The first pages of the site are used.",
)
@click.option(
    "--scored",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    help="Number of pages of each site that are scored.",
)
@click.option(
    "--generator",
    "generators",
    multiple=True,
    type=click.Choice(generator_names()),
    help="Name of a generator. By default, all generators are used.",
)
@click.option(
    "--heuristic",
    "heuristics",
    multiple=True,
    default=(DEFAULT,),
    show_default=True,
    help="Name of a heuristic to measure.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    default=("revisits=replace",),
    show_default=True,
    help="Argument of the Extractor, as NAME=VALUE. The generator live-blogs needs the default.",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Number of parallel processes.",
)
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
    """Measure heuristics on generated streams.

    STREAMS is a folder with a file SITE.jsonl.zst for each site. The streams are made from the
    pages in these files.
    """
    files = tuple(files_of(streams, () if "all" in sites else sites or SITES))
    if not files:
        raise click.ClickException(
            f"{streams} has no file SITE.jsonl.zst of these sites: pass a folder of streams"
        )
    chosen = [name for name in generator_names() if not generators or name in generators]
    more = dict(option.partition("=")[::2] for option in options)
    alone = tuple(name for name in chosen if name != SECTIONS)
    work = [StreamTask((file,), pages, scored, alone, tuple(heuristics), more) for file in files]
    if SECTIONS in chosen:
        merged = StreamTask(files, pages, scored * len(files), (SECTIONS,), tuple(heuristics), more)
        work.insert(0, merged)
    tasks = [task for task in work if task.generators]
    measured = track(
        map_unordered(measure_generators, tasks, processes),
        "Measuring sites",
        len(tasks),
        console=Console(stderr=True),
    )
    found = [score for scores in measured for score in scores]
    for line in result_lines(found, chosen, heuristics):
        click.echo(line)


def result_lines(
    found: Iterable[GeneratorScore], generators: Sequence[str], heuristics: Sequence[str]
) -> list[str]:
    """Return a line for each generator and heuristic, with means over sites and the worst site.

    `loss` is F1 with title on the real pages minus F1 with title on the generated pages.
    """
    grouped: dict[tuple[str, str], list[GeneratorScore]] = defaultdict(list)
    for each in found:
        grouped[each.generator, each.heuristic].append(each)
    lines = [
        _line(generator, heuristic, grouped[generator, heuristic])
        for generator in generators
        for heuristic in heuristics
        if (generator, heuristic) in grouped
    ]
    return [_HEADER, *lines]


def _line(generator: str, heuristic: str, sites: Sequence[GeneratorScore]) -> str:
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
