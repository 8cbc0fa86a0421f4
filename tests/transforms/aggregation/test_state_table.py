"""States survive the state table, and tables of several runs add up to the run over their union."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.assessment import Outcome, VerdictCounts
from beamjudge.schemas.metric import MetricKind, Observed
from beamjudge.schemas.spend import NO_JUDGE_SPEND, JudgeSpend, Spend
from beamjudge.schemas.tables.state import STATE_SCHEMA
from beamjudge.transforms.aggregation.state import Observation, SliceState
from beamjudge.transforms.aggregation.state_table import state_records, states_from_records

OUTCOMES = st.sampled_from([Outcome.NOT_APPLICABLE, Outcome.NOT_SAMPLED, Outcome.ERROR])
# Multiples of 1/4, so that sums have no rounding and merged states compare exactly.
QUARTERS = st.integers(-4000, 4000).map(lambda n: n / 4)


def observed(kind: MetricKind, scored: st.SearchStrategy[Observed]) -> st.SearchStrategy[Observed]:
    return scored | OUTCOMES.map(lambda outcome: Observed(kind, outcome))


def observations(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[list[Observation]]:
    share = st.sampled_from([0.0, 1.0]).map(lambda value: Observed(MetricKind.SHARE, Outcome.SCORED, value))
    bounds = st.none() | st.tuples(numbers, numbers)
    mean = st.builds(Observed, st.just(MetricKind.MEAN), st.just(Outcome.SCORED), numbers, st.none(), bounds)
    corpus = st.tuples(st.integers(0, 2**40), st.integers(0, 9)).map(
        lambda stats: Observed(MetricKind.CORPUS, Outcome.SCORED, stats=stats)
    )
    metrics = {
        "a/rating": observed(MetricKind.SHARE, share),
        "b": observed(MetricKind.MEAN, mean),
        "ü/corpus": observed(MetricKind.CORPUS, corpus),
    }
    spend = st.builds(Spend, *[st.integers(0, 99)] * 5, st.none() | QUARTERS)
    spends = st.builds(JudgeSpend, spend, spend, spend).filter(lambda spends: spends != NO_JUDGE_SPEND)
    verdicts = st.builds(VerdictCounts, st.integers(0, 2**40), st.integers(0, 9))
    return st.lists(
        st.builds(
            Observation,
            st.integers(0, 255),
            st.fixed_dictionaries({}, optional=metrics),
            st.none() | st.integers(0, 2**64 - 1),
            st.lists(st.tuples(st.sampled_from(["safety", "tone"]), spends), max_size=2).map(tuple),
            st.just(False),
            st.lists(st.tuples(st.sampled_from(["safety", "tone"]), verdicts), max_size=2).map(tuple),
        ),
        max_size=15,
    )


def state_of(rows: list[Observation]) -> SliceState:
    state = SliceState()
    for row in rows:
        state.add(row)
    return state


def through_parquet(*runs: dict[str, SliceState]) -> dict[str, SliceState]:
    records = [
        record
        for number, states in enumerate(runs)
        for name, state in states.items()
        for record in state_records(f"run-{number}", name, state)
    ]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records, schema=STATE_SCHEMA), file, compression="zstd")
    table = pq.read_table(io.BytesIO(file.getvalue()))
    assert table.schema.equals(STATE_SCHEMA)
    return states_from_records(table.to_pylist())


@settings(max_examples=60, deadline=None)
@given(observations(st.floats(-1e100, 1e100)), observations(st.floats(-1e100, 1e100)))
def test_states_survive_the_table(some: list[Observation], more: list[Observation]) -> None:
    states = {"overall": state_of(some), "model=a,locale=(null)": state_of(more)}
    assert through_parquet(states) == states


@settings(max_examples=60, deadline=None)
@given(observations(st.integers(-4000, 4000).map(float)), observations(st.integers(-4000, 4000).map(float)))
def test_tables_of_two_runs_add_up(some: list[Observation], more: list[Observation]) -> None:
    merged = through_parquet({"overall": state_of(some)}, {"overall": state_of(more)})["overall"]
    expected = state_of(some)
    expected.merge(state_of(more))
    assert merged == expected


def test_records_have_a_cell_for_every_field() -> None:
    state = state_of([Observation(1, {"b": Observed(MetricKind.MEAN, Outcome.SCORED, 1.5)}, 3)])
    records = list(state_records("run", "overall", state))
    assert [list(record) for record in records] == [STATE_SCHEMA.names] * 2
    assert [(record["key"], record["kind"], record["n_rows"]) for record in records] == [
        (None, None, 1),
        ("b", "mean", 1),
    ]
    assert records[0]["id_hashes"] == b"\x03" + bytes(7)


def test_more_id_hashes_than_fit_into_a_cell_are_in_rows_of_their_own() -> None:
    state = SliceState()
    state.n_rows = 150_000
    state.id_hashes.extend(range(150_000, 0, -1))
    records = list(state_records("run", "overall", state))
    # 512 KiB hold 65,536 hashes: 150,000 = 65,536 + 65,536 + 18,928.
    assert [len(record["id_hashes"]) for record in records] == [8 * 65_536, 8 * 65_536, 8 * 18_928]
    assert [record["n_rows"] for record in records] == [150_000, 0, 0]
    assert records[1]["id_hashes"][:8] == (65_537).to_bytes(8, "little")
    assert through_parquet({"overall": state})["overall"] == state
