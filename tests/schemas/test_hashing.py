"""Feeding a hash piece by piece gives the hash of the whole."""

import hashlib

import pytest

from beamjudge.schemas.hashing import feed


@pytest.mark.parametrize("size", [0, 1, 2046, 2047, 2048, 4094, 4095, 100_000])
def test_feeding_equals_hashing_at_once(size: int) -> None:
    data = bytes(number % 251 for number in range(size))
    fed = hashlib.sha256()
    feed(fed, data)
    assert fed.hexdigest() == hashlib.sha256(data).hexdigest()


class Noting:
    """A digest that notes how much it was given at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def update(self, data: memoryview, /) -> None:
        self.sizes.append(len(data))


def test_no_piece_is_large_enough_for_the_lock_to_be_let_go() -> None:
    noting = Noting()
    feed(noting, bytes(10_000))
    assert sum(noting.sizes) == 10_000
    assert max(noting.sizes) < 2048  # CPython's HASHLIB_GIL_MINSIZE
