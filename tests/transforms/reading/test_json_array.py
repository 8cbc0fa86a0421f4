import json
from pathlib import Path

import pytest

from beamjudge.transforms.reading import json_array

ROWS = [{"request": "one"}, {"request": 'two, [three] " }'}, {"n": [1, {"x": "]"}]}]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ending", ["", "\n", "\r\n\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_one_array(tmp_path: Path, read_file, indent: int | None, ending: str, encoding: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(("\n " + json.dumps(ROWS, indent=indent) + ending).encode(encoding))
    read = read_file(path, split_bytes=10)
    assert read.rows == ROWS
    assert read.positions == ["0", "1", "2"]
    assert not read.rejects


@pytest.mark.parametrize("text", ["[]", "[ ]\n", "[\n]\n"])
def test_an_empty_array_has_no_rows(tmp_path: Path, read_file, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert read_file(path).stats[0].records == 0


@pytest.mark.parametrize(
    ("text", "rows", "rejects"),
    [
        ('[{"a": 1}, 5, {"a": 2}]', [{"a": 1}, {"a": 2}], [("not_an_object", "1")]),
        ('[{"a": 1}, {a: 1}, {"a": 2}]', [{"a": 1}, {"a": 2}], [("invalid_json", "1")]),
        ('[\n{"a": 1},\n{"a": "cut of', [{"a": 1}], [("invalid_json", "1")]),
        ('[\n{"a": 1},\n', [{"a": 1}], [("invalid_json", "1")]),
        ('[\n{"a": 1}\n', [{"a": 1}], [("invalid_json", "1")]),
        ('[\n{"a": 1},\n]', [{"a": 1}], [("invalid_json", "1")]),
        ('[\n{"a": 1}\n{"a": 2}\n]', [{"a": 1}], [("invalid_json", "1")]),
        ('[\n{"a": 1}\n]\n{"a": 2}', [{"a": 1}], [("invalid_json", "1")]),
        ('[{"a": 1}, ' + "[" * 300 + "]" * 300 + ', {"a": 2}]', [{"a": 1}, {"a": 2}], [("too_deep", "1")]),
        ("[" * 100_000, [], [("too_deep", "0")]),
    ],
)
def test_a_bad_element_costs_itself_and_a_broken_array_its_rest(
    tmp_path: Path, read_file, text: str, rows: list, rejects: list
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    read = read_file(path)
    assert (read.rows, read.codes) == (rows, rejects)


@pytest.mark.parametrize(
    ("first_line", "code"),
    [
        ("[1, 2]", "not_an_object"),
        ('[{"a": 0}]', "not_an_object"),
        ("[" + "9" * 5000 + "]", "not_an_object"),
        ("[NaN]", "not_an_object"),
        ("[2026-01-31 12:00] started", "invalid_json"),
        ('["unclosed', "invalid_json"),
    ],
)
def test_lines_whose_first_one_is_a_list_are_lines(tmp_path: Path, read_file, first_line: str, code: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(first_line + '\n{"a": 1}\n{"a": 2}\n')
    read = read_file(path, split_bytes=4)
    assert read.rows == [{"a": 1}, {"a": 2}]
    assert read.codes == [(code, "0")]
    assert read.positions[0] == str(len(first_line) + 1)


def test_bytes_that_are_not_utf8_cost_one_element(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"a": 1}, {"a": "caf\xe9"}, {"a": "caf\xc3\xa9"}]')
    read = read_file(path)
    assert read.rows == [{"a": 1}, {"a": "café"}]
    assert read.codes == [("invalid_utf8", "1")]
    assert read.rejects[0].raw == '{"a": "caf\ufffd"}'


def test_an_element_that_is_too_long(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"a": 1}, {"a": "x" * 100}]))
    read = read_file(path, max_record_bytes=100)
    assert (read.rows, read.codes) == ([{"a": 1}], [("too_long", "1")])


def test_an_array_over_the_limit_is_one_reject(tmp_path: Path, read_file, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_array, "MAX_ARRAY_BYTES", 3 << 20)
    monkeypatch.setattr(json_array, "_FIRST_LOOK_BYTES", 1 << 20)
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"a": "x" * (1 << 20)}] * 5))
    read = read_file(path)
    assert (read.rows, read.codes) == ([], [("unsupported_format", None)])
    # Lines are no array, however many there are, and however long the first one is.
    path.write_text("[" + '"x",' * 500_000 + '1]\n{"a": 1}\n' + " " * (4 << 20))
    read = read_file(path)
    assert (read.rows, read.codes) == ([{"a": 1}], [("not_an_object", "0")])
