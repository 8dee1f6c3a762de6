"""newspaper4k: articles of newspapers."""

from __future__ import annotations

from newspaper import Article

from urltree.evaluation.extractors.registry import single_page

_NOWHERE = "https://page.invalid/"  # RFC 2606; it refuses a page without URL


@single_page(
    "newspaper4k", "defaults, the page's language; no downloads of images", package="newspaper4k"
)
def extract(html: str, url: str) -> str:
    """It has no options for comments and tables.

    With images it would ask their sites for their sizes.
    """
    article = Article(url or _NOWHERE, fetch_images=False, follow_meta_refresh=False)
    text: str = article.download(input_html=html, ignore_read_more=True).parse().text
    return text
