"""Write articles in a language with words from the library faker; a seed decides the choice."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta

from faker import Faker

from demo.sites.article import Article, ArticlePart, Comment

_LATIN = str.maketrans({"ł": "l", "ß": "ss", "œ": "oe", "æ": "ae", "ø": "o"})
_SOUNDS = "a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh sch - y - e yu ya"
_CYRILLIC = dict(zip("абвгдеёжзийклмнопрстуфхцчшщъыьэюя", _SOUNDS.split(), strict=True))


class ArticleWriter:
    """Writer of articles in one language; each article has its own seed.

    Args:
        locale: locale of faker, which gives words and names.
        shape: writes the body for a kind of site.
    """

    def __init__(
        self, locale: str, shape: Callable[[ArticleWriter], tuple[ArticlePart, ...]]
    ) -> None:
        self._faker = Faker(locale)
        self._shape = shape
        self._chance = random.Random()

    def article(
        self, seed: str, number: int, section: str, published: datetime, *, comments: int
    ) -> Article:
        """Write an article with at most this number of comments."""
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
        """Return a random number from low to high, both included."""
        return self._chance.randint(low, high)

    def words(self, low: int, high: int) -> list[str]:
        """Return between `low` and `high` words."""
        return list(self._faker.words(self.between(low, high)))

    def headline(self) -> str:
        """Return a few words that begin with a capital letter and end without a full stop."""
        text = " ".join(self.words(4, 8))
        return text[0].upper() + text[1:]

    def sentence(self) -> str:
        """Return a sentence, with a comma if it is long."""
        words = self.words(6, 18)
        if len(words) > 10:
            words[4] += ","
        text = " ".join(words)
        return text[0].upper() + text[1:] + "."

    def sentences(self, low: int, high: int) -> str:
        """Return between `low` and `high` sentences as one line."""
        return " ".join(self.sentence() for _ in range(self.between(low, high)))

    def paragraph(self) -> ArticlePart:
        """Return a paragraph of two to five sentences."""
        return ArticlePart("p", (self.sentences(2, 5),))

    def paragraphs(self, low: int, high: int) -> tuple[ArticlePart, ...]:
        """Return between `low` and `high` paragraphs."""
        return tuple(self.paragraph() for _ in range(self.between(low, high)))

    def heading(self) -> ArticlePart:
        """Return a heading inside an article."""
        return ArticlePart("h2", (self.headline(),))

    def _comment(self, published: datetime) -> Comment:
        posted = published + timedelta(minutes=self.between(4, 600))
        return Comment(self._faker.first_name(), posted, self.sentences(1, 3))


def slug(title: str) -> str:
    """Return a title as part of a URL: ASCII letters joined by hyphens."""
    text = "".join(_CYRILLIC.get(letter, letter) for letter in title.lower()).translate(_LATIN)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
