"""Sorting and merging against a dictionary: each key once, the latest row, the request ids of all rows."""

from unittest import mock

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from store_harness import key, small_files, verdict

from beamjudge.schemas.tables.verdicts import VERDICTS_SCHEMA, stored_verdict, verdicts_table
from beamjudge.transforms.judging.store import merge as module
from beamjudge.transforms.judging.store.merge import Sorter, merge, unique

PLACE = VERDICTS_SCHEMA.get_field_index("created")
ROWS = st.lists(
    st.tuples(st.integers(0, 15), st.integers(0, 3), st.sampled_from(["run-1", "run-2"]), st.sampled_from("abc")),
    max_size=40,
)


def as_verdicts(rows):
    return [
        verdict(number, created=float(created), run_id=run, rationale=f"{created} {run}", request_ids=(row, "all"))
        for number, created, run, row in rows
    ]


def table_of(verdicts):
    return verdicts_table(verdicts)


def read(tables):
    rows = [
        row
        for table in tables
        for row in table.set_column(PLACE, "created", table["created"].cast("int64")).to_pylist()
    ]
    return [stored_verdict(row) for row in rows]


def expected(verdicts):
    """Key, creation, run and the set of request ids, by the rule in words."""
    found = {}
    for each in verdicts:
        found.setdefault(each.key, []).append(each)
    told = []
    for each in sorted(found):
        latest = max(found[each], key=lambda stored: (stored.created, stored.run_id))
        ids = {row for stored in found[each] for row in stored.request_ids}
        told.append((each, latest.created, latest.run_id, latest.rationale, ids))
    return told


def told_of(verdicts):
    return [(each.key, each.created, each.run_id, each.rationale, set(each.request_ids)) for each in verdicts]


@settings(max_examples=50, deadline=None)
@given(ROWS)
def test_unique(rows):
    verdicts = as_verdicts(rows)
    assert told_of(read([unique(table_of(verdicts))])) == expected(verdicts)


@settings(max_examples=50, deadline=None)
@given(st.lists(ROWS, max_size=5), st.integers(1, 7))
def test_the_merge_of_sorted_sources(sources, size):
    def slices(table):
        for start in range(0, len(table), size):
            yield table.slice(start, size)
            yield table.slice(0, 0)

    everything = [each for rows in sources for each in as_verdicts(rows)]
    merged = merge([slices(unique(table_of(as_verdicts(rows)))) for rows in sources])
    assert told_of(read(merged)) == expected(everything)


@settings(max_examples=50, deadline=None)
@given(st.lists(ROWS, max_size=8))
def test_sorting_on_disk(tables):
    everything = [each for rows in tables for each in as_verdicts(rows)]
    with small_files(), Sorter() as sorter:
        for rows in tables:
            sorter.add(table_of(as_verdicts(rows)))
        assert told_of(read(merge(sorter.sources()))) == expected(everything)


def test_little_is_held_at_a_time():
    """Of 20 sorted runs of 500 rows, what is handed on at once is about one chunk of each, never all."""
    with mock.patch.multiple(module, GROUP_ROWS=20, _SORT_ROWS=500), Sorter() as sorter:
        for run in range(20):
            sorter.add(table_of([verdict(number) for number in range(run * 500, run * 500 + 500)]))
        sizes = [len(table) for table in merge(sorter.sources())]
    assert sum(sizes) == 10_000
    assert max(sizes) <= 20 * 20


def test_request_ids_of_one_key_add_up_without_growing_square():
    rows = [verdict(1, request_ids=(f"row-{number}",)) for number in range(20_000)]
    (merged,) = read([unique(table_of(rows))])
    assert len(merged.request_ids) == 20_000


def test_the_schema_is_kept():
    table = unique(pa.concat_tables([table_of([verdict(1), verdict(1)]), table_of([verdict(2)])]))
    assert table.schema.equals(VERDICTS_SCHEMA)
    assert table["key"].to_pylist() == sorted([key(1), key(2)])
