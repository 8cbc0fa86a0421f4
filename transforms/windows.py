"""What is counted over the whole log, whatever windows a pipeline has put its elements into."""

from typing import TypeVar

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows

T = TypeVar("T")


def in_one_window(elements: beam.PCollection[T]) -> beam.PCollection[T]:
    """`elements` in the global window; as they are where they already stand in it, since windowing costs each of them
    as much as a small stage."""
    if elements.windowing.is_default():
        return elements
    joined: beam.PCollection[T] = elements | "OneWindow" >> beam.WindowInto(GlobalWindows())
    return joined
