"""A worker's memory for domains is limited; the least recently used domains are dropped."""

from __future__ import annotations

from agents.memory import Memory


def sizes(bound: int) -> Memory[list[int]]:
    """Return a memory of lists with this maximum size; the size of a list is its sum."""
    return Memory(bound, sum)


def test_the_least_recently_used_domains_go_when_the_bound_is_reached() -> None:
    """At the maximum size, the domain that was not used for longest is dropped, not the oldest."""
    memory = sizes(10)
    for domain in ("a", "b", "c"):
        memory.add(0, domain, [3])
    memory.get(0, "a")
    memory.add(0, "d", [4])
    assert [domain for domain in "abcd" if memory.get(0, domain)] == ["a", "c", "d"]
    assert memory.size == 10


def test_a_domain_that_grows_drives_others_out_but_stays_itself() -> None:
    """A domain that grows beyond the maximum size stays, and all other domains are dropped."""
    memory = sizes(10)
    memory.add(0, "a", [3])
    memory.add(0, "b", [3])
    grown = memory.get(0, "b")
    assert grown is not None
    grown.append(100)
    memory.measure(0, "b")
    assert memory.get(0, "a") is None
    assert memory.get(0, "b") is grown
    assert memory.size == 103


def test_partitions_are_kept_apart_and_what_is_dropped_is_gone() -> None:
    """A domain with records in two partitions has two entries; dropping one keeps the other."""
    memory = sizes(10)
    memory.add(0, "a", [1])
    memory.add(1, "a", [2])
    memory.drop(0, "a")
    memory.measure(0, "a")  # work that began before the drop may still call this
    assert memory.get(0, "a") is None
    assert memory.get(1, "a") == [2]
    assert memory.size == 2
    memory.clear()
    assert (memory.size, len(memory)) == (0, 0)
