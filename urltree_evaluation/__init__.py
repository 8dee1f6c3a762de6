"""Evaluation: measure any text extractor on any corpus, with the metrics of the literature.

    convert ──▶ corpora/ ──▶ extract ──▶ predictions/ ──▶ score ──▶ scores/ ──▶ report ──▶ report/

Each stage reads files and writes files, so each stage can be interrupted, continued and repeated
independently.
The method is from Kovačič, "Evaluating web content extraction algorithms", 2012 ("the thesis").
"""

from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.registry import DuplicatePage, single_page, stream

__all__ = ["CorpusPage", "DuplicatePage", "single_page", "stream"]
