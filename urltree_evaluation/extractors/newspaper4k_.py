"""newspaper4k: articles of newspapers."""

from __future__ import annotations

import logging

from newspaper import Article

from urltree_evaluation.extractors.registry import single_page

# jieba, which splits Chinese, says on stderr that it reads its dictionary
logging.getLogger("jieba").addFilter(lambda _: False)

_NOWHERE = "https://page.invalid/"  # RFC 2606; it refuses a page without URL


@single_page(
    "newspaper4k",
    "the page's own language, no images; no option for comments and tables",
    package="newspaper4k",
)
def extract(html: str, url: str) -> str:
    """Its defaults, but for images: it would ask their sites for their sizes."""
    article = Article(url or _NOWHERE, fetch_images=False, follow_meta_refresh=False)
    text: str = article.download(input_html=html, ignore_read_more=True).parse().text
    return text
