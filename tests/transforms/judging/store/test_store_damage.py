"""Files that are cut off, overwritten or not what they claim to be: named in the log, never believed."""

import io
import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from store_harness import fill, held, key, names, small_files, store_in, verdict, verdicts

from beamjudge.schemas.tables.verdicts import verdicts_table
from beamjudge.transforms.judging.store.compaction import Selection, compact, prune
from beamjudge.transforms.judging.store.files import segment_name
from beamjudge.transforms.judging.store.parquet import encode
from beamjudge.transforms.judging.store.survey import survey

FIRST, SECOND = [1, 2, 3], [4, 5]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "verdicts"


def path_of(folder, kind):
    (name,) = names(folder, kind)
    return folder / name


def some_lengths(size):
    """Each class of places where a file may end: in its head, everywhere in between, and at each byte of its tail."""
    return sorted({*range(12), *range(12, size, 97), *range(size - 16, size)})


def test_a_segment_that_is_cut_off_anywhere_is_skipped_and_named(folder, caplog):
    fill(folder, *FIRST)
    damaged = path_of(folder, "segment-")
    content = damaged.read_bytes()
    fill(folder, *SECOND)
    for length in some_lengths(len(content)):
        damaged.write_bytes(content[:length])
        caplog.clear()
        assert held(folder, FIRST + SECOND) == verdicts(SECOND)
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert str(damaged) in record.getMessage()
    damaged.write_bytes(content)
    assert held(folder, FIRST + SECOND) == verdicts(FIRST + SECOND)


def test_a_segment_with_any_bit_turned_is_skipped(folder):
    fill(folder, *FIRST)
    damaged = path_of(folder, "segment-")
    content = damaged.read_bytes()
    for position in range(0, len(content), 29):
        damaged.write_bytes(content[:position] + bytes([content[position] ^ 0x10]) + content[position + 1 :])
        assert held(folder, FIRST) == {}, f"with byte {position} changed"


@pytest.mark.parametrize(
    "garbage", [b"", b"\0" * 5000, b"PAR1" * 400, "né".encode() * 99], ids=["empty", "0", "PAR1", "text"]
)
def test_garbage_under_a_segments_name_is_skipped(folder, garbage, caplog):
    fill(folder, *SECOND)
    for content in (garbage, b"other"):  # with a digest that is right, and with one that is not
        (folder / segment_name("a", "b", len(content), content)).write_bytes(garbage)
    assert held(folder, SECOND) == verdicts(SECOND)
    assert len(caplog.records) == 2


@pytest.mark.parametrize("ending", [".tmp", ".crc", ".parquet"])
def test_a_file_that_is_only_half_renamed_does_not_count(folder, ending, caplog):
    fill(folder, *FIRST)
    segment = path_of(folder, "segment-")
    segment.rename(segment.with_name(segment.name + ending))
    assert held(folder, FIRST) == {}
    assert caplog.records == []


def test_a_copy_that_is_still_under_way_counts_once_it_is_there(folder, caplog):
    """A filesystem without renaming copies: the file grows under its name while its temporary one is there."""
    fill(folder, *FIRST)
    segment = path_of(folder, "segment-")
    content = segment.read_bytes()
    segment.with_name(segment.name + ".tmp").write_bytes(content)
    segment.write_bytes(content[: len(content) // 2])
    assert held(folder, FIRST) == {}
    segment.write_bytes(content)
    assert held(folder, FIRST) == verdicts(FIRST)


def write_segment(folder, table):
    content = encode(table, {})
    folder.mkdir(exist_ok=True)
    (folder / segment_name("forged", "0", 1, content)).write_bytes(content)


def with_column(table, name, values, kind=None):
    at = table.schema.get_field_index(name)
    field = table.schema.field(name) if kind is None else pa.field(name, kind)
    return table.set_column(at, field, pa.array(values, field.type))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rating", "maybe"), ("rating", "YES"), ("rating", ""), ("rating", None), ("key", None), ("key", "1"),
        ("key", "Z" * 64), ("key", key(1).upper()), ("key", key(1) + "\n"), ("calls", None), ("calls", -1),
        ("output_tokens", -5), ("judge", None), ("model", None), ("run_id", None), ("created", None),
        ("notes", None), ("request_ids", None),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_verdicts_are_not_used(folder, caplog, name, value):
    table = verdicts_table([verdict(number) for number in FIRST])
    write_segment(folder, with_column(table, name, [table[name][0].as_py(), value, table[name][2].as_py()]))
    good = verdicts([FIRST[0], FIRST[2]])
    assert held(folder, FIRST) == good
    compact(str(folder))
    assert held(folder, FIRST) == good
    assert "1 rows are no verdicts" in caplog.text


@pytest.mark.parametrize("name", ["rating", "key", "calls", "created", "request_ids"])
def test_a_segment_with_columns_of_other_types_is_skipped(folder, caplog, name):
    table = verdicts_table([verdict(number) for number in FIRST])
    write_segment(folder, with_column(table, name, [b"1", b"2", b"3"], pa.binary()))
    assert held(folder, FIRST) == {}
    assert "its columns are not those of verdicts" in caplog.text


def test_a_segment_without_a_column_is_skipped_and_one_with_more_is_read(folder, caplog):
    table = verdicts_table([verdict(number) for number in FIRST])
    write_segment(folder, table.drop_columns(["rationale"]))
    fill(folder, *SECOND)
    assert held(folder, FIRST + SECOND) == verdicts(SECOND)
    write_segment(folder, table.append_column("later_version", pa.array([1, 2, 3])))
    assert held(folder, FIRST + SECOND) == verdicts(FIRST + SECOND)
    compact(str(folder))
    assert held(folder, FIRST + SECOND) == verdicts(FIRST + SECOND)


def test_damaged_segments_outlive_compaction_but_not_pruning(folder):
    fill(folder, *FIRST)
    damaged = path_of(folder, "segment-")
    damaged.write_bytes(damaged.read_bytes()[:-1])
    fill(folder, *SECOND)
    done = compact(str(folder))
    assert (done.verdicts, done.replaced_files, done.damaged_files) == (2, 1, 1)
    assert damaged.exists()
    assert survey(str(folder)).damaged_files == 1
    # Nobody can tell whether the row that is to be forgotten was in it.
    pruned = prune(str(folder), Selection(request_ids=frozenset(["row-4"])))
    assert (pruned.removed, pruned.kept, pruned.damaged_files) == (1, 1, 1)
    assert not damaged.exists()
    assert held(folder, FIRST + SECOND) == verdicts([5])


def test_dropping_damaged_files(folder):
    fill(folder, *FIRST)
    damaged = path_of(folder, "segment-")
    damaged.write_bytes(b"")
    fill(folder, *SECOND)
    assert compact(str(folder), everything=True, drop_damaged=True).damaged_files == 1
    assert not damaged.exists()
    assert held(folder, SECOND) == verdicts(SECOND)
    assert compact(str(folder), everything=True, drop_damaged=True).damaged_files == 0


class TestGenerations:
    @pytest.fixture(autouse=True)
    def compacted(self, folder):
        with small_files():
            fill(folder, *range(20))
            compact(str(folder))
            yield

    def test_a_damaged_index_is_rebuilt_from_the_parts(self, folder, caplog):
        index = path_of(folder, "index-")
        content = index.read_bytes()
        for damaged in (content[:-1], content[:20], b"", content[:-3] + b"\0\0\0"):
            index.write_bytes(damaged)
            caplog.clear()
            assert held(folder, range(25)) == verdicts(range(20))
            assert str(index) in caplog.text
        compact(str(folder))
        fill(folder, 30)
        compact(str(folder), everything=True)
        caplog.clear()
        assert held(folder, range(25)) == verdicts(range(20))
        assert caplog.records == []

    def test_parts_without_an_index_do_not_count(self, folder):
        path_of(folder, "index-").unlink()
        assert held(folder, range(20)) == {}
        assert survey(str(folder)).unfinished_files == 3

    def test_a_part_that_is_cut_off_costs_its_own_verdicts(self, folder, caplog):
        part = folder / names(folder, "part-")[1]
        content = part.read_bytes()
        lost = set(pq.read_table(part)["key"].to_pylist())
        left = {number: each for number, each in verdicts(range(20)).items() if each.key not in lost}
        assert len(left) == 12
        for length in (0, 4, len(content) // 2, len(content) - 1):
            part.write_bytes(content[:length])
            caplog.clear()
            assert held(folder, range(20)) == left
            assert str(part) in caplog.text
            assert len(caplog.records) == 1, "said once, not for every verdict"

    def test_a_part_that_is_missing_costs_its_own_verdicts(self, folder, caplog):
        part = folder / names(folder, "part-")[0]
        lost = set(pq.read_table(part)["key"].to_pylist())
        part.unlink()
        assert held(folder, range(20)).keys() == {n for n, each in verdicts(range(20)).items() if each.key not in lost}
        assert "it is missing" in caplog.text

    def test_changed_bytes_of_a_part_never_give_another_verdict(self, folder):
        part = folder / names(folder, "part-")[0]
        content = part.read_bytes()
        own = set(pq.read_table(part)["key"].to_pylist())
        told = verdicts(range(20))
        for position in range(0, len(content), 61):
            part.write_bytes(content[:position] + bytes([content[position] ^ 0x40]) + content[position + 1 :])
            found = held(folder, range(20))
            assert found.items() <= told.items(), f"with byte {position} changed"
            assert {number for number, each in told.items() if each.key not in own} <= found.keys()

    def test_a_damaged_row_group_costs_only_itself_and_goes_with_drop_damaged(self, folder, caplog):
        part = folder / names(folder, "part-")[0]
        content = bytearray(part.read_bytes())
        column = pq.ParquetFile(part).metadata.row_group(0).column(5)
        content[column.data_page_offset + column.total_compressed_size - 3] ^= 0xFF
        part.write_bytes(bytes(content))
        lost = set(pq.read_table(io.BytesIO(content), columns=["key"])["key"].to_pylist()[:4])
        left = {number: each for number, each in verdicts(range(20)).items() if each.key not in lost}
        before = names(folder)
        done = compact(str(folder), everything=True, drop_damaged=True)
        assert done.damaged_files == 1
        assert "its row group 0 cannot be read" in caplog.text
        assert held(folder, range(20)) == left
        assert not set(before) & set(names(folder))

    def test_damaged_generations_outlive_compaction_but_not_pruning(self, folder):
        part = folder / names(folder, "part-")[0]
        part.write_bytes(part.read_bytes()[:-1])
        fill(folder, 30)
        assert compact(str(folder), everything=True).damaged_files == 1
        assert part.exists()
        found = held(folder, range(31))
        assert len(found) == 13
        prune(str(folder), Selection(created_before=0.0))
        assert not part.exists()
        assert held(folder, range(31)) == found
        assert len(names(folder, "index-")) == 1

    def test_an_unreadable_local_disk_for_decoded_rows_is_no_reason_to_fail(self, folder, monkeypatch, caplog):
        def no_space(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.pwrite", no_space)
        store = store_in(folder)
        assert {number: store.get(key(number)) for number in range(20)} == verdicts(range(20))
        assert "No space left on device" in caplog.text
        store.close()
