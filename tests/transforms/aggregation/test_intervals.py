import numpy as np
import pytest
from scipy import stats

from beamjudge.transforms.aggregation.intervals import mean_interval, wilson_interval


@pytest.mark.parametrize(
    ("yes", "n", "low", "high"),
    # Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17, 1998, table I.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_examples(yes: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(yes, n, 0.95) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("yes", "n"), [(0, 1), (1, 1), (3, 7), (500, 1000), (999_999, 1_000_000)])
def test_wilson_equals_scipy(yes: int, n: int, confidence: float) -> None:
    expected = stats.binomtest(yes, n).proportion_ci(confidence, method="wilson")
    assert wilson_interval(yes, n, confidence) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)


def test_wilson_is_exact_at_the_ends() -> None:
    for n in range(1, 200):
        none, every = wilson_interval(0, n, 0.95), wilson_interval(n, n, 0.95)
        assert none is not None
        assert every is not None
        assert none[0] == 0.0
        assert every[1] == 1.0


def test_t_gives_the_handbook_example() -> None:
    # NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.2, heat flow meter: N, mean and standard deviation.
    interval = mean_interval(9.261460, 0.022789**2 * 194, 195, 0.95)
    assert interval == pytest.approx((9.258242, 9.264679), abs=1.5e-6)


@pytest.mark.parametrize("n", [2, 3, 30, 5000])
def test_t_equals_scipy(n: int) -> None:
    values = np.random.default_rng(n).normal(10, 3, n)
    expected = stats.t.interval(0.9, n - 1, loc=values.mean(), scale=stats.sem(values))
    m2 = float(((values - values.mean()) ** 2).sum())
    assert mean_interval(float(values.mean()), m2, n, 0.9) == pytest.approx(expected, rel=1e-9)


def test_t_is_clipped_to_the_range() -> None:
    # Two values 0 and 1: mean 0.5, t(1, 0.975) = 12.7062, half = 12.7062 * sqrt(0.5 / 2) = 6.3531.
    assert mean_interval(0.5, 0.5, 2, 0.95) == pytest.approx((0.5 - 6.3531, 0.5 + 6.3531), abs=1e-4)
    assert mean_interval(0.5, 0.5, 2, 0.95, 0.0, 1.0) == (0.0, 1.0)
    assert mean_interval(0.5, 0.5, 2, 0.95, low=0.0) == pytest.approx((0.0, 6.8531), abs=1e-4)


def test_too_few_rows_have_no_interval() -> None:
    assert wilson_interval(0, 0, 0.95) is None
    assert mean_interval(3.0, 0.0, 1, 0.95) is None
    assert mean_interval(3.0, 0.0, 2, 0.95) == (3.0, 3.0)
