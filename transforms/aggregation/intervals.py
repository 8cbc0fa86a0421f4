"""Confidence intervals of shares and means. They cover the sampling of rows, not the error of the judge itself."""

import math
from statistics import NormalDist

from scipy.special import stdtrit

Interval = tuple[float, float]


def wilson_interval(yes: int, n: int, confidence: float) -> Interval | None:
    """The Wilson score interval, without continuity correction, of a share `yes / n`; null for n = 0.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.
    """
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = yes / n
    shrink = 1 + z * z / n
    center = (share + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # The bounds are exactly 0 and 1 at the ends, where rounding would leave something like 1e-17.
    low = 0.0 if yes == 0 else max(0.0, center - half)
    high = 1.0 if yes == n else min(1.0, center + half)
    return low, high


def mean_interval(
    mean: float, m2: float, n: int, confidence: float, low: float | None = None, high: float | None = None
) -> Interval | None:
    """Student's t interval of a mean, clipped to the metric's range; null for n < 2.

    `m2` is the sum of squared deviations from the mean, so that the sample variance is m2 / (n - 1).
    """
    if n < 2:
        return None
    t = float(stdtrit(n - 1, (1 + confidence) / 2))
    half = t * math.sqrt(m2 / (n - 1) / n)
    return max(mean - half, -math.inf if low is None else low), min(mean + half, math.inf if high is None else high)
