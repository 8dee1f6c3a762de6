"""boilerpy3: a Python version of Boilerpipe, with all its variants."""

from __future__ import annotations

import logging
from functools import partial

from boilerpy3 import extractors

from urltree_evaluation.extractors.registry import single_page

# boilerpy3 logs each error that it also raises, so the log is discarded
logging.getLogger("boilerpy3").addHandler(logging.NullHandler())

_OPTIONS = "defaults; no option for comments and tables"
_VARIANTS = {
    "article": extractors.ArticleExtractor,
    "article-sentences": extractors.ArticleSentencesExtractor,
    "canola": extractors.CanolaExtractor,
    "default": extractors.DefaultExtractor,
    "keep-everything": extractors.KeepEverythingExtractor,
    "largest-content": extractors.LargestContentExtractor,
    "num-words-rules": extractors.NumWordsRulesExtractor,
}


def _text(boilerpipe: extractors.Extractor, html: str, url: str) -> str:  # noqa: ARG001
    text: str = boilerpipe.get_content(html)
    return text


for _variant, _make in _VARIANTS.items():
    single_page(f"boilerpy3-{_variant}", _OPTIONS, package="boilerpy3")(partial(_text, _make()))
