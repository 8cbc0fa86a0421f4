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


def test_of_two_runs_at_once_the_first_is_undone_and_the_second_changes_nothing() -> None:
    thresholds = gc.get_threshold()
    first, second = long_lived_modules(), long_lived_modules()
    for each in (first, second):
        each.__enter__()
    for each in (first, second):
        each.__exit__(None, None, None)
    assert (gc.get_threshold(), gc.get_freeze_count()) == (thresholds, 0)


@pytest.mark.parametrize("youngest", [0, 50_000])
def test_a_collector_that_is_off_or_more_seldom_stays_so(youngest: int) -> None:
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.set_threshold(youngest, *thresholds[1:])
    try:
        with long_lived_modules():
            assert (gc.get_threshold()[0], gc.get_freeze_count()) == (youngest, frozen)
        assert gc.get_threshold()[0] == youngest
    finally:
        gc.set_threshold(*thresholds)
