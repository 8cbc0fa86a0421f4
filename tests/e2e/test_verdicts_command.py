"""`beamjudge verdicts`: statistics, compaction and pruning from the command line."""

import time

import pytest
from store_harness import fill, held, names, verdict

from beamjudge.pipelines.cli import main
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.spend import Spend


@pytest.fixture
def output(tmp_path):
    """A run's output folder with a store of 6 verdicts in two segments, all of the year 2020."""
    output = tmp_path / "eval"
    (output / "rows").mkdir(parents=True)
    plain = {"created": 1_600_000_000.0, "model": "judge-1"}
    fill(output / "verdicts", 1, 2, spend=Spend(1, 1000, 200, 30, 20, 0.5), **plain)
    fill(output / "verdicts", 3, 4, 5, 6, judge="tone", run_id="run-2", spend=Spend(1, 500, 0, 10, 0, None), **plain)
    return output


def run(*arguments):
    return main(["verdicts", *map(str, arguments)])


def test_stats(output, capsys):
    assert run("stats", output) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{output}/verdicts: 6 verdicts, 0.0 MB in 0 compacted generations, 2 segments",
        "paid between 2020-09-13 12:26 and 2020-09-13 12:26 (UTC)",
        "",
        "judge              verdicts  yes  calls  input tokens  cached  output tokens  reasoning  cost in USD",
        "safety (01234567)         2    2      2         2,000     400             60         40       1.0000",
        "tone (01234567)           4    2      4         2,000       0             40          0      unknown",
        "",
        "model    verdicts  yes  calls  input tokens  cached  output tokens  reasoning          cost in USD",
        "judge-1         6    4      6         4,000     400            100         40  1.0000 + 4 unpriced",
        "",
        "run    verdicts  yes  calls  input tokens  cached  output tokens  reasoning  cost in USD",
        "run-1         2    2      2         2,000     400             60         40       1.0000",
        "run-2         4    2      4         2,000       0             40          0      unknown",
    ]


def test_stats_name_damaged_and_unfinished_files(output, capsys):
    store = output / "verdicts"
    damaged = store / names(store)[0]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    (store / "segment-a-b-000001-0123456789abcdef.parquet.tmp").write_bytes(b"half")
    assert run("stats", store) == 0
    printed = capsys.readouterr().out
    assert "1 damaged file, not used; compact --drop_damaged removes them" in printed
    assert "1 unfinished file, of writers at work or of writers that have died" in printed


def test_compact(output, capsys):
    assert run("compact", output) == 0
    assert capsys.readouterr().out == f"{output}/verdicts: 2 files merged, 6 verdicts\n"
    assert len(names(output / "verdicts", "segment-")) == 0
    assert len(held(output / "verdicts", range(10))) == 6
    assert run("compact", output) == 0
    assert capsys.readouterr().out == f"{output}/verdicts: nothing to merge\n"


def test_compact_leaves_damaged_files_unless_told(output, capsys):
    store = output / "verdicts"
    damaged = store / names(store)[0]
    damaged.write_bytes(b"")
    assert run("compact", output) == 0
    assert "1 damaged file: left as they are; --drop_damaged removes them" in capsys.readouterr().out
    assert damaged.exists()
    assert run("compact", output, "--drop_damaged") == 0
    assert "1 damaged file: removed" in capsys.readouterr().out
    assert not damaged.exists()


def test_prune_by_age(output, capsys):
    store = output / "verdicts"
    fill(store, 7, created=time.time() - 23 * 3600)
    fill(store, 8, created=time.time() - 25 * 3600)
    assert run("prune", output, "--older_than", "1d") == 0
    assert capsys.readouterr().out == f"{store}: removed 7 of 8 verdicts\n"
    assert held(store, range(10)).keys() == {7}
    assert run("prune", output, "--older_than", "0.5d") == 0
    assert capsys.readouterr().out == f"{store}: removed 1 of 1 verdict\n"
    assert names(store) == []


def test_prune_by_rows_removes_whatever_was_judged_of_them(output, capsys, tmp_path):
    """A verdict that another row found later is on that row's text as well."""
    store = output / "verdicts"
    fill(
        store, 1, request_ids=("later, with a comma",), created=1_600_000_000.0, spend=Spend(1, 1000, 200, 30, 20, 0.5)
    )
    run("compact", output)
    capsys.readouterr()
    ids = tmp_path / "ids.txt"
    ids.write_bytes("\ufefflater, with a comma\r\n\r\nrow-5\n".encode())
    assert run("prune", output, "--request_ids_file", ids) == 0
    assert capsys.readouterr().out == f"{store}: removed 2 of 6 verdicts\n"
    assert held(store, range(10)).keys() == {2, 3, 4, 6}
    assert run("prune", output, "--request_ids", "row-2, nobody,row-6") == 0
    assert capsys.readouterr().out == (f"{store}: removed 2 of 4 verdicts\n1 request id in no verdict: nobody\n")
    assert held(store, range(10)).keys() == {3, 4}


def test_prune_tells_of_what_it_cannot_look_into(output, capsys):
    store = output / "verdicts"
    (store / names(store)[0]).write_bytes(b"")
    (store / "segment-a-b-000001-0123456789abcdef.parquet.tmp").write_bytes(b"half")
    assert run("prune", output, "--request_ids", "row-1") == 0
    printed = capsys.readouterr().out
    assert "1 damaged file removed, as nobody can tell what they held" in printed
    assert "1 unfinished file left, of a writer that is at work or died within the last hour" in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["stats", "{root}/none"], "there is no"),
        (["stats", "nowhere://x"], "'nowhere://x' cannot be read"),
        (["stats"], "FOLDER"),
        (["prune", "{root}"], "--older_than"),
        (["prune", "{root}", "--older_than", "30"], "--older_than: got '30'; expected a number and h, d or w"),
        (["prune", "{root}", "--older_than", "-3d"], "--older_than"),
        (["prune", "{root}", "--older_than", "3d", "--request_ids", "a"], "not allowed with argument --older_than"),
        (["prune", "{root}", "--request_ids", " , "], "--request_ids: got ' , '"),
        (["prune", "{root}", "--request_ids_file", "{root}/none"], "--request_ids_file: cannot read"),
        (["prune", "{root}", "--older_then", "3d"], "--older_than"),
        (["compact", "{root}", "--drop_damage"], "did you mean --drop_damaged?"),
        (["stat", "{root}"], "did you mean stats?"),
        ([], "stats|compact|prune"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path, capsys, arguments, said):
    assert run(*(each.format(root=tmp_path) for each in arguments)) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_cannot_be_changed_is_one_line(output, capsys, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("apache_beam.io.filesystems.FileSystems.create", denied)
    assert run("compact", output) == 1
    error = capsys.readouterr().err
    assert "Permission denied" in error
    assert len(error.splitlines()) == 1
    assert held(output / "verdicts", [2]) == {
        2: verdict(2, created=1_600_000_000.0, spend=Spend(1, 1000, 200, 30, 20, 0.5))
    }


def test_an_empty_store(tmp_path, capsys):
    (tmp_path / "verdicts").mkdir()
    for command in (["stats"], ["compact"], ["prune", "--older_than", "1d"]):
        assert run(*command, tmp_path) == 0
    printed = capsys.readouterr().out
    assert f"{tmp_path}/verdicts: 0 verdicts" in printed
    assert f"{tmp_path}/verdicts: removed 0 of 0 verdicts" in printed


@pytest.mark.parametrize("arguments", [["-h"], ["stats", "-h"], ["compact", "--help"], ["prune", "--help"]])
def test_help_has_examples(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert ended.value.code == 0
    assert "beamjudge verdicts prune eval/ --older_than 30d" in capsys.readouterr().out


def test_a_file_without_request_ids_is_wrong_usage(output, tmp_path, capsys):
    (tmp_path / "ids.txt").write_text("\n \n")
    assert run("prune", output, "--request_ids_file", tmp_path / "ids.txt") == 2
    assert "no request ids are given" in capsys.readouterr().err
    assert len(held(output / "verdicts", range(10))) == 6


@pytest.mark.parametrize("store", ["eval", "eval/", "eval/cache", "eval/rows/verdicts"])
def test_a_shared_store_may_not_be_among_the_results(tmp_path, capsys, store):
    log = tmp_path / "log.jsonl"
    log.write_text('{"request": "Where?", "response": "Here."}\n')
    command = ["evaluate", "--input", str(log), "--output", f"{tmp_path}/eval", "--quiet"]
    assert main([*command, "--verdict_store", f"{tmp_path}/{store}"]) == 2
    error = capsys.readouterr().err
    assert "expected a folder elsewhere" in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("store", "folder"),
    [(None, "eval/verdicts"), ("eval/verdicts", "eval/verdicts"), ("evals", "evals"), ("gs://b/v", "gs://b/v")],
)
def test_where_verdicts_are_stored(store, folder):
    assert RunConfig(input=["log.jsonl"], output="eval", verdict_store=store).verdict_folder == folder
