"""Edit similarity: how few characters have to be changed to turn the response into the reference."""

from collections.abc import Mapping
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.scored_text import AUTO, scored_text

_COLUMN = "response/text/edit_similarity"


def edit_similarity(response: str, reference: str) -> float:
    """1 - Levenshtein's distance / the longer text's length, over characters (code points), in [0, 1]."""
    similarity: float = Levenshtein.normalized_similarity(response, reference)
    return similarity


@dataclass(frozen=True, slots=True)
class _EditSimilarity:
    """The best score that any reference gives."""

    setting: str

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        texts = scored_text(row, self.setting)
        if texts is None:
            return {_COLUMN: None}
        return {_COLUMN: max([edit_similarity(texts.response, reference) for reference in texts.references])}


def edit_similarity_family(setting: str) -> MetricFamily:
    return MetricFamily(
        name="edit_similarity",
        columns=(Column(_COLUMN, ColumnType.FLOAT),),
        specs=(mean_spec(_COLUMN, low=0.0, high=1.0),),
        compute=_EditSimilarity(setting),
        signatures={f"{_COLUMN}/average": f"distance:levenshtein|norm:{'nfc' if setting == AUTO else 'no'}"},
    )
