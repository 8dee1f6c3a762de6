"""The language of a text, detected by `py3langid`.

The model is part of the package, so results are fixed. The library was chosen among maintained
ones: BSD licence, 5 MB, numpy as its only dependency, no network code. Loading the model takes 1 s
and 93 MB, at the first text.
"""

from __future__ import annotations

from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

# Characters that are read. More characters change no result on 220 pages (measured), and take 1 µs
# each.
MAX_TEXT = 1_000
MIN_LETTERS = 20
MIN_CONFIDENCE = 0.5  # the language is more likely than all others together

_NONE = ("und", "zxx")  # ISO 639: undetermined, no linguistic content
_WRITTEN_AS_CHINESE = ("yue", "wuu")  # py3langid mistakes written Chinese (ISO 639: zh) for these


def classify_language(text: str) -> str | None:
    """Return the ISO 639 code of a text's language, None if the text is too short or too mixed."""
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
