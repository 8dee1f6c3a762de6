"""Detect the language of a text with `py3langid`.

The language model is part of that package, so the same version gives the same results. The library
is maintained, has a BSD licence and 5 MB, depends only on numpy, and has no network code. For the
first text the model is loaded, which takes 1 s and 93 MB of memory.
"""

from __future__ import annotations

from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

# Characters of a text that are read. On 220 pages, more characters changed no result (measured).
# Each character takes 1 µs.
MAX_TEXT = 1_000
MIN_LETTERS = 20  # a text with fewer letters is too short
MIN_CONFIDENCE = 0.5  # the language must be more likely than all others together

_NONE = ("und", "zxx")  # ISO 639: undetermined, no linguistic content
_WRITTEN_AS_CHINESE = ("yue", "wuu")  # py3langid mistakes written Chinese (ISO 639: zh) for these


def classify_language(text: str) -> str | None:
    """Return the ISO 639 code of a text's language; None for a short or mixed text."""
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
