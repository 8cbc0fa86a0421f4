"""The cyclic collector during a run: what it is told is undone, however the run ends."""

import gc

import pytest

from beamjudge.pipelines.collector import long_lived_modules


def test_what_is_there_is_passed_over_only_within() -> None:
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()
    within: list[tuple[int, int]] = []

    def run() -> None:
        with long_lived_modules():
            within.append((gc.get_threshold()[0], gc.get_freeze_count()))
            raise KeyError("a run that fails")

    with pytest.raises(KeyError):
        run()
    ((youngest, passed_over),) = within
    assert youngest > thresholds[0]
    assert passed_over > frozen
    assert (gc.get_threshold(), gc.get_freeze_count()) == (thresholds, 0)
