"""Tokens of elements: class names and ids that belong to a template are kept, others are not."""

import pytest

from urltree.html.elements import MAX_TOKENS, read_attributes


@pytest.mark.parametrize(
    "name", ["content", "col-md-6", "h2", "depth-1", "entry-content", "kommentár"]
)
def test_a_name_of_the_template_is_kept(name: str) -> None:
    """A class name that all pages of a template share is kept, even if it has a small number."""
    assert read_attributes({"class": name})[0] == (name,)


@pytest.mark.parametrize(
    "name",
    [
        "post-12",
        "postid-1234",
        "comment-7",
        "menu-item-45",
        "date20131027",
        "css-1q2w3e",
        "d41d8cd98f00b204e9800998ecf8427e",
        "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        "x" * 41,
    ],
)
def test_a_volatile_name_is_left_out(name: str) -> None:
    """A class name or id that differs between pages of one template is left out."""
    assert read_attributes({"class": f"a {name} b", "id": name})[0] == ("a", "b")


def test_classes_come_first_and_an_id_is_marked() -> None:
    """Class names come before the id, which gets the prefix `#`; a repeated name is kept once."""
    tokens, _ = read_attributes({"id": "main", "class": " wide\n main wide "})
    assert tokens == ("wide", "main", "#main")


def test_tokens_are_capped() -> None:
    """An element has at most MAX_TOKENS tokens, so that one element cannot fill a record."""
    tokens, _ = read_attributes({"class": " ".join(f"c{chr(n)}" for n in range(97, 123)) * 1000})
    assert len(tokens) == MAX_TOKENS


@pytest.mark.parametrize(
    ("attributes", "hidden"),
    [
        ({"hidden": ""}, True),
        ({"aria-hidden": "TRUE"}, True),
        ({"style": "color:red; Display : None"}, True),
        ({"aria-hidden": "false", "style": "display:block", "class": "hidden"}, False),
    ],
)
def test_an_element_says_of_itself_that_it_is_hidden(
    attributes: dict[str, str], *, hidden: bool
) -> None:
    """An element is hidden by its own attributes; style sheets and class names do not count."""
    assert read_attributes(attributes)[1] is hidden
