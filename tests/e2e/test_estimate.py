"""`--estimate`: calls and bounds by hand, nothing asked and nothing written."""

import json
import re

from fake_endpoint import FakeEndpoint

from beamjudge.pipelines.cli import main
from beamjudge.transforms.sample import is_sampled


def write(tmp_path, endpoint, price="{input: 1, output: 2}"):
    named = {"x": ["a"], "y": ["b"]}
    rows = [
        {"request_id": f"r{i}", "request": f"q{i}", "response": "a" if i else "", "guidelines": named}
        for i in range(40)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    priced = f", price_per_million: {price}" if price else ""
    (tmp_path / "run.yaml").write_text(
        f"endpoints: {{default: {{model: m, base_url: '{endpoint.base_url}', "
        f"parameters: {{max_tokens: 500}}{priced}}}}}"
    )
    return ["evaluate", "--config", str(tmp_path / "run.yaml"), "--input", str(tmp_path / "log.jsonl"), "--output",
            str(tmp_path / "out"), "--judges", "safety,guideline_adherence", "--estimate"]  # fmt: skip


def printed_numbers(printed):
    lines = [
        re.split(r"  +", line.strip())
        for line in printed.splitlines()
        if line.startswith(("safety", "guideline", "all"))
    ]
    return {line[0]: line[1:] for line in lines}


def test_calls_tokens_and_cost_are_printed_and_nothing_happens(tmp_path, capsys):
    with FakeEndpoint() as endpoint:
        assert main(write(tmp_path, endpoint)) == 0
        assert endpoint.requests == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "run.yaml"]
    numbers = printed_numbers(capsys.readouterr().out)
    # The empty response needs no call; two named guidelines are two calls. A reply is at most 500 tokens.
    assert numbers["safety"][:3] == ["m", "39", "39"]
    assert numbers["safety"][4] == "19,500"
    assert numbers["guideline_adherence"][:3] == ["m", "39", "78"]
    assert numbers["guideline_adherence"][4] == "39,000"
    assert numbers["all"][:2] == ["39", "117"]
    inputs = [int(numbers[judge][3].replace(",", "")) for judge in ("safety", "guideline_adherence")]
    assert float(numbers["all"][-1]) == round((sum(inputs) * 1 + 58_500 * 2) / 1e6, 4)


def test_a_sample_and_caps_are_estimated_as_they_would_be_judged(tmp_path, capsys):
    sampled = sum(is_sampled(f"r{i}", 0.5) for i in range(1, 40))
    with FakeEndpoint() as endpoint:
        flags = write(tmp_path, endpoint)
        assert main([*flags, "--sample_rate", "0.5"]) == 0
        assert printed_numbers(capsys.readouterr().out)["all"][:2] == [str(sampled), str(3 * sampled)]
        assert main([*flags, "--max_judge_calls", "10"]) == 0
        # Three calls a row: three rows fit into ten calls.
        assert printed_numbers(capsys.readouterr().out)["all"][:2] == ["3", "9"]


def test_an_unknown_price_is_said(tmp_path, capsys):
    with FakeEndpoint() as endpoint:
        assert main(write(tmp_path, endpoint, price=None)) == 0
    printed = capsys.readouterr().out
    assert printed_numbers(printed)["all"][-1] == "unknown"
    assert "No price is known for m" in printed


def test_other_runners_are_refused(tmp_path, capsys):
    with FakeEndpoint() as endpoint:
        assert main([*write(tmp_path, endpoint), "--runner", "FlinkRunner"]) == 2
    assert "--estimate: got --runner FlinkRunner; expected DirectRunner" in capsys.readouterr().err
