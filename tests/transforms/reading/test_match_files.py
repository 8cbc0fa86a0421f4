import os
from pathlib import Path
from typing import Any

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


def read_as(patterns: list[str], root: Path) -> list[str]:
    return [os.path.relpath(file.path, root) for file in match_files([f"{root}/{pattern}" for pattern in patterns])]


def test_links_to_folders_and_files_are_followed(logs: Path) -> None:
    (logs / "links").mkdir()
    (logs / "links" / "dt=3").symlink_to(logs / "other")
    (logs / "links" / "g.jsonl").symlink_to(logs / "logs" / "a.jsonl")
    assert read_as(["links"], logs) == ["links/dt=3/f.jsonl", "links/g.jsonl"]
    assert read_as(["links/dt=*/*.jsonl"], logs) == ["links/dt=3/f.jsonl"]
    assert read_as(["links/dt=3"], logs) == ["links/dt=3/f.jsonl"]


def test_what_several_names_lead_to_is_read_once(logs: Path) -> None:
    (logs / "logs" / "latest").symlink_to(logs / "logs" / "dt=1")
    (logs / "logs" / "current.jsonl").symlink_to("a.jsonl")
    (logs / "logs" / "x1").symlink_to(logs / "other")
    (logs / "logs" / "x2").symlink_to(logs / "other")
    assert read_as(["logs"], logs) == [*VISIBLE, "logs/x1/f.jsonl"]
    # Named by the link alone, what it leads to is meant.
    assert read_as(["logs/late*"], logs) == ["logs/latest/c.jsonl", "logs/latest/deep/d.jsonl"]


def test_links_in_a_circle_end(logs: Path) -> None:
    (logs / "logs" / "dt=1" / "up").symlink_to(logs / "logs")
    (logs / "other" / "round").symlink_to(logs / "other" / "round")
    (logs / "other" / "ab").symlink_to(logs / "a")
    (logs / "a").mkdir()
    (logs / "a" / "back").symlink_to(logs / "other")
    (logs / "a" / "h.jsonl").write_bytes(b"{}")
    assert read_as(["logs"], logs) == VISIBLE
    # What leads to nothing is listed, so that it counts as a file that cannot be read.
    assert read_as(["other"], logs) == ["other/ab/h.jsonl", "other/f.jsonl", "other/round"]


def test_a_folder_that_cannot_be_listed_is_wrong_usage(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir
    closed = {"deep"}

    def scandir(path: str) -> Any:
        if Path(path).name in closed:
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(UsageError, match=r"logs' cannot be listed \(PermissionError.*deep/'.*check the path") as caught:
        match_files([f"{logs}/logs"])
    assert "\n" not in str(caught.value)
    closed = {".git", "_delta_log"}
    assert read_as(["logs"], logs) == VISIBLE  # nothing in these would be read


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


def test_an_input_inside_the_output_folder_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("in/a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text("{}\n")
    inside, beside, output = str(tmp_path / "in/a.jsonl"), str(tmp_path / "b.jsonl"), str(tmp_path / "in")
    with pytest.raises(
        UsageError, match=rf"'{inside}' lies inside --output '{output}'.*such as --output {output}/eval$"
    ):
        match_files([beside, inside], output)
    assert [file.path for file in match_files([beside, inside], f"{output}/eval")] == [beside, inside]
