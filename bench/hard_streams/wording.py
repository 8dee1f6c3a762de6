"""Invented text for insertions: offers, consent banners, biographies."""

from __future__ import annotations

from random import Random


def _paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, which blank lines separate."""
    return tuple(" ".join(part.split()) for part in text.split("\n\n"))


CONSENT = (
    _paragraphs(
        """We value your privacy

        We and our {partners} partners store and read information on your device, such as cookies
        and identifiers, to show you advertisements and content that suit you, to measure them, and
        to learn about those who see them.

        You may agree to this or refuse it, and change your mind at any time by the link at the
        bottom of every page. Some of our partners do not ask and rely on a legitimate interest; you
        may object to that, too.

        Accept all

        More choices"""
    ),
    _paragraphs(
        """Ihre Privatsphäre ist uns wichtig

        Wir und unsere {partners} Partner speichern Informationen auf Ihrem Gerät und lesen sie aus,
        etwa Cookies und Kennungen, um Ihnen passende Werbung und Inhalte zu zeigen, deren Erfolg zu
        messen und mehr über unser Publikum zu erfahren.

        Sie können zustimmen oder ablehnen und Ihre Wahl jederzeit über den Verweis am Ende jeder
        Seite ändern. Manche Partner berufen sich auf ein berechtigtes Interesse; auch dem können
        Sie widersprechen.

        Alle annehmen

        Mehr Auswahl"""
    ),
    _paragraphs(
        """Votre vie privée nous importe

        Avec nos {partners} partenaires, nous conservons et lisons des informations sur votre
        appareil, comme des cookies et des identifiants, afin de vous proposer des publicités et des
        contenus adaptés, d'en mesurer l'effet et de mieux connaître notre public.

        Vous pouvez accepter, refuser, et changer d'avis à tout moment par le lien au bas de chaque
        page. Certains partenaires invoquent un intérêt légitime ; vous pouvez aussi vous y opposer.

        Tout accepter

        Autres choix"""
    ),
)

OFFERS = (
    _paragraphs(
        """Read on with a subscription

        The whole article is for subscribers. Four weeks for {price} euro, then 9.90 a month; you
        may end it whenever you like.

        Already a subscriber? Sign in"""
    ),
    _paragraphs(
        """You have read all your free articles of this month

        Subscribe now for {price} euro and read everything, on all your devices, with the crossword
        and the weekend edition.

        Subscribe"""
    ),
    _paragraphs(
        """Good journalism costs money

        Support our newsroom: with {price} euro a month you make our work possible and read without
        advertisements.

        See all offers"""
    ),
)

_SYLLABLES = ("ba", "de", "ka", "lo", "mi", "nor", "ra", "sen", "ti", "vel", "wy", "zu")
_SUBJECTS = ("courts", "elections", "football", "health", "housing", "music", "schools", "trade")


def biography(random: Random) -> str:
    """Return two sentences about an invented author."""
    name = " ".join("".join(random.choices(_SYLLABLES, k=3)).capitalize() for _ in range(2))
    first, second, third = random.sample(_SUBJECTS, 3)
    year = random.randint(1990, 2015)
    return (
        f"{name} has written about {first} and {second} since {year}, and before that reported on"
        f" {third} for a regional newspaper. Write to {name.split()[0]} with questions and hints."
    )
