"""One store in one process: what is put is got, now, after a flush and by whoever opens the folder later."""

import logging
import subprocess
import sys
import threading

import pyarrow.parquet as pq
import pytest
from apache_beam.io.filesystems import FileSystems
from store_harness import WAIT_SECONDS, fill, held, key, names, store_in, verdict, verdicts

from beamjudge.schemas.errors import RunFailed
from beamjudge.schemas.spend import Spend
from beamjudge.schemas.tables.verdicts import verdicts_table
from beamjudge.transforms.judging import verdict_store
from beamjudge.transforms.judging.store import files
from beamjudge.transforms.judging.store.compaction import compact


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "verdicts"


def test_a_verdict_comes_back_as_it_was(folder):
    given = verdicts(range(20))
    store = store_in(folder)
    assert store.get(key(1)) is None
    for each in given.values():
        store.put(each)
    assert {number: store.get(key(number)) for number in given} == given
    store.flush()
    assert {number: store.get(key(number)) for number in given} == given
    store.close()
    assert held(folder, range(30)) == given


@pytest.mark.parametrize(
    "text",
    [
        "",
        "日本語 ไทย हिन्दी العربية",
        "👩‍👩‍👧‍👦 e\u0301",
        'quotes " and \\ and \n and \r and \t',
        "\x00\x1f\u2028\u202e",
        "x" * 300_000,
    ],
)
def test_any_text_survives(folder, text):
    given = verdict(1, rationale=text, judge=f"j{text[:9]}", model=f"m{text[:9]}", request_ids=(f"r{text[:9]}", "ü"))
    store = store_in(folder)
    store.put(given)
    store.close()
    assert held(folder, [1]) == {1: given}


def test_unpaired_surrogates_become_replacement_characters(folder):
    fill(folder, 1, rationale="a\ud800b", request_ids=("x\udfff", "y"), notes=("\ud83d\ude00",))
    fill(folder, 2)
    stored = held(folder, [1, 2])
    assert stored[1].rationale == "a\ufffdb"
    assert stored[1].request_ids == ("x\ufffd", "y")
    assert stored[1].notes == ("😀",)
    assert stored[2] == verdict(2)


def test_counts_that_no_column_can_hold_do_not_keep_others_from_being_stored(folder):
    store = store_in(folder)
    store.put(verdict(1, spend=Spend(1, 2**70, 0, 5, 0, float("inf"))))
    store.put(verdict(2))
    store.close()
    stored = held(folder, [1, 2])
    assert stored[1].spend == Spend(1, 2**63 - 1, 0, 5, 0, float("inf"))
    assert stored[2] == verdict(2)


def test_the_files_are_parquet_that_other_programs_read(folder):
    fill(folder, 1, 2)
    (name,) = names(folder)
    table = pq.read_table(folder / name)
    assert table.column_names == [
        "key", "judge", "judge_hash", "model", "rating", "rationale", "score", "notes", "calls", "input_tokens",
        "cached_input_tokens", "output_tokens", "reasoning_tokens", "cost_usd", "run_id", "created",
        "request_ids", "answer",
    ]  # fmt: skip
    assert table["rating"].to_pylist() == ["yes", "yes"]
    assert table["created"].to_pylist()[0].isoformat() == "2026-09-21T14:13:21+00:00"
    assert {b"schema_version", b"run_id", b"attempt_id"} <= table.schema.metadata.keys()
    assert pq.ParquetFile(folder / name).metadata.row_group(0).column(0).compression == "ZSTD"


def test_segments_have_names_of_their_own(folder):
    for _ in range(3):
        fill(folder, 1)
    store = store_in(folder)
    for number in (2, 3):
        store.put(verdict(number))
        store.flush()
    store.flush()
    store.close()
    assert len(names(folder, "segment-attempt1-")) == len(names(folder)) == 5


def test_the_500th_verdict_brings_a_segment_to_file(folder, monkeypatch):
    written = threading.Event()
    monkeypatch.setattr(verdict_store, "FLUSH_SECONDS", 3600.0)
    monkeypatch.setattr(verdict_store, "write", writing(written))
    store = store_in(folder)
    for number in range(499):
        store.put(verdict(number))
    assert not folder.exists()
    store.put(verdict(499))
    assert written.wait(WAIT_SECONDS)
    assert held(folder, range(500)) == verdicts(range(500))
    store.close()


def test_time_brings_a_segment_to_file(folder, monkeypatch):
    written = threading.Event()
    monkeypatch.setattr(verdict_store, "FLUSH_SECONDS", 0.01)
    monkeypatch.setattr(verdict_store, "write", writing(written))
    store = store_in(folder)
    for number in range(3):
        store.put(verdict(number))
        assert written.wait(WAIT_SECONDS)
        written.clear()
        assert held(folder, [number]) == {number: verdict(number)}
    store.close()


def writing(written):
    def write(*arguments):
        files.write(*arguments)
        written.set()

    return write


def test_the_promised_times_and_counts():
    assert verdict_store.FLUSH_SECONDS < 5
    assert verdict_store.FLUSH_VERDICTS == 500
    assert verdict_store.REFRESH_SECONDS == 10


def test_a_process_that_ends_without_closing_has_stored_everything(folder):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from store_harness import store_in, verdict\n"
        "store = store_in(sys.argv[2]); [store.put(verdict(number)) for number in range(7)]"
    )
    tests = next(path for path in sys.path if path.endswith("tests"))
    subprocess.run([sys.executable, "-c", program, tests, str(folder)], check=True, timeout=WAIT_SECONDS)
    assert held(folder, range(9)) == verdicts(range(7))


def test_closing_twice_is_fine_and_a_late_verdict_is_stored_at_once(folder):
    store = store_in(folder)
    store.put(verdict(1))
    store.close()
    store.close()
    store.put(verdict(2))
    assert held(folder, [1, 2]) == verdicts([1, 2])


def test_others_verdicts_are_found_10_seconds_later(folder):
    now = [1000.0]
    store = store_in(folder, clock=lambda: now[0])
    assert store.get(key(1)) is None
    fill(folder, 1)
    now[0] += 9.9
    assert store.get(key(1)) is None
    now[0] += 0.1
    assert store.get(key(1)) == verdict(1)
    fill(folder, 2)
    now[0] += 9.9
    assert store.get(key(2)) is None
    now[0] += 0.1
    assert store.get(key(2)) == verdict(2)
    store.close()


def test_a_slow_listing_is_not_asked_for_all_the_time(folder, monkeypatch):
    now, listings = [1000.0], []
    store = store_in(folder, clock=lambda: now[0])
    listed = FileSystems.match

    def slow(patterns):
        listings.append(now[0])
        now[0] += 2.0
        return listed(patterns)

    monkeypatch.setattr(FileSystems, "match", staticmethod(slow))
    for _ in range(120):
        assert store.get(key(1)) is None
        now[0] += 1.0
    store.close()
    # 2 seconds of listing may be at most a twentieth of the time, so the next is due 40 seconds after it.
    assert listings == [1010.0, 1052.0, 1094.0]


def test_without_reuse_only_its_own_verdicts_are_found(folder):
    fill(folder, 1)
    now = [0.0]
    store = store_in(folder, reuse=False, clock=lambda: now[0])
    now[0] += 100.0
    assert store.get(key(1)) is None
    store.put(verdict(2))
    assert store.get(key(2)) == verdict(2)
    store.flush()
    assert store.get(key(2)) == verdict(2)
    store.close()
    assert held(folder, [1, 2]) == verdicts([1, 2])


def test_own_verdicts_are_found_on_file_when_memory_has_let_go_of_them(folder, monkeypatch):
    monkeypatch.setattr(verdict_store, "_RECENT", 2)
    store = store_in(folder, reuse=False)
    for number in range(50):
        store.put(verdict(number))
        if number % 7 == 0:
            store.flush()
    assert {number: store.get(key(number)) for number in range(50)} == verdicts(range(50))
    store.close()


def test_the_latest_of_several_payments_counts(folder):
    for run, created in (("run-2", 30.0), ("run-3", 20.0), ("run-1", 10.0)):
        fill(folder, 1, run_id=run, created=created, rationale=run)
    assert held(folder, [1])[1].rationale == "run-2"


def test_rows_that_use_a_verdict_are_noted_with_it(folder):
    fill(folder, 1, 2)
    store = store_in(folder)
    assert store.get(key(1), "row-1") == verdict(1)
    store.flush()
    assert len(names(folder)) == 1, "its own row is known already"
    for row in ("row-7", "row-8", "row-8"):
        assert store.get(key(1), row) == verdict(1)
    store.put(verdict(3, request_ids=("row-3",)))
    assert store.get(key(3), "row-9")
    assert store.get(key(4), "row-9") is None
    store.close()
    table = pq.read_table(folder)
    assert sorted(map(sorted, table["request_ids"].to_pylist())) == [
        ["row-1"], ["row-2"], ["row-3", "row-9"], ["row-7", "row-8"],
    ]  # fmt: skip


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_lost(folder, monkeypatch, caplog):
    monkeypatch.setattr(verdict_store, "FLUSH_SECONDS", 3600.0)
    folder.parent.joinpath("verdicts").write_text("a file in its place")
    store = store_in(folder)
    store.put(verdict(1))
    for _ in range(2):
        with pytest.raises(RunFailed) as failure:
            store.flush()
        assert str(folder) in str(failure.value)
        assert len(str(failure.value).splitlines()) == 1
    assert store.get(key(1)) == verdict(1)
    folder.unlink()
    store.put(verdict(2))
    store.close()
    assert held(folder, [1, 2]) == verdicts([1, 2])
    assert len(names(folder)) == 1


def test_the_thread_that_writes_in_time_says_what_it_cannot_write_and_tries_again(folder, monkeypatch, caplog):
    monkeypatch.setattr(verdict_store, "FLUSH_SECONDS", 0.01)
    done, attempts = threading.Event(), []

    def write(*arguments):
        attempts.append(arguments)
        if len(attempts) < 3:
            raise OSError(28, "No space left on device")
        files.write(*arguments)
        done.set()

    monkeypatch.setattr(verdict_store, "write", write)
    store = store_in(folder)
    with caplog.at_level(logging.ERROR):
        store.put(verdict(1))
        assert done.wait(WAIT_SECONDS)
    store.close()
    assert held(folder, [1]) == verdicts([1])
    assert [record.getMessage() for record in caplog.records] == [
        f"the verdict store {folder} cannot be written (No space left on device)"
    ] * 2


def test_a_store_that_cannot_be_listed_is_said_in_one_line(folder, monkeypatch):
    def match(patterns):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(FileSystems, "match", staticmethod(match))
    with pytest.raises(RunFailed, match=r"verdicts' cannot be read \(Permission denied\)$"):
        store_in(folder)


def test_a_listing_that_fails_later_costs_only_that_look(folder, monkeypatch, caplog):
    now = [0.0]
    store = store_in(folder, clock=lambda: now[0])
    fill(folder, 1)
    with monkeypatch.context() as patch:
        patch.setattr(FileSystems, "match", staticmethod(failing))
        now[0] += 10.0
        assert store.get(key(1)) is None
    assert "cannot be read now" in caplog.text
    now[0] += 10.0
    assert store.get(key(1)) == verdict(1)
    store.close()


def failing(*_):
    raise ConnectionError("reset by peer")


@pytest.mark.parametrize("name", ["with [brackets]", "star*", "what?", "ünïcödé 目录", "a/deep/one", "percent%20"])
def test_any_folder_name_will_do(tmp_path, name):
    fill(tmp_path / name, 1, 2)
    fill(tmp_path / "other", 3)
    assert held(tmp_path / name, range(5)) == verdicts([1, 2])
    assert held(f"{tmp_path / name}/", range(5)) == verdicts([1, 2])


def test_files_that_are_not_the_stores_are_left_alone(folder):
    folder.mkdir()
    (folder / "notes.parquet").write_text("mine")
    (folder / "below").mkdir()
    fill(folder / "below", 2)
    fill(folder, 1)
    assert held(folder, [1, 2]) == verdicts([1])
    assert (folder / "notes.parquet").read_text() == "mine"


def test_many_threads_at_once(folder):
    store = store_in(folder)
    failures = []

    def work(offset):
        try:
            for number in range(offset, 600, 6):
                store.put(verdict(number))
                assert store.get(key(number)) == verdict(number)
                if number % 50 == 0:
                    store.flush()
                assert store.get(key(number), f"again-{offset}") == verdict(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    assert failures == []
    assert {number: each.rationale for number, each in held(folder, range(600)).items()} == {
        number: each.rationale for number, each in verdicts(range(600)).items()
    }


def test_answers_are_kept_beside_verdicts_also_when_compacted(folder):
    answer = {"judge": "(app)", "rating": None, "rationale": None, "score": None, "answer": '{"response":"ü"}'}
    fill(folder, 1)
    fill(folder, 2, **answer)
    expected = {1: verdict(1), 2: verdict(2, **answer)}
    assert held(folder, [1, 2]) == expected
    compact(str(folder), everything=True)
    assert held(folder, [1, 2]) == expected


def test_what_is_neither_rated_nor_an_answer_is_not_used(folder):
    fill(folder, 1, rating=None)
    fill(folder, 2)
    assert held(folder, [1, 2]) == {2: verdict(2)}


@pytest.mark.parametrize("absent", [["answer"], ["reasoning_tokens"], ["answer", "reasoning_tokens"]])
def test_a_store_of_an_earlier_version_with_fewer_columns_is_read_and_compacted(folder, monkeypatch, absent):
    with monkeypatch.context() as earlier:
        earlier.setattr(verdict_store, "verdicts_table", lambda verdicts: verdicts_table(verdicts).drop(absent))
        fill(folder, 1, 2)
    fill(folder, 3)
    assert held(folder, [1, 2, 3]) == {number: verdict(number) for number in (1, 2, 3)}
    compact(str(folder), everything=True)
    assert held(folder, [1, 2, 3]) == {number: verdict(number) for number in (1, 2, 3)}
