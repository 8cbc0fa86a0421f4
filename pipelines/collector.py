"""Python's cyclic garbage collector during a run."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Containers that are made and not yet gone before the youngest of them are looked through. Rows and their answers in
# flight are some thousand; with Python's 700 the collector takes a tenth of a run's CPU time and finds next to nothing.
_CONTAINERS = 20_000


@contextmanager
def long_lived_modules() -> Iterator[None]:
    """Within it, the collector passes over what is there at its beginning (the modules and the pipeline), and comes
    more seldom. For the process that a run has to itself; afterwards all is as it was."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_CONTAINERS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
