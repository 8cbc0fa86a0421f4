"""What a person sees: short names, a share of work done, and nothing of a log that acts on the terminal."""

import pytest

from beamjudge.pipelines.report import done_share, printable, short_name


@pytest.mark.parametrize(
    ("metric", "short"),
    [
        ("response/overall_assessment/rating/percentage", "overall_assessment"),
        ("response/llm_judged/groundedness/rating/percentage", "groundedness"),
        ("response/llm_judged/guideline_adherence/tone/rating/percentage", "guideline_adherence/tone"),
        ("response/llm_judged/guideline_adherence/a/b/rating/percentage", "guideline_adherence/a/b"),
        ("retrieval/llm_judged/chunk_relevance/precision/average", "chunk_relevance/precision"),
        ("retrieval/ground_truth/document_recall/average", "document_recall"),
        ("agent/total_token_count/average", "total_token_count"),
        ("agent/total_token_count/sum", "total_token_count (sum)"),
        ("response/text/bleu/average", "bleu"),
        ("response/text/bleu/corpus@zh", "bleu (corpus@zh)"),
        ("slice/user/error", "user (error)"),
    ],
)
def test_short_names(metric, short):
    assert short_name(metric) == short


@pytest.mark.parametrize(
    ("bytes_read", "rows_read", "rows_done", "share"),
    # A log of 1,000 bytes: half read and all of that judged; all read, and 3 of 60 rows judged; nothing yet.
    [(500, 10, 10, 0.5), (1000, 60, 3, 0.05), (0, 0, 0, 0.0), (1200, 4, 4, 1.0)],
)
def test_the_share_of_work_done(bytes_read, rows_read, rows_done, share):
    now = {"bytes_read": bytes_read, "rows_read": rows_read, "rows_done": rows_done}
    assert done_share(now, 1000) == pytest.approx(share)


def test_text_of_a_log_has_no_effect_on_a_terminal():
    assert printable("[red]a[/red]\x1b[2J\u202eb\nc").plain == "[red]a[/red]\ufffd[2J\ufffdb\nc"
