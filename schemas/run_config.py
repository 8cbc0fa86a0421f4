"""One validated, immutable configuration behind the command line's flags and the config file.

Every key of the file is a flag's name, except the nested ones (`endpoints`, `judge_settings`, `rules`, `gates`), which
exist in the file only. `RunConfig` is what all stages are built from; it holds references to secrets, never a secret.
"""

import difflib
import hashlib
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from beamjudge.schemas.json_value import canonical_json, plain_json
from beamjudge.schemas.judges import BUILT_IN_JUDGES, Need, Protocol
from beamjudge.schemas.row import Guidelines
from beamjudge.schemas.rules import Rule
from beamjudge.schemas.text_tokenizers import TEXT_TOKENIZERS, why_unavailable

LEXICAL = "lexical"
# The endpoint that no judge is asked at: the application under test.
APP_ENDPOINT = "app"
DEFAULT_BASE_URL = "https://api.openai.com/v1"
METRIC_GROUPS: dict[str, tuple[str, ...]] = {
    "retrieval": (
        *("document_recall", "precision_at_k", "recall_at_k", "ndcg_at_k", "hit_rate_at_k"),
        *("mrr", "map", "r_precision"),
    ),
    "tokens": ("tokens",),
    "latency": ("latency",),
    "text": (
        *("bleu", "chrf", "chrfpp", "ter", "rouge", "meteor", "exact_match", "token_f1"),
        "edit_similarity",
    ),
    "form": ("length", "is_refusal", "is_json", "language"),
}
METRIC_NAMES: tuple[str, ...] = tuple(name for names in METRIC_GROUPS.values() for name in names)
# The columns of metrics that have others than one of their own name; each may be named by itself.
_COLUMNS_OF: dict[str, tuple[str, ...]] = {
    "tokens": ("total_token_count", "input_token_count", "output_token_count"),
    "latency": ("latency_seconds",),
    "rouge": ("rouge1", "rouge2", "rougeL", "rougeLsum"),
    "length": ("characters", "words", "sentences", "is_empty"),
    "language": ("language", "language_matches_request"),
}
_METRIC_OF = {column: metric for metric, columns in _COLUMNS_OF.items() for column in columns if column != metric}
_AT_RANK = re.compile(r"(precision|recall|ndcg|hit_rate)_at_([1-9]\d*)")
# Slow beside the others, and little asked for: it runs when it is named.
METRICS_ON_REQUEST: tuple[str, ...] = ("ter",)
INPUT_COLUMNS: tuple[str, ...] = (
    "request_id",
    "request",
    "response",
    "trace",
    "expected_response",
    "expected_facts",
    "guidelines",
    "expected_retrieved_context",
    "retrieved_context",
    "timestamp",
)
# A reference to an environment variable, in endpoints only.
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_KEY_REFERENCE = re.compile(r"(env|file|gcp-secret):.+")
_OWN_PARAMETERS = {"model", "messages", "n", "stream", "stream_options", "tools", "response_format"}
_SLICE = re.compile(r"[^*,\s][^*,]*(\*[^*,]+)*")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Price(_Model):
    """US dollars per million tokens; cached input costs as input where it is not given."""

    input: Annotated[float, Field(ge=0, strict=False)]
    output: Annotated[float, Field(ge=0, strict=False)]
    cached_input: Annotated[float, Field(ge=0, strict=False)] | None = None


class Endpoint(_Model):
    """An OpenAI-compatible endpoint. `api_key` is a reference that is resolved on the worker."""

    model: str
    base_url: str = DEFAULT_BASE_URL
    api_key: str = "env:OPENAI_API_KEY"
    headers: dict[str, str] = {}
    parameters: dict[str, Any] = {}
    context_tokens: Annotated[int, Field(gt=0)] | None = None
    price_per_million: Price | None = None
    requests_per_minute: Annotated[int, Field(gt=0)] | None = None
    tokens_per_minute: Annotated[int, Field(gt=0)] | None = None

    @field_validator("api_key")
    @classmethod
    def _is_reference(cls, value: str) -> str:
        if not _KEY_REFERENCE.fullmatch(value):
            # The value may be a key that was pasted here, so the message must not repeat it.
            raise ValueError("expected a reference: env:NAME, file:PATH or gcp-secret:NAME, not the key itself")
        return value

    @field_validator("parameters")
    @classmethod
    def _are_free(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in _OWN_PARAMETERS.intersection(value):
            raise ValueError(f"{name} is set by beamjudge itself; remove it")
        return {name: _plain(name, given) for name, given in value.items()}

    @field_validator("base_url")
    @classmethod
    def _is_url(cls, value: str) -> str:
        if not re.match(r"https?://[^/@\s]+(/|$)", value):
            # What stands before an @ or behind a ? may be a key, so the message must not repeat it.
            is_open = not {"@", "?"}.intersection(value)
            given = repr(value) if is_open else "a URL that is not repeated here, as it may hold a key"
            raise ValueError(f"got {given}; expected http:// or https://, a host and a path, without user or password")
        return value

    @property
    def is_lexical(self) -> bool:
        return self.model == LEXICAL

    @property
    def address(self) -> str:
        """The base URL as it may be shown: without a query, in which some gateways take a key."""
        return self.base_url.partition("?")[0]

    @property
    def needs_key(self) -> bool:
        """An own base URL with the default reference needs no key (Ollama, llama.cpp, vLLM)."""
        return not self.is_lexical and (self.base_url == DEFAULT_BASE_URL or self.api_key != "env:OPENAI_API_KEY")


class JudgeSettings(_Model):
    """What a judge has of its own: an endpoint's name and a protocol."""

    endpoint: str = "default"
    protocol: Annotated[Protocol, Field(strict=False)] | None = None


class Gates(_Model):
    """Conditions on a finished run; a failed one ends with exit code 3 after everything is written."""

    max_reject_rate: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.05
    max_error_rate: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.05
    max_bad_files: Annotated[int, Field(ge=0)] = 0
    min_rows: Annotated[int, Field(ge=0)] = 0
    min_value: dict[str, Annotated[float, Field(strict=False)]] = {}
    min_scored: dict[str, Annotated[int, Field(ge=0)]] = {}


class RunConfig(_Model):
    """A run of `beamjudge evaluate`, complete: the same configuration and input give the same tables."""

    input: Annotated[list[str], Field(min_length=1)]
    output: str
    columns: dict[str, str] = {}
    judges: list[str] | None = None
    metrics: list[str] | None = None
    retrieval_k: Annotated[list[Annotated[int, Field(gt=0)]], Field(min_length=1)] = [1, 3, 5, 10]
    text_tokenizer: str = "auto"
    rouge_stemmer: bool = False
    rules: list[Rule] = []
    global_guidelines: list[str] | dict[str, list[str]] = []
    endpoints: dict[str, Endpoint] = {"default": Endpoint(model=LEXICAL)}
    judge_settings: dict[str, JudgeSettings] = {}
    slice_by: list[str] = []
    cluster_by: str | None = None
    sample_rate: Annotated[float, Field(gt=0, le=1, strict=False)] = 1.0
    max_judge_calls: Annotated[int, Field(ge=0)] | None = None
    max_cost_usd: Annotated[float, Field(ge=0, strict=False)] | None = None
    gates: Gates = Gates()
    confidence: Annotated[float, Field(gt=0, le=0.999999, strict=False)] = 0.95
    keep_extra: bool = False
    store_text: Literal["full", "none"] = "full"
    store_rationales: Literal["on", "off"] = "on"
    group_spans: Literal["auto", "on", "off"] = "auto"
    max_record_mb: Annotated[float, Field(gt=0, strict=False)] = 64
    run_date: str | None = None
    time_zone: str = "UTC"
    overwrite: bool = False
    max_concurrency: Annotated[int, Field(gt=0)] = 32
    judge_processes: Annotated[int, Field(gt=0)] | None = None
    judge_timeout: Annotated[float, Field(gt=0, strict=False)] = 120.0
    verdict_store: str | None = None
    no_verdict_reuse: bool = False
    reshuffle: Literal["auto", "on", "off"] = "auto"

    @field_validator("output")
    @classmethod
    def _output_is_one_folder(cls, value: str) -> str:
        # Beam's file sinks list a folder by a pattern that starts with its name.
        if set(value) & set("*?["):
            raise ValueError(f"got {value!r}; expected a folder's name without the glob characters * ? [")
        return value

    @field_validator("store_rationales", "reshuffle", "group_spans", mode="before")
    @classmethod
    def _on_is_no_boolean(cls, value: object) -> object:
        # YAML reads a bare on or off as true or false.
        return {True: "on", False: "off"}[value] if isinstance(value, bool) else value

    @field_validator("columns")
    @classmethod
    def _columns_are_known(cls, value: dict[str, str]) -> dict[str, str]:
        unknown = [name for name in value if name not in INPUT_COLUMNS]
        if unknown:
            turned = value[unknown[0]] in INPUT_COLUMNS
            hint = f"; did you mean {value[unknown[0]]}={unknown[0]}, our name first?" if turned else ""
            raise ValueError(f"unknown input column {unknown[0]!r}; expected one of {', '.join(INPUT_COLUMNS)}{hint}")
        return value

    @field_validator("judges")
    @classmethod
    def _judges_are_known(cls, value: list[str] | None) -> list[str] | None:
        return _known(value, (*JUDGE_NAMES, "document_recall"), "judge")

    @field_validator("metrics")
    @classmethod
    def _metrics_are_known(cls, value: list[str] | None) -> list[str] | None:
        named = [name for name in value or () if not _AT_RANK.fullmatch(name)]
        _known(named, (*METRIC_GROUPS, *METRIC_NAMES, *_METRIC_OF), "metric")
        return [] if value == ["none"] else value

    @field_validator("retrieval_k")
    @classmethod
    def _ranks_are_distinct(cls, value: list[int]) -> list[int]:
        if len(set(value)) < len(value):
            raise ValueError("a rank is given twice")
        return sorted(value)

    @field_validator("text_tokenizer")
    @classmethod
    def _tokenizer_is_available(cls, value: str) -> str:
        if value not in TEXT_TOKENIZERS:
            raise ValueError(f"got {value!r}; expected one of {', '.join(TEXT_TOKENIZERS)}")
        if reason := why_unavailable(value):
            raise ValueError(reason)
        return value

    @field_validator("rules")
    @classmethod
    def _rules_are_distinct(cls, value: list[Rule]) -> list[Rule]:
        names = [rule.name for rule in value]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two rules are named {name}; expected a name of its own for each")
        return value

    @field_validator("slice_by")
    @classmethod
    def _slices_are_paths(cls, value: list[str]) -> list[str]:
        for slice_name in value:
            if not _SLICE.fullmatch(slice_name):
                raise ValueError(f"{slice_name!r} is no slice; expected a column, a dotted path, or several with *")
        if len(set(value)) < len(value):
            raise ValueError("a slice is named twice")
        return value

    @model_validator(mode="after")
    def _store_is_not_among_results(self) -> "RunConfig":
        output, store = (f"{(folder or '').rstrip('/')}/" for folder in (self.output, self.verdict_store))
        if store.startswith(output) and not store.startswith(f"{output}verdicts/"):
            raise ValueError(
                f"verdict_store: {self.verdict_store!r} is in the output folder {self.output!r}, which holds a run's "
                "results only; expected a folder elsewhere, or none for verdicts/ in the output folder"
            )
        return self

    @model_validator(mode="after")
    def _ranks_are_measured(self) -> "RunConfig":
        for name in self.metrics or ():
            at = _AT_RANK.fullmatch(name)
            if at and int(at[2]) not in self.retrieval_k:
                measured = ", ".join(map(str, self.retrieval_k))
                raise ValueError(f"metrics: {name} is at a rank that is not in retrieval_k ({measured}); add it there")
        return self

    @model_validator(mode="after")
    def _endpoints_exist(self) -> "RunConfig":
        for judge, settings in self.judge_settings.items():
            if judge not in JUDGE_NAMES:
                raise ValueError(f"judge_settings: unknown judge {judge!r}; expected one of {', '.join(JUDGE_NAMES)}")
            needs = next(spec.needs for spec in BUILT_IN_JUDGES if spec.name == judge)
            if settings.protocol is Protocol.MINICHECK and not {Need.RESPONSE, Need.CONTEXT} <= needs:
                raise ValueError(
                    f"judge_settings.{judge}.protocol: minicheck compares a response with a context, which "
                    f"{judge} does not do; expected structured or yes_no"
                )
            if settings.endpoint not in self.endpoints:
                raise ValueError(
                    f"judge_settings.{judge}.endpoint: no endpoint {settings.endpoint!r}; "
                    f"endpoints has {', '.join(self.endpoints)}"
                )
            if settings.protocol is Protocol.MINICHECK and self.endpoints[settings.endpoint].is_lexical:
                raise ValueError(
                    f"judge_settings.{judge}.protocol: minicheck is how a model is asked, and the endpoint "
                    f"{settings.endpoint} is {LEXICAL}: its rules need no protocol; name another endpoint, or remove it"
                )
        if "default" not in self.endpoints:
            raise ValueError("endpoints: an endpoint named default is needed")
        return self

    @model_validator(mode="after")
    def _app_is_an_application(self) -> "RunConfig":
        for judge, settings in self.judge_settings.items():
            if settings.endpoint == APP_ENDPOINT:
                raise ValueError(
                    f"judge_settings.{judge}.endpoint: {APP_ENDPOINT} is the application under test and no judge; "
                    "give the judges' endpoint another name"
                )
        if self.app is not None and self.app.is_lexical:
            raise ValueError(
                f"endpoints.{APP_ENDPOINT}.model: {LEXICAL} are rules that judge and cannot answer; expected the name "
                "of the application's model"
            )
        if self.app is not None and self.app.context_tokens is not None:
            raise ValueError(
                f"endpoints.{APP_ENDPOINT}.context_tokens: what the application is asked is never cut; remove it"
            )
        return self

    @property
    def app(self) -> Endpoint | None:
        """The application under test, which answers the rows that have neither a response nor a trace."""
        return self.endpoints.get(APP_ENDPOINT)

    @property
    def guidelines(self) -> Guidelines:
        """The run's guidelines in the form in which a row has its own."""
        if isinstance(self.global_guidelines, dict):
            return Guidelines(named=tuple((name, tuple(rules)) for name, rules in self.global_guidelines.items()))
        return Guidelines(rules=tuple(self.global_guidelines))

    @property
    def verdict_folder(self) -> str:
        """Where verdicts are stored: a store that runs share, or the run's own."""
        return self.verdict_store or f"{self.output.rstrip('/')}/verdicts"

    def selected_judges(self) -> tuple[str, ...]:
        """The names of the judges that run, in the order of the built-in list."""
        by_default = tuple(
            spec.name
            for spec in BUILT_IN_JUDGES
            if spec.by_default and (Need.GLOBAL_GUIDELINES not in spec.needs or self.global_guidelines)
        )
        if self.judges is None:
            return by_default
        return tuple(name for name in JUDGE_NAMES if name in self.judges)

    def selected_metrics(self) -> tuple[str, ...]:
        """The names of the metrics that run; a group stands for its members but those that run on request only."""
        by_default = set(METRIC_NAMES) - set(METRICS_ON_REQUEST)
        if self.metrics is None:
            return tuple(name for name in METRIC_NAMES if name in by_default)
        wanted = {metric_of(name) for name in self.metrics}
        for group, members in METRIC_GROUPS.items():
            if group in wanted:
                wanted |= by_default.intersection(members)
        if "document_recall" in (self.judges or ()):
            wanted.add("document_recall")
        return tuple(name for name in METRIC_NAMES if name in wanted)

    def selected_columns(self, metric: str) -> frozenset[str] | None:
        """The columns of a selected metric that run, by their last names; null for all, unless some are named."""
        group = next(group for group, members in METRIC_GROUPS.items() if metric in members)
        if self.metrics is None or not {metric, group}.isdisjoint(self.metrics):
            return None
        return frozenset(name for name in self.metrics if metric_of(name) == metric) or None

    def endpoint_of(self, judge: str) -> Endpoint:
        settings = self.judge_settings.get(judge)
        return self.endpoints[settings.endpoint if settings else "default"]

    def protocol_of(self, judge: str, default: Protocol) -> Protocol:
        settings = self.judge_settings.get(judge)
        return settings.protocol if settings and settings.protocol else default

    @property
    def run_id(self) -> str:
        """16 hex digits over the input patterns, the run date and what changes tables; not gates or concurrency."""
        fields = self.model_dump(mode="json", include=_TABLE_FIELDS)
        for endpoint in fields["endpoints"].values():
            for name in ("api_key", "headers", "price_per_million", "requests_per_minute", "tokens_per_minute"):
                del endpoint[name]
        return hashlib.sha256(canonical_json(fields).encode()).hexdigest()[:16]


JUDGE_NAMES: tuple[str, ...] = tuple(spec.name for spec in BUILT_IN_JUDGES)
_TABLE_FIELDS = {
    "input",
    "columns",
    "judges",
    "metrics",
    "retrieval_k",
    "text_tokenizer",
    "rouge_stemmer",
    "rules",
    "global_guidelines",
    "endpoints",
    "judge_settings",
    "slice_by",
    "cluster_by",
    "sample_rate",
    "max_judge_calls",
    "max_cost_usd",
    "confidence",
    "keep_extra",
    "store_text",
    "store_rationales",
    "group_spans",
    "max_record_mb",
    "run_date",
}


def metric_of(name: str) -> str:
    """The metric that a name of `metrics` stands for: that of its column, or itself (a metric or a group)."""
    at = _AT_RANK.fullmatch(name)
    return f"{at[1]}_at_k" if at else _METRIC_OF.get(name, name)


def _plain(name: str, value: Any) -> Any:
    try:
        return plain_json(value)
    except ValueError as error:
        raise ValueError(f"{name} {error}; expected text, numbers, true, false, null, lists and objects") from None


def _known(value: list[str] | None, allowed: tuple[str, ...], what: str) -> list[str] | None:
    """`none` alone means no such thing; any other name has to be known."""
    if value == ["none"]:
        return []
    for name in value or ():
        if name == "none":
            raise ValueError(f"none stands alone; got {', '.join(value or ())}")
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            names = ", ".join(dict.fromkeys(allowed))
            raise ValueError(f"unknown {what} {name!r}; expected none, or some of {names}{hint}")
    return value
