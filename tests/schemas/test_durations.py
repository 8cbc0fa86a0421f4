import pytest

from beamjudge.schemas.durations import first_seconds, read_seconds


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


def test_the_first_field_that_is_a_duration_counts():
    names = ("execution_duration_ms", "latency_ms")
    assert first_seconds({"latency_ms": 100, "execution_duration_ms": 250}, names) == 0.25
    assert first_seconds({"execution_duration_ms": None, "latency_ms": "100"}, names) == 0.1
    assert first_seconds({"execution_duration_ms": "slow", "other": 5}, names) is None
