"""What a store is said to hold, counted by hand."""

from store_harness import fill, verdict

from beamjudge.schemas.spend import Spend
from beamjudge.transforms.judging.store.compaction import compact
from beamjudge.transforms.judging.store.survey import Payer, Share, survey

HASH = "0123456789abcdef"


def test_verdicts_tokens_and_cost_by_who_paid_what(tmp_path):
    fill(tmp_path, 1, judge="safety", rating="yes", spend=Spend(1, 100, 10, 5, 3, 0.25), created=50.0)
    fill(tmp_path, 2, judge="safety", rating="no", spend=Spend(2, 50, 0, 6, 4, None), created=20.5)
    fill(tmp_path, 3, judge="tone", model="judge-2", rating="no", spend=Spend(1, 1, 1, 1, 0, 0.5), created=30.0)
    fill(tmp_path, 4, judge="safety", rating="yes", spend=Spend(1, 7, 0, 7, 0, 0.125), run_id="run-2", created=40.0)
    # Paid twice: the latest payment is the verdict's.
    fill(tmp_path, 4, judge="safety", rating="yes", spend=Spend(1, 9, 0, 9, 0, 0.5), run_id="run-3", created=10.0)
    told = {
        Payer("safety", HASH, "judge-1", "run-1"): Share(2, 1, 1, 3, 150, 10, 11, 7, 0.25),
        Payer("tone", HASH, "judge-2", "run-1"): Share(1, 0, 0, 1, 1, 1, 1, 0, 0.5),
        Payer("safety", HASH, "judge-1", "run-2"): Share(1, 1, 0, 1, 7, 0, 7, 0, 0.125),
    }
    found = survey(str(tmp_path))
    assert found.shares == told
    assert (found.oldest, found.newest) == (20.5, 50.0)
    assert (found.segments, found.generations, found.damaged_files, found.unfinished_files) == (5, 0, 0, 0)
    assert found.size == sum(path.stat().st_size for path in tmp_path.iterdir())
    compact(str(tmp_path))
    found = survey(str(tmp_path))
    assert found.shares == told
    assert (found.segments, found.generations) == (0, 1)
    assert found.size == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_an_empty_store(tmp_path):
    found = survey(str(tmp_path / "none"))
    assert (found.shares, found.oldest, found.size) == ({}, None, 0)


def test_verdict_is_the_judges_again():
    stored = verdict(10)
    assert stored.verdict().rating == "yes"
    assert stored.verdict().notes == ("truncated:retrieved_context",)
