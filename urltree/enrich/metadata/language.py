"""The language of a text, told by `py3langid`: its model is in the package, its answer is fixed.

Chosen among what is kept up to date (issue 6): BSD, 5 MB, numpy its only dependency, no network
code. Loading takes 1 s and 93 MB, at the first text.
"""

from __future__ import annotations

from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

# Characters that are looked at; more change no answer on 220 pages (measured), and cost 1 µs each.
MAX_TEXT = 1_000
MIN_LETTERS = 20
MIN_CONFIDENCE = 0.5  # more likely than all other languages together

_NONE = ("und", "zxx")  # ISO 639: undetermined, no linguistic content
_WRITTEN_AS_CHINESE = ("yue", "wuu")  # members of ISO 639's zh, which it mistakes for them


def classify_language(text: str) -> str | None:
    """The ISO 639 code of a text's language; None of a text that is too short or too mixed."""
    beginning = text[:MAX_TEXT]
    if sum(map(str.isalpha, beginning)) < MIN_LETTERS:
        return None
    language, _ = _identifier().classify(beginning)
    return None if language in _NONE else str(language)


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(
        MODEL_FILE, norm_probs=True, min_confidence=MIN_CONFIDENCE
    )
    identifier.set_languages(set(identifier.labels).difference(_WRITTEN_AS_CHINESE))
    return identifier
