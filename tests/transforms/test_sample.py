from beamjudge.transforms.sample import BUCKETS, is_sampled, sample_bucket


def test_buckets_are_a_function_of_the_id_in_range():
    buckets = [sample_bucket(f"r{number}") for number in range(2000)]
    assert buckets == [sample_bucket(f"r{number}") for number in range(2000)]
    assert 0 <= min(buckets) < max(buckets) < BUCKETS


def test_the_share_of_sampled_rows_is_near_the_rate():
    # 20,000 draws at 0.1: a standard deviation of 42, so that 5 of them are 212.
    assert abs(sum(is_sampled(f"r{number}", 0.1) for number in range(20_000)) - 2000) < 212


def test_a_larger_sample_holds_the_smaller_one_and_the_rate_one_holds_all():
    ids = [f"r{number}" for number in range(2000)]
    small, large = ({one for one in ids if is_sampled(one, rate)} for rate in (0.1, 0.3))
    assert small < large
    assert all(is_sampled(one, 1.0) for one in ids)


def test_just_below_the_rate_one_some_are_left_out():
    ids = [f"r{number}" for number in range(2000)]
    left_out = [one for one in ids if not is_sampled(one, 0.95)]
    assert left_out == [one for one in ids if sample_bucket(one) >= 62_260]  # 0.95 * 65,536 = 62,259.2
    assert left_out
