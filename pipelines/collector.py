"""Python's cyclic garbage collector during a run."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Containers that are made and not yet gone before the youngest of them are looked through. Rows and their answers in
# flight are some thousand; with Python's 700 the collector takes a tenth of a run's CPU time and finds next to nothing.
_CONTAINERS = 20_000


@contextmanager
def long_lived_modules() -> Iterator[None]:
    """Within it, the collector passes over what is there at its beginning (the modules), and comes
    more seldom. For the process that a run has to itself; afterwards it comes as often as before and passes over
    nothing. Where it is off or more seldom already, as in a second run beside the first, it stays as it is."""
    thresholds = gc.get_threshold()
    if not 0 < thresholds[0] < _CONTAINERS:
        yield
        return
    gc.freeze()
    gc.set_threshold(_CONTAINERS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
