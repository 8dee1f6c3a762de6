"""Measure the claims and write tables and curves into docs/: `python -m bench.claims`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from bench.claims import figures, tables
from bench.claims.curves import FOLDER, STORED, draw_stored
from bench.claims.variants import measure_site
from bench.pages import STREAMS
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.workspace import SUFFIX

DOCS = Path(__file__).parents[2] / "docs"


@click.command()
@click.argument("streams", type=click.Path(path_type=Path, file_okay=False), default=STREAMS)
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Number of sites that are measured at the same time.",
)
def main(streams: Path, processes: int) -> None:
    """Measure the paper's claims and write docs/claims.md and docs/claims/.

    STREAMS is a folder with a file SITE.jsonl.zst for each site.
    """
    files = sorted(streams.glob(f"*{SUFFIX}"), key=lambda file: -file.stat().st_size)
    if not files:
        raise click.ClickException(
            f"{streams} has no file SITE{SUFFIX}: pass a folder of streams with gold"
        )
    measured = track(
        map_unordered(measure_site, files, processes),
        "Measuring sites",
        len(files),
        console=Console(stderr=True),
    )
    sites = sorted(measured, key=lambda site: site.site)
    page = DOCS / "claims.md"
    text = page.read_text("utf-8")
    for name in ("learning", "sites_above", "heuristics", "windows"):
        text = _replace(text, name, getattr(tables, f"{name}_table")(sites))
    page.write_text(text, "utf-8")
    figures.save(figures.compute(sites), FOLDER / STORED)
    draw_stored()
    click.echo(text)


def _replace(text: str, name: str, table: str) -> str:
    """Replace the table between the comments `<!-- NAME -->` and `<!-- end -->` of a text."""
    marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    new, found = marked.subn(lambda match: match[1] + table + "\n" + match[2], text)
    if found != 1:
        sys.exit(
            f"docs/claims.md has {found} places for the table {name}, but should have one: "
            f"<!-- {name} --> … <!-- end -->"
        )
    return new


if __name__ == "__main__":
    main()
