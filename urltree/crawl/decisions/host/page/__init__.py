"""Decisions about a page that a host has sent: whether it is the page, and whether to keep it.

visible_text    the words of a page, and a digest that is equal for equal walls
page_ends       whether a page is published, held or refused, by where it ended and what it shows
host_pages      what is remembered about the last pages of a host
refresh         redirects by `meta refresh` or by the header Refresh
paywall         pages whose paid part is missing
reservations    noindex, noarchive, noai and TDM reservations
validators      ETag and Last-Modified of a page, for its next request
"""
