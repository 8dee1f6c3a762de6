"""Public name of the key scheme: `urltree.url_key.KeyScheme`, for publishers of raw HTML."""

from urltree.address.url_key import KeyScheme

__all__ = ["KeyScheme"]
