"""Feeds: when to ask whom, and what an answer means. Decides only; `agents` does.

    feed ──▶ due? ──▶ poll ──▶ answer ──▶ items, of them new ──▶ page ──▶ its host's turn? ──▶ fetch
           interval.py        caching.py  parsing.py, item.py           host_queues.py      host.py
           schedule.py        polling.py                                robots.py           walls.py

No Kafka, clock, chance or IO: `now` is an argument, seconds since 1970; jitter comes from hashes,
so that the same state always gives the same decision, and a simulation can run days in seconds.
"""
