"""Which rows the judges see: a random sample by id, the same on every worker and in every run."""

import hashlib
import math

BUCKETS = 65_536
_SALT = b"beamjudge.sample"


def sample_bucket(request_id: str) -> int:
    """The bucket of a row, 0 to 65,535: a salted hash of its id, so that equal ids share their fate."""
    digest = hashlib.blake2b(request_id.encode("utf-8", "surrogatepass"), digest_size=2, salt=_SALT).digest()
    return int.from_bytes(digest, "big")


def sampled_buckets(sample_rate: float) -> int:
    """How many of the buckets, from the first on, are a share of `sample_rate`, in (0, 1]."""
    return math.ceil(sample_rate * BUCKETS)


def is_sampled(request_id: str, sample_rate: float) -> bool:
    """Whether the row's bucket falls below `sample_rate`, in (0, 1]."""
    return sample_rate >= 1 or sample_bucket(request_id) < sampled_buckets(sample_rate)
