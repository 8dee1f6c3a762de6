"""Evaluation: measure any extractor on any corpus, as the literature does (issue 5).

    convert ──▶ corpora/ ──▶ extract ──▶ predictions/ ──▶ score ──▶ scores/ ──▶ report ──▶ report/

Each stage reads files and writes files, so that each can be stopped, continued and repeated alone.
Method: Kovačič, "Evaluating web content extraction algorithms", 2012.
"""

from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.registry import DuplicatePage, single_page, stream

__all__ = ["CorpusPage", "DuplicatePage", "single_page", "stream"]
