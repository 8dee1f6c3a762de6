"""Decoding: which evidence decides the encoding of a page, and that no bytes cause an error."""

from __future__ import annotations

import codecs
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.html.encoding import decode_html, is_binary, scrub

FRENCH = "L'été dernier, les élèves de Genève ont reçu des prix; c'était très agréable. " * 4
RUSSIAN = "Сегодня в Москве прошло заседание правительства, где обсуждались вопросы экономики. " * 4
CZECH = (
    "Vláda včera oznámila nová opatření proti krizi. Příliš žluťoučký kůň úpěl ďábelské ódy. " * 4
)
JAPANESE = "今日は東京で会議が開かれました。経済について話し合いました。" * 8
CHINESE = "今天在北京举行了会议。讨论了经济问题。" * 8


def page(text: str, head: str = "") -> str:
    """Return a page that contains this text."""
    return f"<html><head>{head}</head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("bom", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_decides_before_all(bom: bytes, codec: str) -> None:
    """A byte order mark overrides the HTTP header, and is not part of the text."""
    html = bom + page(RUSSIAN).encode(codec)
    assert decode_html(html, "text/html; charset=koi8-r") == page(RUSSIAN)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, CHINESE])
def test_utf_16_is_known_by_its_nuls(codec: str, text: str) -> None:
    """UTF-16 without a byte order mark is recognised by its NULs, and overrides the HTTP header."""
    assert decode_html(page(text).encode(codec), "text/html; charset=utf-8") == page(text)


def test_valid_utf_8_decides_before_what_is_declared() -> None:
    """Valid UTF-8 overrides declarations, because wrong declarations are common.

    Text in another encoding is rarely valid UTF-8 by chance.
    """
    html = page(RUSSIAN, '<meta charset="windows-1251">')
    assert decode_html(html.encode(), "text/html; charset=iso-8859-1") == html


def test_utf_8_may_be_cut_within_a_character() -> None:
    """UTF-8 that is cut within a character is still UTF-8; the half character becomes U+FFFD."""
    assert decode_html("Ünïcödé €".encode()[:-1], "text/html; charset=latin1") == "Ünïcödé \ufffd"


def test_half_a_character_alone_is_no_evidence_of_utf_8() -> None:
    """A last byte that may begin a UTF-8 character is no evidence of UTF-8 if it stands alone."""
    assert decode_html(b"caf\xe9", "text/html; charset=windows-1252") == "café"


def test_the_header_decides_before_meta() -> None:
    """The HTTP header overrides <meta>, as in browsers."""
    html = page(RUSSIAN, '<meta charset="koi8-r">')
    assert decode_html(html.encode("cp1251"), 'text/html; Charset="Windows-1251"') == html


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="iso-8859-5">',
        "<META CHARSET=iso-8859-5 />",
        '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-5">',
        '<!-- <meta charset="koi8-r"> --><meta charset="iso-8859-5">',
    ],
)
def test_meta_decides_where_the_header_says_nothing(head: str) -> None:
    """Without a charset in the HTTP header, <meta> decides.

    The <meta> must be in the first 1,024 bytes and outside comments.
    """
    html = page(RUSSIAN, head)
    assert decode_html(html.encode("iso-8859-5"), "text/html") == html


def test_an_xml_declaration_is_as_good_as_meta() -> None:
    """An XML declaration counts like <meta>, because XHTML declares its encoding there."""
    html = '<?xml version="1.0" encoding="iso-8859-5"?>' + page(RUSSIAN)
    assert decode_html(html.encode("iso-8859-5")) == html


def test_meta_beyond_1024_bytes_is_not_believed() -> None:
    """A <meta> after the first 1,024 bytes is ignored; the detector recognises Russian."""
    html = page(RUSSIAN, " " * 1_024 + '<meta charset="windows-1254">')
    assert decode_html(html.encode("cp1251")) == html


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (FRENCH, "cp1252"),
        (CZECH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (CHINESE, "gb18030"),
    ],
)
def test_a_detector_decides_where_nothing_is_declared(text: str, codec: str) -> None:
    """A detector decides if nothing is declared; scripts in the page do not mislead it."""
    html = page(text, "<script>" + "var a = 1;" * 2_000 + "</script>")
    assert decode_html(html.encode(codec)) == html


def test_windows_1252_comes_last() -> None:
    """If no other rule applies, the bytes are read as windows-1252."""
    assert decode_html(b"<p>\x93\xe9\x94") == "<p>“é”"


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("latin1", "“é”"),
        ("us-ascii", "“é”"),
        ("x-user-defined", "“é”"),
        ("iso-8859-15", "\x93é\x94"),
        ("utf-16", "“é”"),
        ("nonsense", "“é”"),
        ("hz-gb-2312", "“é”"),
        ("utf-7", "“é”"),
        ("é", "“é”"),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label: str, text: str) -> None:
    """Labels have their meaning in WHATWG Encoding, where `latin1` is windows-1252.

    An unknown label is ignored.
    """
    assert decode_html(b"\x93\xe9\x94", f"text/html; charset={label}") == text


@given(st.binary(max_size=3_000), st.none() | st.text(max_size=40))
def test_no_bytes_fail(html: bytes, content_type: str | None) -> None:
    """No bytes and no header cause an error, and the text can be encoded as UTF-8."""
    decode_html(html, content_type).encode()
    is_binary(html)


@pytest.mark.parametrize(
    "html",
    [
        random.Random(1).randbytes(10_000_000),
        bytes([0xE9]) * 10_000_000,
        b"<script " * 1_250_000 + b"\xe9",
        b"<" * 10_000_000 + b"\xe9",
        b"<meta " * 1_600_000 + b"\xe9",
    ],
    ids=["random", "one-byte", "scripts", "brackets", "metas"],
)
def test_10_mb_of_anything_take_bounded_time(html: bytes) -> None:
    """Decoding 10 MB of any bytes takes less than two seconds of CPU time."""
    began = time.process_time()
    decode_html(html)
    assert time.process_time() - began < 2


def test_text_has_no_lone_surrogates() -> None:
    """Lone surrogates become U+FFFD; a surrogate pair becomes the character that it encodes."""
    assert scrub("a\ud800b\udc00c\ud83d\ude00\ud800") == "a\ufffdb\ufffdc\U0001f600\ufffd"
    assert scrub("naïve \U0001f600") == "naïve \U0001f600"


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n",
        b"\x89PNG\r\n\x1a\n....",
        b"GIF89a....",
        b"\xff\xd8\xff\xe0..JFIF",
        b"PK\x03\x04....",
        b"\x1f\x8b\x08....",
        b"....ftypisom",
        b"plain words, then \x01",
        random.Random(2).randbytes(2_000),
    ],
)
def test_binary_data_is_no_page(data: bytes) -> None:
    """Files with a known signature or binary bytes are no pages (WHATWG MIME Sniffing)."""
    assert is_binary(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"plain words",
        b"\x1b$B iso-2022-jp",
        b"<!DOCTYPE html>\x00<p>",
        b" \n<p>a\x01b\x1f",
        codecs.BOM_UTF8 + b"\x01",
        page(RUSSIAN).encode("utf-16-le"),
        page(RUSSIAN).encode("cp1251"),
        b"a" * 1_445 + b"\x01",
    ],
)
def test_text_is_no_binary_data(data: bytes) -> None:
    """Text is no binary data, even if it is markup with control characters.

    Only the beginning of a page is checked.
    """
    assert not is_binary(data)
