"""A process that dies before any operation on the filesystem, and others that do their work in between."""

from contextlib import contextmanager
from unittest import mock

import pytest
from apache_beam.io.filesystem import MatchResult
from apache_beam.io.filesystems import FileSystems
from store_harness import Crash, Operations, fill, held, key, names, small_files, store_in, verdict, verdicts

from beamjudge.transforms.judging.store import contents
from beamjudge.transforms.judging.store.compaction import Selection, compact, prune
from beamjudge.transforms.judging.store.survey import survey

ALL = range(16)
PRUNED = "row-7"
LEFT = [number for number in ALL if number != 7]


@pytest.fixture(autouse=True)
def small():
    with small_files():
        yield


@pytest.fixture
def make(tmp_path):
    """A function that makes a new store of 16 verdicts: a generation of two parts, and two segments."""
    count = iter(range(1000))

    def new():
        folder = tmp_path / str(next(count))
        fill(folder, *range(0, 10))
        compact(str(folder))
        fill(folder, *range(10, 13))
        fill(folder, *range(13, 16))
        return folder

    return new


def compact_all(folder):
    compact(str(folder), everything=True)


def prune_one(folder):
    prune(str(folder), Selection(request_ids=frozenset([PRUNED])))


def flush_one(folder):
    store = store_in(folder)
    store.put(verdict(100))
    store.close()


def operations_of(work, folder):
    with Operations().in_the_way() as counting:
        work(folder)
    return counting.count


@pytest.mark.parametrize(
    ("work", "sure"),
    [(compact_all, ALL), (compact, ALL), (prune_one, LEFT), (flush_one, ALL)],
    ids=lambda each: str(each)[:20],
)
def test_a_crash_before_any_operation_loses_nothing(make, work, sure, caplog):
    total = operations_of(lambda folder: work(str(folder)), make())
    assert total > 3
    for at in range(total):
        folder = make()
        with Operations(at).in_the_way(), pytest.raises(Crash):
            work(str(folder))
        caplog.clear()
        assert verdicts(sure).items() <= held(folder, ALL).items(), f"after a crash before operation {at}"
        assert caplog.records == [], "nothing that is left is damaged"
        work(str(folder))
        assert verdicts(sure).items() <= held(folder, ALL).items(), f"once done after a crash before operation {at}"
        if work is prune_one:
            assert held(folder, ALL) == verdicts(LEFT)


def test_what_crashes_left_behind_goes_with_a_later_compaction(make, monkeypatch):
    for at in range(operations_of(compact_all, make())):
        folder = make()
        with Operations(at).in_the_way(), pytest.raises(Crash):
            compact_all(folder)
        compact_all(folder)
        monkeypatch.setattr(contents, "ABANDONED_SECONDS", -60.0)
        compact_all(folder)
        monkeypatch.undo()
        assert len(names(folder)) == 3, "an index and two parts of eight verdicts"
        assert held(folder, ALL) == verdicts(ALL)


def test_unfinished_files_of_writers_that_may_be_at_work_stay(make):
    folder = make()
    (folder / "segment-a-b-000001-0123456789abcdef.parquet.tmp").write_bytes(b"half")
    compact_all(folder)
    assert len(names(folder, "segment-")) == 1


@pytest.mark.parametrize("other", [compact_all, prune_one, flush_one])
@pytest.mark.parametrize("work", [compact_all, prune_one])
def test_others_may_do_anything_before_any_operation(make, work, other):
    left = ALL if prune_one not in (work, other) else LEFT
    for at in range(operations_of(work, make())):
        folder = make()
        with Operations(at, lambda folder=folder: other(folder)).in_the_way():
            work(folder)
        assert held(folder, ALL) == verdicts(left), f"with the other before operation {at}"
        assert held(folder, [100]) == (verdicts([100]) if other is flush_one else {})


@pytest.mark.parametrize("work", [compact_all, prune_one])
def test_readers_find_everything_at_every_moment(make, work):
    """One that was there before, one that has read before, and one that comes just then."""
    for at in range(operations_of(work, make())):
        folder = make()
        there, reading = store_in(folder), store_in(folder)
        assert {number: reading.get(key(number)) for number in ALL} == verdicts(ALL)

        def look(folder=folder, there=there, reading=reading):
            for found in (
                {number: there.get(key(number)) for number in LEFT},
                {number: reading.get(key(number)) for number in LEFT},
                held(folder, LEFT),
            ):
                assert found == verdicts(LEFT)

        with Operations(at, look).in_the_way():
            work(folder)
        look()
        there.close()
        reading.close()


@contextmanager
def a_listing_in_the_middle_of_a_replacement(number=1):
    """A listing is not of one moment: this one lacks what has been replaced, and what replaces it as well."""
    listed, calls = FileSystems.match, []

    def match(patterns):
        calls.append(patterns)
        return [MatchResult(patterns[0], [])] if len(calls) == number else listed(patterns)

    with mock.patch.object(FileSystems, "match", staticmethod(match)):
        yield
    assert len(calls) > number


def test_a_listing_that_has_neither_the_old_nor_the_new_files_is_done_again(make):
    folder = make()
    store = store_in(folder)
    compact_all(folder)
    with a_listing_in_the_middle_of_a_replacement():
        assert store.get(key(3)) == verdict(3)
    store.close()
    for number in (1, 2):
        with a_listing_in_the_middle_of_a_replacement(number):
            assert count(folder) == 16
    with a_listing_in_the_middle_of_a_replacement():
        prune_one(folder)
    assert held(folder, ALL) == verdicts(LEFT)


def count(folder):
    return sum(share.verdicts for share in survey(str(folder)).shares.values())


def test_a_survey_counts_everything_while_others_compact(make):
    for at in range(operations_of(count, make())):
        folder = make()
        with Operations(at, lambda folder=folder: compact_all(folder)).in_the_way():
            assert count(folder) == 16, f"with a compaction before operation {at}"


def test_a_store_that_was_opened_before_a_compaction_reads_on_after_it(make):
    folder = make()
    store = store_in(folder)
    compact_all(folder)
    fill(folder, 50)
    compact_all(folder)
    assert {number: store.get(key(number)) for number in ALL} == verdicts(ALL)
    assert store.get(key(50)) == verdict(50), "the files that are gone made it look for others"
    store.close()


def test_what_is_pruned_is_gone_for_a_store_that_was_open(make):
    folder = make()
    store = store_in(folder)
    prune_one(folder)
    assert store.get(key(7)) is None
    assert {number: store.get(key(number)) for number in LEFT} == verdicts(LEFT)
    store.close()
