"""Writes articles in a language: words by faker, order by a seed, never by a clock."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta

from faker import Faker

from demo.sites.article import Article, Comment, Part

_LATIN = str.maketrans({"ł": "l", "ß": "ss", "œ": "oe", "æ": "ae", "ø": "o"})
_SOUNDS = "a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh sch - y - e yu ya"
_CYRILLIC = dict(zip("абвгдеёжзийклмнопрстуфхцчшщъыьэюя", _SOUNDS.split(), strict=True))


class Writer:
    """One language; each article begins from a seed of its own.

    Args:
        locale: of faker, which brings words and names.
        shape: writes the body that suits a site.
    """

    def __init__(self, locale: str, shape: Callable[[Writer], tuple[Part, ...]]) -> None:
        self._faker = Faker(locale)
        self._shape = shape
        self._chance = random.Random()

    def article(
        self, seed: str, number: int, section: str, published: datetime, *, comments: int
    ) -> Article:
        """Write an article with up to so many comments."""
        number_of_seed = random.Random(seed).getrandbits(64)
        self._faker.seed_instance(number_of_seed)
        self._chance.seed(number_of_seed)
        title = self.headline()
        return Article(
            number=number,
            section=section,
            slug=slug(title),
            title=title,
            author=self._faker.name(),
            published=published,
            summary=self.sentences(1, 2),
            parts=self._shape(self),
            comments=tuple(self._comment(published) for _ in range(self.between(0, comments))),
            tags=tuple(self._faker.words(self.between(2, 4))),
        )

    def between(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return self._chance.randint(low, high)

    def words(self, low: int, high: int) -> list[str]:
        """So many words."""
        return list(self._faker.words(self.between(low, high)))

    def headline(self) -> str:
        """A few words that begin with a capital and end without a stop."""
        text = " ".join(self.words(4, 8))
        return text[0].upper() + text[1:]

    def sentence(self) -> str:
        """A sentence, with a comma where it is long."""
        words = self.words(6, 18)
        if len(words) > 10:
            words[4] += ","
        text = " ".join(words)
        return text[0].upper() + text[1:] + "."

    def sentences(self, low: int, high: int) -> str:
        """So many sentences as one line."""
        return " ".join(self.sentence() for _ in range(self.between(low, high)))

    def paragraph(self) -> Part:
        """A paragraph of two to five sentences."""
        return Part("p", (self.sentences(2, 5),))

    def paragraphs(self, low: int, high: int) -> tuple[Part, ...]:
        """So many paragraphs."""
        return tuple(self.paragraph() for _ in range(self.between(low, high)))

    def heading(self) -> Part:
        """A heading inside an article."""
        return Part("h2", (self.headline(),))

    def _comment(self, published: datetime) -> Comment:
        posted = published + timedelta(minutes=self.between(4, 600))
        return Comment(self._faker.first_name(), posted, self.sentences(1, 3))


def slug(title: str) -> str:
    """A title as part of a URL: ASCII letters joined by hyphens."""
    text = "".join(_CYRILLIC.get(letter, letter) for letter in title.lower()).translate(_LATIN)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
