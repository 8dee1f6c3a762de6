"""Safe output of text that other people wrote, such as titles and error messages."""


def escape_control(text: str) -> str:
    """Replace control characters: on a terminal they could move the cursor or hide text."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
