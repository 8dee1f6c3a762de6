"""`python -m bench.claims [STREAMS]`: measure, and write tables and curves into docs/."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from bench.claims import tables
from bench.claims.curves import draw
from bench.claims.variants import SiteF1, follow
from bench.pages import STREAMS
from urltree_evaluation.pool import map_unordered
from urltree_evaluation.workspace import SUFFIX

DOCS = Path(__file__).parents[2] / "docs"


@click.command()
@click.argument("streams", type=click.Path(path_type=Path, file_okay=False), default=STREAMS)
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True)
def main(streams: Path, processes: int) -> None:
    """Measure the paper's claims on STREAMS, a folder of a .jsonl.zst a site."""
    files = sorted(streams.glob(f"*{SUFFIX}"), key=lambda file: -file.stat().st_size)
    if not files:
        raise click.ClickException(f"no streams with gold at {streams}")
    sites: list[SiteF1] = []
    for site in map_unordered(follow, files, processes):
        sites.append(site)
        click.echo(f"{len(sites)} of {len(files)}: {site.site}, {site.f1.shape[1]} pages", err=True)
    sites.sort()
    page = DOCS / "claims.md"
    text = page.read_text("utf-8")
    for name in ("learning", "sites_above", "heuristics", "windows"):
        text = _replace(text, name, getattr(tables, name)(sites))
    page.write_text(text, "utf-8")
    draw(sites, DOCS / "claims")
    click.echo(text)


def _replace(text: str, name: str, table: str) -> str:
    """The text with what stands between a table's two comments replaced."""
    marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    new, found = marked.subn(lambda match: match[1] + table + "\n" + match[2], text)
    if found != 1:
        sys.exit(f"docs/claims.md has {found} places for the table {name}, not 1")
    return new


if __name__ == "__main__":
    main()
