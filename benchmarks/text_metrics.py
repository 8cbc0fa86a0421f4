"""Text metrics against the libraries that define them: the same numbers, in how much CPU time a row?

Each row has a response of 120 words and a reference of 60, made of common English words. rouge-score, sacrebleu and
nltk are called row by row, as is what computes our metrics for a row. Prints CPU milliseconds per row in this one
process, the ratio, and the largest difference between the two scores of a row.

Exits with 1 when a score differs by more than 1e-9, when BLEU, chrF, ROUGE, token F1 and edit similarity together, with
their observations for three slices, take more than 1.0 ms a row or are less than 8 times as fast as rouge-score plus
sacrebleu, or when TER is less than 4 times as fast as sacrebleu's.
"""

import argparse
import logging
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nltk.translate.meteor_score import meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER

from beamjudge.schemas.row import Row, SliceValue, TokenUsage
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.aggregation.observe import observe_row, run_metric_specs
from beamjudge.transforms.aggregation.state import Observation, SliceState
from beamjudge.transforms.metrics import compute_metrics
from beamjudge.transforms.metrics.text.tokenizers import bleu_tokens
from beamjudge.transforms.plan import RunPlan, plan_run

MAX_DIFFERENCE = 1e-9
MAX_MS = 1.0
MIN_RATIO = 8.0
MIN_TER_RATIO = 4.0
N_SLICES = 3
ROUNDS = 3
TOGETHER = ("bleu", "chrf", "rouge", "token_f1", "edit_similarity")
ROUGE_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")

_COMMON = """
the of and to in a is that for it as was with be by on not he this are or his from at which but have an had they
you were their one all we can her has there been if more when will would who so no said out about up into than
them only other new some could time these two may then do first any my now such like our over man me even most
after also did many before must through back years where much your way well down should because each just those
people how too little state good very make world still own see work long get here between both life being under
never day same another know while last might great old year off come since against go came right used take three
valve pump pressure switch sensor battery station customer invoice refund shipping account password reset button
"""
WORDS = _COMMON.split()

Scores = Mapping[str, float]


class Text(NamedTuple):
    response: str
    reference: str


class _NoWordNet:
    """METEOR's third stage without data."""

    def synsets(self, word: str) -> list[object]:
        return []


def texts(n: int, seed: int, n_response: int = 120, n_reference: int = 60) -> list[Text]:
    """Responses that quote their reference in places."""
    choose = random.Random(seed)
    made = []
    for _ in range(n):
        reference = choose.choices(WORDS, k=n_reference)
        response: list[str] = []
        while len(response) < n_response:
            if choose.random() < 0.4:
                start = choose.randrange(n_reference)
                response += reference[start : start + choose.randint(2, 8)]
            else:
                response += choose.choices(WORDS, k=choose.randint(2, 10))
        made.append(Text(_punctuate(response[:n_response], choose), _punctuate(reference, choose)))
    return made


def _punctuate(words: Sequence[str], choose: random.Random) -> str:
    marked = []
    for word in words:
        start = not marked or marked[-1].endswith(".")
        mark = choose.choices(["", ",", "."], [0.86, 0.07, 0.07])[0]
        marked.append((word.capitalize() if start else word) + mark)
    return " ".join(marked)


def as_row(text: Text, number: int) -> Row:
    slices = tuple(SliceValue(f"s{i}", str(number % 3), f"s{i}={number % 3}") for i in range(N_SLICES))
    return Row(
        request_id=f"row-{number}",
        timestamp=None,
        request="{}",
        response="{}",
        request_text="a question",
        history=(),
        response_text=text.response,
        expected_response=text.reference,
        expected_responses=(),
        expected_facts=None,
        guidelines=None,
        retrieved_context=None,
        expected_retrieved_context=None,
        usage=TokenUsage(),
        latency_seconds=None,
        notes=(),
        source_file="",
        source_position="",
        slices=slices,
    )


def plan_for(*metrics: str, stemmed: bool = False) -> RunPlan:
    config = RunConfig(input=["-"], output="-", judges=["none"], metrics=list(metrics), rouge_stemmer=stemmed)
    return plan_run(config)


def ours(plan: RunPlan) -> Callable[[Row], Scores]:
    """Our metrics of a row by their short names."""

    def score(row: Row) -> Scores:
        values = compute_metrics(plan.families, row).values
        return {name.rpartition("/")[2]: value for name, value in values.items() if isinstance(value, float)}

    return score


def ours_with_slices(plan: RunPlan) -> Callable[[Row], Scores]:
    """The same, and the row is added to the sums of all rows and of its three slices."""
    specs = run_metric_specs(plan)
    states = [SliceState() for _ in range(1 + N_SLICES)]

    def score(row: Row) -> Scores:
        evaluated = compute_metrics(plan.families, row)
        observation = observe_row(evaluated, specs, plan)
        states[0].add(observation)
        in_slice = Observation(observation.bucket, observation.observed)
        for state in states[1:]:
            state.add(in_slice)
        return {name.rpartition("/")[2]: value for name, value in evaluated.values.items() if isinstance(value, float)}

    return score


def rouge_library(stemmed: bool) -> Callable[[Text], Scores]:
    scorer = RougeScorer(ROUGE_TYPES, use_stemmer=stemmed)
    return lambda text: {name: score.fmeasure for name, score in scorer.score(text.reference, text.response).items()}


def sacrebleu_library(name: str, metric: BLEU | CHRF | TER) -> Callable[[Text], Scores]:
    return lambda text: {name: metric.sentence_score(text.response, [text.reference]).score}


def meteor_library() -> Callable[[Text], Scores]:
    def score(text: Text) -> Scores:
        response, reference = (bleu_tokens(part, "13a") for part in text)
        return {"meteor": meteor_score([reference], response, wordnet=_NoWordNet())}

    return score


def all_libraries() -> Callable[[Text], Scores]:
    parts = (
        rouge_library(False),
        sacrebleu_library("bleu", BLEU(effective_order=True)),
        sacrebleu_library("chrf", CHRF()),
    )
    return lambda text: {name: score for part in parts for name, score in part(text).items()}


class Comparison(NamedTuple):
    """One line of the table: what is compared, on how many rows a round, and the ratio that is asked for."""

    name: str
    library: str
    theirs: Callable[[Text], Scores]
    ours: Callable[[Row], Scores]
    n_rows: int
    min_ratio: float = 0.0
    max_ms: float = float("inf")


def comparisons(n_rows: int) -> Iterator[Comparison]:
    few = max(2, n_rows // 10)
    yield Comparison("ROUGE-1/2/L/Lsum", "rouge-score", rouge_library(False), ours(plan_for("rouge")), n_rows)
    yield Comparison(
        "  with stemmer", "rouge-score", rouge_library(True), ours(plan_for("rouge", stemmed=True)), n_rows
    )
    bleu = sacrebleu_library("bleu", BLEU(effective_order=True))
    yield Comparison("BLEU", "sacrebleu", bleu, ours(plan_for("bleu")), n_rows)
    yield Comparison("chrF", "sacrebleu", sacrebleu_library("chrf", CHRF()), ours(plan_for("chrf")), n_rows)
    chrfpp = sacrebleu_library("chrfpp", CHRF(word_order=2))
    yield Comparison("chrF++", "sacrebleu", chrfpp, ours(plan_for("chrfpp")), n_rows)
    yield Comparison("METEOR", "nltk", meteor_library(), ours(plan_for("meteor")), n_rows)
    yield Comparison("TER", "sacrebleu", sacrebleu_library("ter", TER()), ours(plan_for("ter")), few, MIN_TER_RATIO)
    yield Comparison(
        "BLEU + chrF + ROUGE + token F1 + edit similarity, 3 slices",
        "both",
        all_libraries(),
        ours_with_slices(plan_for(*TOGETHER)),
        n_rows,
        MIN_RATIO,
        MAX_MS,
    )


def measure(compared: Comparison, rounds: int) -> bool:
    """Print the line; whether it is as asked for. Each round has texts of its own: sacrebleu remembers texts."""
    theirs_ms = ours_ms = float("inf")
    difference = 0.0
    for number in range(rounds):
        given = texts(compared.n_rows, seed=number)
        rows = [as_row(text, i) for i, text in enumerate(given)]
        theirs, spent = _timed(compared.theirs, given)
        theirs_ms = min(theirs_ms, spent)
        found, spent = _timed(compared.ours, rows)
        ours_ms = min(ours_ms, spent)
        pairs = [(a[name], b[name]) for a, b in zip(theirs, found, strict=True) for name in a]
        difference = max(difference, *(abs(a - b) for a, b in pairs))
    ratio = theirs_ms / ours_ms
    passed = difference <= MAX_DIFFERENCE and ratio >= compared.min_ratio and ours_ms <= compared.max_ms
    numbers = f"{theirs_ms:>9.3f} {ours_ms:>7.3f} {ratio:>6.1f}x {difference:>8.1e}"
    print(f"{compared.name:<58} {compared.library:<11} {numbers}{'' if passed else '  FAILED'}", flush=True)
    return passed


def _timed(score: Callable[..., Scores], items: Sequence[Text] | Sequence[Row]) -> tuple[list[Scores], float]:
    """The scores, and CPU milliseconds an item."""
    score(items[0])  # what is loaded on first use
    started = time.process_time()
    scores = [score(item) for item in items]
    return scores, 1000 * (time.process_time() - started) / len(items)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100, help="rows of each round (default 100)")
    n_rows = parser.parse_args(argv).rows
    logging.disable(logging.INFO)
    print("Text metrics, 120 words against 60: CPU ms per row, in one process", flush=True)
    print(f"{'':<58} {'library':<11} {'theirs':>9} {'ours':>7} {'ratio':>7} {'differ':>8}", flush=True)
    passed = [measure(compared, ROUNDS) for compared in comparisons(n_rows)]
    print(
        f"equal to {MAX_DIFFERENCE:g}; together at most {MAX_MS} ms and {MIN_RATIO:g} times as fast, "
        f"TER {MIN_TER_RATIO:g} times: {'passed' if all(passed) else 'FAILED'}"
    )
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
