"""The Kafka job: Faust workers and operator commands.

This package only moves data. All decisions are in the package `urltree`.
"""

import os
import signal
import sys

# Linux does not deliver a signal to process 1 of a container unless the process handles it.
# Without this handler, a pod that is deleted during the imports of Python would ignore SIGTERM, and
# Kubernetes would kill it later (measured: after 40 s). Workers later install their own handler.
if os.getpid() == 1:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
