"""Confidence intervals of shares and means. They cover the sampling of rows, not the error of the judge itself."""

import math
from collections.abc import Collection
from statistics import NormalDist

from scipy.special import stdtrit

from beamjudge.transforms.aggregation.state import ClusterSums

Interval = tuple[float, float]


def wilson_interval(yes: float, n: float, confidence: float) -> Interval | None:
    """The Wilson score interval, without continuity correction, of a share `yes / n`; null for n = 0.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927. `n` need not
    be whole: it may be an effective sample size.
    """
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = yes / n
    shrink = 1 + z * z / n
    center = (share + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(max(share * (1 - share), 0.0) / n + z * z / (4 * n * n))
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


def clustered_mean_interval(
    clusters: Collection[ClusterSums], confidence: float, low: float | None = None, high: float | None = None
) -> Interval | None:
    """Student's t interval of a mean over rows that come in clusters, clipped to the range; null below two clusters.

    The mean is a ratio of cluster totals; its variance is the usual linearization, k / (k - 1) times the sum of squared
    residuals of the k clusters over the squared number of rows, with k - 1 degrees of freedom (W. G. Cochran, "Sampling
    techniques", 3rd edition, 1977, section 2.11).
    """
    k = len(clusters)
    if k < 2:
        return None
    mean, variance = _ratio(clusters)
    half = float(stdtrit(k - 1, (1 + confidence) / 2)) * math.sqrt(variance)
    return max(mean - half, -math.inf if low is None else low), min(mean + half, math.inf if high is None else high)


def clustered_share_interval(clusters: Collection[ClusterSums], confidence: float) -> Interval | None:
    """Wilson's interval at the effective sample size, which keeps it inside [0, 1] and off zero width.

    The effective size is the number of rows over the design effect (L. Kish, "Survey sampling", 1965, section 8.1), at
    most the number of rows; where all rows agree it is the number of clusters, the most that they can tell.
    """
    n = sum(cluster.n for cluster in clusters)
    if n == 0:
        return None
    k = len(clusters)
    share, variance = _ratio(clusters) if k > 1 else (sum(cluster.sum for cluster in clusters) / n, 0.0)
    effective = min(n, share * (1 - share) / variance) if variance > 0 else min(n, k)
    return wilson_interval(share * effective, effective, confidence)


def _ratio(clusters: Collection[ClusterSums]) -> tuple[float, float]:
    """The mean over all rows of at least two clusters, and its variance."""
    k, n = len(clusters), sum(cluster.n for cluster in clusters)
    mean = math.fsum(cluster.sum for cluster in clusters) / n
    residuals = math.fsum((cluster.sum - mean * cluster.n) ** 2 for cluster in clusters)
    return mean, k / (k - 1) * residuals / (n * n)
