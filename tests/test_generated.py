"""Generated files agree with the files that they are generated from."""

from __future__ import annotations

from deploy.tools.generate import differing, generated


def test_generated_files_are_current() -> None:
    """Every file that `make generate` writes without helm has the content that it would write."""
    changed = differing(generated())
    assert changed == [], f"run make generate: {', '.join(changed)} would change"
