"""Counting over the whole log: elements come into one window, and only where they are in several."""

import apache_beam as beam
from apache_beam.transforms.window import FixedWindows, GlobalWindows

from beamjudge.transforms.windows import in_one_window


def test_elements_of_one_window_pass_no_further_stage() -> None:
    pipeline = beam.Pipeline()
    elements = pipeline | beam.Create([1, 2])
    assert in_one_window(elements) is elements
    shuffled = elements | beam.Reshuffle()
    assert in_one_window(shuffled) is shuffled


def test_windows_of_a_users_pipeline_are_joined() -> None:
    pipeline = beam.Pipeline()
    windowed = pipeline | beam.Create([1, 2]) | beam.WindowInto(FixedWindows(60))
    assert in_one_window(windowed).windowing.windowfn == GlobalWindows()
