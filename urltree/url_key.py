"""Public import path of `KeyScheme`, for programs that publish pages to the topic raw-html."""

from urltree.address.url_key import KeyScheme

__all__ = ["KeyScheme"]
