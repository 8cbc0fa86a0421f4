import os
from pathlib import Path

import pytest

from beamjudge.schemas.errors import UsageError
from beamjudge.transforms.reading.files import match_files, partition_columns


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in (
        "logs/a.jsonl",
        "logs/b.parquet",
        "logs/.hidden.jsonl",
        "logs/_SUCCESS",
        "logs/_delta_log/0.json",
        "logs/.git/x.jsonl",
        "logs/dt=1/c.jsonl",
        "logs/dt=1/deep/d.jsonl",
        "logs/_dt=2/e.jsonl",
        "other/f.jsonl",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}\n")
    return tmp_path


VISIBLE = ["logs/_dt=2/e.jsonl", "logs/a.jsonl", "logs/b.parquet", "logs/dt=1/c.jsonl", "logs/dt=1/deep/d.jsonl"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["logs/a.jsonl"], ["logs/a.jsonl"]),
        (["logs"], VISIBLE),
        (["logs/"], VISIBLE),
        (["logs/*"], VISIBLE),
        (["logs/*.jsonl"], ["logs/a.jsonl"]),
        (["logs/**/*.jsonl"], [name for name in VISIBLE if name.endswith(".jsonl")]),
        (["logs/dt=*"], ["logs/dt=1/c.jsonl", "logs/dt=1/deep/d.jsonl"]),
        (["logs/dt=*/*.jsonl"], ["logs/dt=1/c.jsonl"]),
        (["logs/a*", "logs/b.p*"], ["logs/a.jsonl", "logs/b.parquet"]),
        (["logs/dt*"], ["logs/dt=1/c.jsonl", "logs/dt=1/deep/d.jsonl"]),
        (["logs/[ab].*"], ["logs/a.jsonl", "logs/b.parquet"]),
        (["logs/?.jsonl", "other", "logs/a.jsonl"], ["logs/a.jsonl", "other/f.jsonl"]),
        (["other/../logs/a.jsonl", "logs/./a.jsonl"], ["logs/a.jsonl"]),
        # What is named in full is meant.
        (["logs/.hidden.jsonl"], ["logs/.hidden.jsonl"]),
        (["logs/_SUCCESS"], ["logs/_SUCCESS"]),
        (["logs/_delta_log"], ["logs/_delta_log/0.json"]),
        (["logs/_delta_log/*"], ["logs/_delta_log/0.json"]),
        (["logs/.*"], ["logs/.git/x.jsonl", "logs/.hidden.jsonl"]),
    ],
)
def test_patterns(logs: Path, patterns: list[str], expected: list[str]) -> None:
    found = match_files([f"{logs}/{pattern}" for pattern in patterns])
    assert [os.path.relpath(file.path, logs) for file in found] == expected


def test_relative_patterns_give_absolute_paths(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(logs / "logs")
    assert [file.path for file in match_files(["*.jsonl"])] == [str(logs / "logs/a.jsonl")]
    assert [file.path for file in match_files(["a.jsonl", "./a.jsonl"])] == [str(logs / "logs/a.jsonl")]
    assert len(match_files(["."])) == len(VISIBLE)


def test_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"12345")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (file,) = match_files([str(path)])
    assert (file.size, file.modified) == (5, 1_700_000_000)


def test_glob_characters_in_names_that_exist(tmp_path: Path) -> None:
    folder = tmp_path / "run[1]"
    folder.mkdir()
    (folder / "what?.jsonl").write_bytes(b"{}")
    (folder / "whats.jsonl").write_bytes(b"{}")
    (tmp_path / "run1").mkdir()
    (tmp_path / "run1" / "x.jsonl").write_bytes(b"{}")
    assert [file.path for file in match_files([str(folder / "what?.jsonl")])] == [str(folder / "what?.jsonl")]
    assert len(match_files([str(folder)])) == 2


@pytest.mark.parametrize("pattern", ["logs/none.jsonl", "logs/*.csv", "empty", "logs/_S*UCCESS/x"])
def test_a_pattern_without_files_is_wrong_usage(logs: Path, pattern: str) -> None:
    (logs / "empty").mkdir()
    with pytest.raises(UsageError, match="matches no file; expected a file, folder or glob") as caught:
        match_files([f"{logs}/logs/a.jsonl", f"{logs}/{pattern}"])
    assert f"{logs}/{pattern}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_only_hidden_files(logs: Path) -> None:
    with pytest.raises(UsageError, match=r"matches only 1 hidden file\(s\)"):
        match_files([f"{logs}/logs/*SUCCESS"])


def test_unknown_filesystem() -> None:
    with pytest.raises(UsageError, match=r"cannot be listed .*beamjudge\[gcp\]") as caught:
        match_files(["nosuch://bucket/*.jsonl"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/logs/a.jsonl", {}),
        ("/logs/dt=2026-01-31/model=m/a=b.jsonl", {"dt": "2026-01-31", "model": "m"}),
        ("gs://bucket/x=1/y=a%3Ab=c/part", {"x": "1", "y": "a:b=c"}),
        ("/logs/=x/k=/z=__HIVE_DEFAULT_PARTITION__/a", {"k": ""}),
    ],
)
def test_partition_columns(path: str, expected: dict[str, str]) -> None:
    assert partition_columns(path) == expected
