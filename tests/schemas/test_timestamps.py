from datetime import datetime, timezone

import pytest

from beamjudge.schemas.timestamps import read_timestamp

MOMENT = 1_795_997_595_073_160  # 2026-11-30 00:13:15.073160 UTC in microseconds


def test_the_moment_itself():
    assert datetime.fromtimestamp(MOMENT // 1_000_000, timezone.utc).isoformat() == "2026-11-30T00:13:15+00:00"


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        (1_795_997_595, MOMENT - 73_160),
        (1_795_997_595_073, MOMENT - 160),
        (MOMENT, MOMENT),
        (1_795_997_595_073_160_449, MOMENT),
        ("1795997595", MOMENT - 73_160),
        (" 1795997595073 ", MOMENT - 160),
        (1_795_997_595.5, MOMENT - 73_160 + 500_000),
        ("1795997595.25", MOMENT - 73_160 + 250_000),
        (0, 0),
        (-1, -1_000_000),
        ("2026-11-30T00:13:15.07316Z", MOMENT),
        ("2026-11-30T00:13:15.073160449", MOMENT),
        ("2026-11-30 00:13:15,073160+00:00", MOMENT),
        ("2026-11-30T01:13:15.073160+01:00", MOMENT),
        ("2026-11-29T20:43:15.073160-0330", MOMENT),
        ("2026-11-30 00:13:15.073160 UTC", MOMENT),
        ("20261130T001315.073160Z", MOMENT),
        ("2026-11-30", 1_795_996_800_000_000),
        ("2026-11-30T00:13", 1_795_997_580_000_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
    ],
)
def test_times(value, micros):
    assert read_timestamp(value) == micros


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "",
        "yesterday",
        "2026-13-01",
        "2026-11-30T25:00",
        "2026-11-30T00:13:15+1",
        [],
        {},
        10**30,
        1e300,
        "9" * 40,
    ],
)
def test_what_is_no_time(value):
    assert read_timestamp(value) is None


def test_years_that_no_calendar_has_are_no_time():
    assert read_timestamp("0001-01-01T00:00:00+14:00") is None
    assert read_timestamp(-99_999_999_999) is None
