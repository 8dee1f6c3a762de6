"""Write the report on a heuristic's quality: `python -m bench.quality`."""

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
from bench.quality.markdown import QualityResult
from bench.quality.passes import PageF1, score_streams
from bench.quality.refit.halves import refit
from bench.quality.refit.site import PAGES as REFIT_PAGES
from bench.quality.single_pages import PAGES, Alone, existing_corpora, single_pages
from bench.quality.variant import NAMES, Variant, evidence_of
from bench.quality.without import without_names, without_titles
from urltree.heuristics.registry import DEFAULT

ROWS = ("1", "2", "3", "4", "5", "6", "8", "9")


@click.command()
@click.argument("streams", type=click.Path(path_type=Path, file_okay=False), default=STREAMS)
@click.option(
    "--rows",
    default=",".join(ROWS),
    show_default=True,
    help="Sections of the report, separated by commas: 1 streams, 2 another extractor, 3 without "
    "titles, 4 without names, 5 fitted again, 6 first pages, 8 single pages, 9 each kind of "
    "evidence left out.",
)
@click.option(
    "--heuristic", default=DEFAULT, show_default=True, help="Name of the heuristic to measure."
)
@click.option(
    "--option", "options", multiple=True, help="Argument of the Extractor, as NAME=VALUE."
)
@click.option(
    "--sites",
    multiple=True,
    help="Name of a domain to measure. By default, all domains are measured.",
)
@click.option(
    "--pages",
    type=click.IntRange(1),
    help="Number of pages that are read from the start of each stream. By default, sections 5 and "
    "9 read a part of each stream, and the other sections read all pages.",
)
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("build/quality"),
    show_default=True,
    help="Folder in which the texts of other extractors are stored for the next run.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to which the report is also written, as Markdown.",
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
    rows: str,
    heuristic: str,
    options: Sequence[str],
    sites: Sequence[str],
    pages: int | None,
    work: Path,
    out: Path | None,
    processes: int,
) -> None:
    """Measure a heuristic on STREAMS, a folder of streams.

    The exit code is 1 if a result misses its limit.
    """
    chosen = rows.split(",")
    if unknown := [row for row in chosen if row not in ROWS]:
        raise click.BadParameter(
            f"--rows: unknown section {', '.join(unknown)}; choose from {', '.join(ROWS)}"
        )
    files = files_of(streams, sites)
    if not files:
        raise click.ClickException(
            f"{streams} has no file SITE.jsonl.zst of these sites: pass a folder of streams"
        )
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
        click.echo("results that miss their bar:\n  " + "\n  ".join(missed), err=True)
    sys.exit(1 if missed else 0)


def _value(text: str) -> Any:
    """Return the value of an option: parsed JSON, or the text itself if it is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


@dataclass(frozen=True)
class Bench:
    """The measurements that several sections share.

    Attributes:
        files: files of the streams.
        variant: heuristic with all of its inputs.
        options: additional arguments for the Extractor.
        pages: number of pages that are read from the start of each stream; None means all
            pages, or a smaller number in sections 5 and 9.
        work: folder for texts of other extractors.
        processes: number of parallel processes.
    """

    files: tuple[Path, ...]
    variant: Variant
    options: dict[str, Any]
    pages: int | None
    work: Path
    processes: int

    def answers(self, rows: Sequence[str]) -> Iterator[QualityResult]:
        """Yield the chosen sections in order, each one as soon as it is measured."""
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
        if "8" in rows and (files := existing_corpora(PAGES)):
            more = {**self.options, "heuristic": self.variant.heuristic}
            alone = [Alone(file, more, self.work, self.pages) for file in files]
            yield single_pages(alone, self.processes)
        if "9" in rows and self.pieces:
            yield self.ablation()

    def ablation(self) -> QualityResult:
        """Measure section 9, in which each kind of evidence is left out in turn."""
        variants = [self.variant.without(piece) for piece in self.pieces]
        scores = self._follow([self.variant, *variants], self.pages or ablation.STREAM_PAGES)
        sites = [file for file in self.files if file.name.startswith(ablation.SITES)]
        heuristics = [variant.heuristic for variant in (self.variant, *variants)]
        generated = ablation.on_generated(sites, heuristics, self.processes)
        return ablation.ablation(self.variant, self.pieces, scores, generated)

    @cached_property
    def own(self) -> list[PageF1]:
        """The scores of the heuristic with all of its inputs."""
        return self.scores(self.variant)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The kinds of evidence that can be left out of the heuristic."""
        return evidence_of(self.variant.heuristic)

    def scores(self, variant: Variant) -> list[PageF1]:
        """Return the scores of a variant on all streams."""
        return self._follow([variant], self.pages)[variant]

    def _follow(
        self, variants: Sequence[Variant], pages: int | None
    ) -> dict[Variant, list[PageF1]]:
        return score_streams(
            self.files,
            variants,
            pages=pages,
            options=self.options,
            processes=self.processes,
        )


if __name__ == "__main__":
    main()
