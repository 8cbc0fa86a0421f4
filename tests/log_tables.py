"""Records of every known table of logged calls, written for these tests."""

import base64
import json

ASK = "When does station 12 open?"
ANSWER = "At six."
CHAT_REQUEST = {"messages": [{"role": "user", "content": ASK}]}
CHAT_RESPONSE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "choices": [{"message": {"role": "assistant", "content": ANSWER}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}
SECOND = 1_795_997_595  # 2026-11-30T00:13:15Z
ISO = "2026-11-30T00:13:15.000Z"


def text(body):
    return json.dumps(body)


def captured(body, mode, encoding="BASE64"):
    data = base64.b64encode(text(body).encode()).decode() if encoding == "BASE64" else text(body)
    return {"observedContentType": "application/json", "mode": mode, "data": data, "encoding": encoding}


# name: (record, id, seconds of latency, tokens); every one asks ASK, answers ANSWER, at SECOND where it has a time.
TABLES = {
    "databricks_ai_gateway": (
        {
            "request_date": "2026-11-30",
            "databricks_request_id": "d1",
            "client_request_id": None,
            "request_time": ISO,
            "status_code": 200,
            "sampling_fraction": 1.0,
            "execution_duration_ms": 250,
            "request": text(CHAT_REQUEST),
            "response": text(CHAT_RESPONSE),
            "served_entity_id": "e",
            "logging_error_codes": [],
            "requester": "r",
        },
        "d1",
        0.25,
        (3, 2),
    ),
    "databricks_model_serving": (
        {
            "client_request_id": None,
            "databricks_request_id": "d2",
            "date": "2026-11-30",
            "timestamp_ms": SECOND * 1000,
            "status_code": 200,
            "execution_time_ms": 250,
            "request": text({"dataframe_split": {"columns": ["query"], "data": [[ASK]]}}),
            "response": text({"predictions": [ANSWER]}),
            "sampling_fraction": 1.0,
            "request_metadata": {"model_name": "m"},
        },
        "d2#0",
        0.25,
        (None, None),
    ),
    "databricks_agent_requests": (
        {
            "databricks_request_id": "d3",
            "timestamp_ms": SECOND * 1000,
            "status_code": 200,
            "execution_time_ms": 250,
            "conversation_id": "c",
            "request": ASK,
            "response": ANSWER,
            "request_raw": text(CHAT_REQUEST),
            "response_raw": text(CHAT_RESPONSE),
            "trace": None,
        },
        "d3",
        0.25,
        (3, 2),
    ),
    "databricks_unity_gateway": (
        {
            "invocation_id": "d4",
            "event_time": ISO,
            "status_code": 200,
            "latency_ms": 250,
            "request": text(CHAT_REQUEST),
            "response": text(CHAT_RESPONSE),
        },
        "d4",
        0.25,
        (3, 2),
    ),
    "vertex_request_response": (
        {
            "endpoint": "e",
            "deployed_model_id": "m",
            "logging_time": "2026-11-30 00:13:15.000000 UTC",
            "request_id": 123456789012345678901,
            "request_payload": [],
            "response_payload": [],
            "full_request": {"contents": [{"role": "user", "parts": [{"text": ASK}]}]},
            "full_response": {
                "candidates": [{"content": {"parts": [{"text": ANSWER}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
            },
        },
        "123456789012345678901",
        None,
        (3, 2),
    ),
    "sagemaker_data_capture": (
        {
            "captureData": {
                "endpointInput": captured({"inputs": ASK}, "INPUT"),
                "endpointOutput": captured([{"generated_text": ANSWER}], "OUTPUT"),
            },
            "eventMetadata": {"eventId": "s1", "inferenceTime": "2026-11-30T00:13:15Z"},
            "eventVersion": "0",
        },
        "s1#0",
        None,
        (None, None),
    ),
    "bedrock_invocation_log": (
        {
            "schemaType": "ModelInvocationLog",
            "schemaVersion": "1.0",
            "timestamp": ISO,
            "requestId": "b1",
            "operation": "Converse",
            "modelId": "m",
            "input": {
                "inputBodyJson": {"messages": [{"role": "user", "content": [{"text": ASK}]}]},
                "inputTokenCount": 3,
            },
            "output": {
                "outputBodyJson": {"output": {"message": {"role": "assistant", "content": [{"text": ANSWER}]}}},
                "outputTokenCount": 2,
            },
        },
        "b1",
        None,
        (3, 2),
    ),
    "litellm_spend_logs": (
        {
            "request_id": "l1",
            "call_type": "acompletion",
            "api_key": "hash",
            "spend": 0.1,
            "total_tokens": 5,
            "prompt_tokens": 3,
            "completion_tokens": 2,
            "startTime": ISO,
            "endTime": "2026-11-30T00:13:15.250Z",
            "model": "m",
            "messages": CHAT_REQUEST["messages"],
            "response": {"choices": CHAT_RESPONSE["choices"]},
            "status": "success",
        },
        "l1",
        0.25,
        (3, 2),
    ),
    "azure_apim_llm_log": (
        {
            "CorrelationId": "a1",
            "TimeGenerated": ISO,
            "RequestMessages": text(CHAT_REQUEST["messages"]),
            "ResponseMessages": text([{"role": "assistant", "content": ANSWER}]),
            "PromptTokens": 3,
            "CompletionTokens": 2,
            "TotalTokens": 5,
        },
        "a1",
        None,
        (3, 2),
    ),
    "azure_apim_gateway_log": (
        {
            "CorrelationId": "a2",
            "TimeGenerated": ISO,
            "ResponseCode": 200,
            "TotalTime": 250,
            "RequestBody": text(CHAT_REQUEST),
            "ResponseBody": text(CHAT_RESPONSE),
        },
        "a2",
        0.25,
        (3, 2),
    ),
    "openai_stored_completions": (
        {**CHAT_RESPONSE, "created": SECOND, "messages": CHAT_REQUEST["messages"], "metadata": {}},
        "chatcmpl-1",
        None,
        (3, 2),
    ),
    "openai_batch": (
        {
            "id": "batch_req_1",
            "custom_id": "o1",
            "body": CHAT_REQUEST,
            "response": {"status_code": 200, "request_id": "r", "body": {**CHAT_RESPONSE, "created": SECOND}},
            "error": None,
        },
        "o1",
        None,
        (3, 2),
    ),
    "access_log_with_bodies": (
        {
            "time_iso8601": "2026-11-30T00:13:15+00:00",
            "request": "POST /v1/chat/completions HTTP/1.1",
            "status": "200",
            "request_time": "0.250",
            "request_id": "n1",
            "request_body": text(CHAT_REQUEST),
            "response_body": text(CHAT_RESPONSE),
        },
        "n1",
        0.25,
        (3, 2),
    ),
    "http_exchange": (
        {
            "id": "h1",
            "method": "POST",
            "path": "/v1/chat/completions",
            "status": 200,
            "timestamp": ISO,
            "duration_ms": 250,
            "request": CHAT_REQUEST,
            "response": CHAT_RESPONSE,
        },
        "h1",
        0.25,
        (3, 2),
    ),
    "conversation": (
        {
            "id": "c1",
            "timestamp": ISO,
            "conversations": [{"from": "human", "value": ASK}, {"from": "gpt", "value": ANSWER}],
        },
        "c1",
        None,
        (None, None),
    ),
    "request_and_status": (
        {"request": ASK, "response": ANSWER, "status": 200, "request_id": "1", "timestamp": ISO},
        "1",
        None,
        (None, None),
    ),
    "messages_and_response": (
        {"id": "m1", "timestamp": ISO, "messages": CHAT_REQUEST["messages"], "response": ANSWER},
        "m1",
        None,
        (None, None),
    ),
    "ragas_samples": (
        {
            "request_id": "g1",
            "timestamp": ISO,
            "user_input": ASK,
            "response": ANSWER,
            "retrieved_contexts": ["Opens 6:00."],
        },
        "g1",
        None,
        (None, None),
    ),
    "mlflow_search_traces": (
        {
            "trace_id": "tr-1",
            "trace": text(
                {
                    "info": {"trace_id": "tr-1", "state": "OK"},
                    "data": {
                        "spans": [
                            {
                                "span_id": "s",
                                "attributes": {
                                    "mlflow.spanInputs": text({"question": ASK}),
                                    "mlflow.spanOutputs": text({"answer": ANSWER}),
                                },
                            }
                        ]
                    },
                }
            ),
            "client_request_id": None,
            "state": "OK",
            "request_time": SECOND * 1000,
            "execution_duration": 250,
            "request": {"question": ASK[:9]},
            "response": text({"answer": ANSWER[:3]}),
            "trace_metadata": {"mlflow.traceInputs": "{}"},
            "tags": {},
            "spans": [{"span_id": "s"}],
            "assessments": [],
        },
        "tr-1",
        0.25,
        (None, None),
    ),
    "trulens_records": (
        {
            "app_id": "app_hash_1",
            "record_id": "t1",
            "main_input": ASK,
            "main_output": ANSWER,
            "main_error": None,
            "cost": {"n_prompt_tokens": 3, "n_completion_tokens": 2, "n_tokens": 5, "cost": 0.1},
            "perf": {"start_time": "2026-11-30T00:13:15.000000", "end_time": "2026-11-30T00:13:15.250000"},
            "ts": "2026-11-30T00:13:16.000000",
            "calls": [],
        },
        "t1",
        0.25,
        (3, 2),
    ),
    "messages_and_answer": (
        {"id": "p1", "ts": SECOND, "messages": CHAT_REQUEST["messages"], "output": [ANSWER]},
        "p1",
        None,
        (None, None),
    ),
    "prompt_and_completion": (
        {"id": "p2", "created_at": ISO, "prompt": ASK, "completion": ANSWER, "latency_ms": 250},
        "p2",
        0.25,
        (None, None),
    ),
    "question_and_answer": (
        {"id": "p3", "timestamp": ISO, "question": ASK, "answer": ANSWER, "usage": {"prompt_tokens": 3}},
        "p3",
        None,
        (3, None),
    ),
    "input_and_output": (
        {"request_id": "p4", "id": 4, "timestamp": ISO, "input": CHAT_REQUEST, "output": CHAT_RESPONSE},
        "p4",
        None,
        (3, 2),
    ),
    "inputs_and_outputs": (
        {"id": "p5", "timestamp": ISO, "inputs": text({"query": ASK}), "outputs": text({"response": ANSWER})},
        "p5",
        None,
        (None, None),
    ),
    "ragas_annotations": (
        {
            "request_id": "g2",
            "timestamp": ISO,
            "metric": "helpfulness",
            "metric_input": {"user_input": ASK, "response": ANSWER},
            "metric_output": 1,
        },
        "g2",
        None,
        (None, None),
    ),
}
