"""Decisions of the crawler: when to send a request to which host, and what the response means.

    feed ──▶ due? ──▶ poll ──▶ response ──▶ items ──▶ new items ──▶ page ──▶ host ready? ──▶ fetch
            poll/interval.py    caching.py    feed/parsing.py           host/host_queues.py
            poll/schedule.py    poll/         feed/item.py              host/host_state.py
                                transition.py poll/seen_items.py        host/robots.py, walls.py

Sitemaps and section pages are sources beside feeds; `source/` reads them and finds what is new.

These modules only decide. The stages in `agents` send the requests and store the results.

The modules use no Kafka, clock, randomness or IO. The time `now` is an argument, in seconds since
1970, and jitter comes from hashes. So the same state always leads to the same decision, and a
simulation runs days of polls in seconds.
"""
