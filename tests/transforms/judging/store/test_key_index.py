"""Key prefixes against plain dictionaries, prefixes that several keys share included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_harness import key

from beamjudge.transforms.judging.store.files import Damaged, index_name, part_name
from beamjudge.transforms.judging.store.key_index import (
    Generation,
    Place,
    SegmentKeys,
    decode_index,
    prefix_of,
    prefixes_of,
)

# Few distinct values, with the lowest and the highest: so that they collide.
PREFIXES = st.lists(st.sampled_from([0, 1, 2**63, 2**64 - 2, 2**64 - 1]), max_size=12)


def array(values):
    return np.array(values, dtype=np.uint64)


def rows(count):
    return np.arange(count, dtype=np.uint64)


def test_a_prefix_is_the_first_64_bits_of_the_key():
    keys = ["00000000000000ff" + "1" * 48, "ffffffffffffffff" + "2" * 48]
    assert [prefix_of(each) for each in keys] == [255, 2**64 - 1]
    assert prefixes_of(keys).tolist() == [255, 2**64 - 1]
    assert prefixes_of([]).tolist() == []


@settings(max_examples=50, deadline=None)
@given(st.lists(PREFIXES, max_size=20), st.sets(st.integers(0, 19)))
def test_segments_keys_are_where_a_dictionary_has_them(files, gone):
    keys = SegmentKeys()
    for number, prefixes in enumerate(files):
        keys = keys.with_files([(f"s{number}", array(prefixes), rows(len(prefixes)))])
    keys = keys.without(frozenset(f"s{number}" for number in gone))
    keys = keys.with_files([("last", array([1]), array([7]))])
    for wanted in (0, 1, 2, 2**63, 2**64 - 2, 2**64 - 1):
        told = [
            Place(f"s{number}", row)
            for number, prefixes in enumerate(files)
            if number not in gone
            for row, prefix in enumerate(prefixes)
            if prefix == wanted
        ] + ([Place("last", 7)] if wanted == 1 else [])
        assert sorted(keys.find(wanted)) == sorted(told)


def test_many_small_segments_make_few_levels():
    keys = SegmentKeys()
    for number in range(3000):
        keys = keys.with_files([(f"s{number}", prefixes_of([key(number)]), rows(1))])
    assert len(keys) == 3000
    assert len(keys._levels) <= 12  # levels at least double: 2^12 > 3000
    assert [list(keys.find(prefix_of(key(number)))) for number in range(3000)] == [
        [Place(f"s{number}", 0)] for number in range(3000)
    ]


@settings(max_examples=50, deadline=None)
@given(st.lists(PREFIXES.filter(bool), min_size=1, max_size=5))
def test_a_generations_keys_are_at_their_rank(parts):
    prefixes = sorted(prefix for part in parts for prefix in part)
    generation = Generation(
        [(part_name("f" * 16, number), len(part)) for number, part in enumerate(parts)], array(prefixes)
    )
    places = [Place(part_name("f" * 16, number), row) for number, part in enumerate(parts) for row in range(len(part))]
    content = generation.encode()
    for each in (generation, decode_index(index_name("0" * 16, content), content)):
        for wanted in (0, 1, 2, 2**63, 2**64 - 1):
            told = [place for place, prefix in zip(places, prefixes, strict=True) if prefix == wanted]
            assert list(each.find(wanted)) == told


def test_an_index_names_parts_and_no_other_files():
    content = Generation([("../../elsewhere.parquet", 1)], array([1])).encode()
    with pytest.raises(Damaged):
        decode_index(index_name("0" * 16, content), content)


def test_an_index_that_is_not_as_written_is_damaged():
    content = Generation([(part_name("f" * 16, 0), 2)], array([1, 2])).encode()
    name = index_name("0" * 16, content)
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1
        with pytest.raises(Damaged):
            decode_index(name, bytes(changed))
        with pytest.raises(Damaged):
            decode_index(name, content[:position])
