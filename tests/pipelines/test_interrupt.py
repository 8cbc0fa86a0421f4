"""A signal may come while the interrupted thread holds a lock of the judge client: it must not wait for itself."""

import signal

import pytest
from judge_harness import config_for, plan_for

from beamjudge.pipelines.interrupt import Interrupted, interruptible
from beamjudge.transforms.judging.client import acquire, release


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_clients_lock_is_held_ends_the_block(number):
    client = acquire(plan_for(config_for("http://127.0.0.1:9/v1")))
    try:
        with pytest.raises(Interrupted):
            _signal_inside(client, number)
    finally:
        release(client)


def _signal_inside(client, number):
    with interruptible(), client._lock:
        signal.raise_signal(number)
        raise AssertionError("the signal was not taken")
