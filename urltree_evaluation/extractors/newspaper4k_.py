"""newspaper4k: extracts articles of newspapers."""

from __future__ import annotations

import logging

from newspaper import Article

from urltree_evaluation.extractors.registry import single_page

# jieba, which splits Chinese text into words, logs to stderr when it loads its dictionary
logging.getLogger("jieba").addFilter(lambda _: False)

_NOWHERE = (
    "https://page.invalid/"  # a reserved domain (RFC 2606), because newspaper4k requires a URL
)


@single_page(
    "newspaper4k",
    "the page's own language, no images; no option for comments and tables",
    package="newspaper4k",
)
def extract(html: str, url: str) -> str:
    """Return the article with default options, except that image sizes are not requested."""
    article = Article(url or _NOWHERE, fetch_images=False, follow_meta_refresh=False)
    text: str = article.download(input_html=html, ignore_read_more=True).parse().text
    return text
