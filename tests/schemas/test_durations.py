import pytest

from beamjudge.schemas.durations import read_seconds


@pytest.mark.parametrize(
    ("value", "per_second", "seconds"),
    [
        (250, 1000, 0.25),
        (0, 1000, 0.0),
        ("250", 1000, 0.25),
        (1.5, 1, 1.5),
        ("1.5s", 1000, 1.5),
        ("2s", 1, 2.0),
        (1e15, 1000, 1e12),
        (1e16, 1000, None),
        (10**400, 1000, None),
        ("1e999", 1, None),
        ("nan", 1, None),
        (-1, 1, None),
        (True, 1, None),
        (None, 1, None),
        ("fast", 1, None),
        ("", 1, None),
        ("1" * 50, 1, None),
        ([1], 1, None),
        ({}, 1, None),
    ],
)
def test_durations(value, per_second, seconds):
    assert read_seconds(value, per_second) == seconds
