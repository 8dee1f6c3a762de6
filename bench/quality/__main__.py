"""`python -m bench.quality`: the rows of issue 6 that are about quality, each beside its bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import orjson

from bench.hard_streams.generators import files_of
from bench.pages import STREAMS
from bench.quality import ablation, peers
from bench.quality.against import PEER, against
from bench.quality.level import level, positions
from bench.quality.markdown import Answer
from bench.quality.passes import PageF1, follow_all
from bench.quality.refit.halves import refit
from bench.quality.refit.site import PAGES as REFIT_PAGES
from bench.quality.single_pages import PAGES, Alone, corpora, single_pages
from bench.quality.variant import NAMES, Variant, evidence_of
from bench.quality.without import without_names, without_titles
from urltree.heuristics.registry import DEFAULT

ROWS = ("1", "2", "3", "4", "5", "6", "8", "9")


@click.command()
@click.argument("streams", type=click.Path(path_type=Path, file_okay=False), default=STREAMS)
@click.option("--rows", default=",".join(ROWS), show_default=True, help="Of issue 6.")
@click.option("--heuristic", default=DEFAULT, show_default=True)
@click.option("--option", "options", multiple=True, help="NAME=VALUE, of the Extractor.")
@click.option("--sites", multiple=True, help="Names of domains; all by default.")
@click.option("--pages", type=click.IntRange(1), help="Of each site, from its first on.")
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("build/quality"),
    show_default=True,
    help="Keeps texts of other extractors.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also written here.")
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True)
def main(  # noqa: PLR0913 - one parameter an option
    *,
    streams: Path,
    rows: str,
    heuristic: str,
    options: Sequence[str],
    sites: Sequence[str],
    pages: int | None,
    work: Path,
    out: Path | None,
    processes: int,
) -> None:
    """Hold a heuristic to the bars on STREAMS, a folder of streams; exit 1 where one is missed."""
    chosen = rows.split(",")
    if unknown := [row for row in chosen if row not in ROWS]:
        raise click.BadParameter(f"no row {', '.join(unknown)}; there are {', '.join(ROWS)}")
    files = files_of(streams, sites)
    if not files:
        raise click.ClickException(f"no streams with gold at {streams}")
    more = {name: _value(text) for name, _, text in (each.partition("=") for each in options)}
    bench = Bench(tuple(files), Variant(heuristic), more, pages, work, processes)
    text, missed = f"# Quality of `{heuristic}`\n\n", []
    for answer in bench.answers(chosen):
        text += f"{answer}\n"
        missed += [f"{answer.title}: {name}" for name in answer.missed]
        click.echo(f"{answer}\n")
        if out is not None:
            out.write_text(text, "utf-8")
    if missed:
        click.echo("bars missed:\n  " + "\n  ".join(missed), err=True)
    sys.exit(1 if missed else 0)


def _value(text: str) -> Any:
    """What an option is put to: JSON, or a text as it stands."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


@dataclass(frozen=True)
class Bench:
    """What is measured once for several rows.

    Attributes:
        options: more arguments of the Extractor.
        pages: of each site, so many at most; None is all.
        work: a folder for texts of other extractors.
    """

    files: tuple[Path, ...]
    variant: Variant
    options: dict[str, Any]
    pages: int | None
    work: Path
    processes: int

    def answers(self, rows: Sequence[str]) -> Iterator[Answer]:
        """The rows in the order of the issue, each as soon as it is measured."""
        if "1" in rows:
            yield level(self.own)
        if "2" in rows:
            theirs = peers.peer_scores(self.files, PEER, self.work, self.pages, self.processes)
            yield against(self.own, theirs)
        if "3" in rows:
            yield without_titles(self.own, self.scores(self.variant._replace(is_titled=False)))
        if "4" in rows and NAMES in self.pieces:
            yield without_names(self.own, self.scores(self.variant.without(NAMES)))
        if "5" in rows and self.pieces:
            yield refit(self.files, self.processes, self.pages or REFIT_PAGES)
        if "6" in rows:
            yield positions(self.own)
        if "8" in rows and (files := corpora(PAGES)):
            more = {**self.options, "heuristic": self.variant.heuristic}
            alone = [Alone(file, more, self.work, self.pages) for file in files]
            yield single_pages(alone, self.processes)
        if "9" in rows and self.pieces:
            yield self.ablation()

    def ablation(self) -> Answer:
        """Row 9."""
        variants = [self.variant.without(piece) for piece in self.pieces]
        scores = self._follow([self.variant, *variants], self.pages or ablation.STREAM_PAGES)
        sites = [file for file in self.files if file.name.startswith(ablation.SITES)]
        heuristics = [variant.heuristic for variant in (self.variant, *variants)]
        generated = ablation.on_generated(sites, heuristics, self.processes)
        return ablation.ablation(self.variant, self.pieces, scores, generated)

    @cached_property
    def own(self) -> list[PageF1]:
        """Scores of the heuristic as it is."""
        return self.scores(self.variant)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """What may be left out of it."""
        return evidence_of(self.variant.heuristic)

    def scores(self, variant: Variant) -> list[PageF1]:
        """Scores of a variant."""
        return self._follow([variant], self.pages)[variant]

    def _follow(
        self, variants: Sequence[Variant], pages: int | None
    ) -> dict[Variant, list[PageF1]]:
        return follow_all(
            self.files,
            variants,
            pages=pages,
            options=self.options,
            processes=self.processes,
        )


if __name__ == "__main__":
    main()
