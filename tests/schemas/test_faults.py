import json

import pytest

from beamjudge.schemas.responses import normalize_response

GUARDRAIL = {"usage": {}, "input_guardrail": [{"flagged": True}], "finishReason": "input_guardrail_triggered"}

FAULTS = [
    ({"error": {"message": "no", "type": "invalid_request_error"}}, "upstream_error"),
    ({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}, "upstream_error"),
    ({"error": "model 'm' not found"}, "upstream_error"),
    ({"object": "error", "message": "no", "code": 400}, "upstream_error"),
    ({"error_code": "BAD_REQUEST", "message": "no"}, "upstream_error"),
    ({"object": "response", "status": "failed", "error": {"code": "server_error"}, "output": []}, "upstream_error"),
    ({"error": {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, "blocked"),
    (GUARDRAIL, "blocked"),
    ({"response": {"error": {"message": "no"}}}, "upstream_error"),
    ({"body": {"error": {"message": "no"}}}, "upstream_error"),
    ({"output": {"error": {"message": "no"}}}, "upstream_error"),
    ({"status_code": 400, "body": {"error": {"code": "x"}}}, "upstream_error"),
    ({"response": {"status_code": 400, "body": {"error": "no"}}}, "upstream_error"),
    ({"response": {"error": {"code": "content_filter"}}}, "blocked"),
    ({"status": 503, "body": "upstream connect error"}, "upstream_error"),
    ({"status": 502.0, "headers": {"retry-after": "1"}, "body": None}, "upstream_error"),
    ({"statusCode": 500, "body": json.dumps({"error": {"message": "no"}})}, "upstream_error"),
    ({"statusCode": 429, "headers": {}, "body": {"detail": "slow down"}}, "upstream_error"),
    ({"status": 400, "body": json.dumps({"error": {"code": "content_filter"}})}, "blocked"),
    (
        {"status_code": 400, "body": json.dumps({"error_code": "BAD_REQUEST", "message": json.dumps(GUARDRAIL)})},
        "blocked",
    ),
    ({"statusCode": 200, "body": json.dumps({"error": {"message": "no"}})}, "upstream_error"),
    ({"response": {"status": 503, "body": "upstream connect error"}}, "upstream_error"),
    ({"error_code": "BAD_REQUEST", "message": json.dumps(GUARDRAIL)}, "blocked"),
    ({"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}, "blocked"),
    ({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}, "blocked"),
    ({"candidates": [{"finishReason": "SAFETY", "safetyRatings": []}]}, "blocked"),
    ({"candidates": [{"content": {"parts": []}, "finishReason": "RECITATION"}]}, "blocked"),
    ({"output": {"message": {"content": []}}, "stopReason": "guardrail_intervened"}, "blocked"),
    ({"content": [], "role": "assistant", "stop_reason": "refusal"}, "blocked"),
    (
        {"object": "response", "output": [{"type": "reasoning"}], "incomplete_details": {"reason": "content_filter"}},
        "blocked",
    ),
    (
        {
            "object": "response",
            "output": [{"type": "message", "id": "flagged", "content": [{"type": "output_text", "text": "b"}]}],
        },
        "blocked",
    ),
]


def _is_told_in_a_string(body):
    return not {"response", "body", "output"} & body.keys() or "object" in body


@pytest.mark.parametrize(("body", "code"), FAULTS)
def test_what_is_no_answer_has_a_code(body, code):
    form = normalize_response(body)
    assert (form.fault.code, form.text) == (code, "")
    assert normalize_response(form.canonical).fault == form.fault


@pytest.mark.parametrize(
    ("body", "code"),
    [fault for fault in FAULTS if _is_told_in_a_string(fault[0])],
)
def test_a_fault_in_a_string(body, code):
    assert normalize_response(json.dumps(body)).fault.code == code


@pytest.mark.parametrize("field", ["response", "body", "output"])
def test_the_chunks_in_an_envelope_are_joined(field):
    chunks = [{"choices": [{"delta": {"content": text}}]} for text in ("At", " six.")]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}})
    form = normalize_response({field: chunks})
    assert (form.text, form.notes, form.usage.input_tokens) == ("At six.", (), 3)


def test_the_reason_repeats_no_text():
    assert "secret" not in normalize_response({"error": {"message": "secret"}}).fault.reason


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"choices": [{"message": {"content": "a"}, "finish_reason": "content_filter"}]}, "a"),
        ({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "SAFETY"}]}, "a"),
        ({"content": [{"type": "text", "text": "a"}], "stop_reason": "refusal"}, "a"),
        ({"results": [{"outputText": "a"}], "amazon-bedrock-guardrailAction": "INTERVENED"}, "a"),
    ],
)
def test_what_a_filter_left_is_judged(body, text):
    form = normalize_response(body)
    assert (form.fault, form.text, form.notes) == (None, text, ("content_filtered",))


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": "a"}}], "error": None},
        {"output": [{"type": "message", "content": "a"}], "error": None, "text": {"format": {}}},
        {"text": "a", "error": {"message": "b"}},
        {"error": "none", "score": 1},
        {"message": "a", "code": 7},
        {"status": 404, "summary": "a"},
        {"status": 1200, "body": "a"},
        {"status": "failed", "body": "a"},
        {"status": True, "body": "a"},
        {"status": 500, "body": "a", "text": "b"},
    ],
)
def test_answers_beside_a_field_of_that_name(body):
    assert normalize_response(body).fault is None


@pytest.mark.parametrize(
    "body",
    [
        {"status": 404, "body": {"message": "Order not found"}},
        {"statusCode": 500, "body": "Internal Error"},
        {"statusCode": 200, "body": "Hello from Lambda!"},
        {"status": "422", "headers": ["a"], "rows": []},
    ],
)
def test_http_that_a_model_wrote_is_its_text(body):
    text = json.dumps(body)
    assert (normalize_response(text).text, normalize_response(text).fault) == (text, None)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"status": 404, "headers": {}, "message": {"role": "assistant", "content": "a"}}, "a"),
        ({"status": 404, "body": "", "generated_text": "a"}, "a"),
        ({"messages": [{"role": "assistant", "content": "a"}], "output": {"status": 404, "body": "x"}}, "a"),
        ({"status": 200, "text": "a", "body": "raw"}, "a"),
    ],
)
def test_an_answer_beside_a_status(body, text):
    assert (normalize_response(body).text, normalize_response(body).fault) == (text, None)


def test_a_table_with_a_status_is_no_failed_call():
    assert normalize_response({"status": "500", "headers": ["a"], "rows": [[1]]}).notes == ("other_response_shape",)
