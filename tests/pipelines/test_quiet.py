"""What is kept from standard error while Beam runs, and that nothing else is."""

import io
import logging
import sys
from concurrent.futures import ThreadPoolExecutor

from beamjudge.pipelines.quiet import quiet_beam
from beamjudge.pipelines.report import progress

TRACEBACK = "Traceback (most recent call last):\n  File ...\nValueError: of a worker\n"


class Terminal(io.StringIO):
    encoding = "ascii"

    def isatty(self):
        return True


def test_workers_tracebacks_are_not_seen_but_all_else_is(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with quiet_beam():
        print(TRACEBACK, file=sys.stderr)
        print("a warning\n", file=sys.stderr)
    print(TRACEBACK, file=sys.stderr)
    assert stream.getvalue() == f"a warning\n\n{TRACEBACK}\n"


def test_tracebacks_of_workers_that_fail_at_once_leave_no_empty_lines(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with quiet_beam(), ThreadPoolExecutor(1) as worker:
        worker.submit(sys.stderr.write, TRACEBACK).result()
        sys.stderr.write(TRACEBACK)
        worker.submit(sys.stderr.write, "\n").result()
        sys.stderr.write("\n")
    assert stream.getvalue() == ""


def test_on_a_terminal_too_with_a_bar_that_it_can_show(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with quiet_beam(), progress(1000, hidden=False):
        print(TRACEBACK, file=sys.stderr)
        print("a warning", file=sys.stderr)
    shown = stream.getvalue()
    assert "a warning" in shown
    assert "of a worker" not in shown
    assert "rows/s" in shown
    assert shown.isascii()


def test_of_two_runs_at_once_the_last_ends_the_quiet():
    stream, level = sys.stderr, logging.getLogger("apache_beam").level
    first, second = quiet_beam(), quiet_beam()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert logging.getLogger("apache_beam").level == logging.CRITICAL
    assert sys.stderr is not stream
    second.__exit__(None, None, None)
    assert logging.getLogger("apache_beam").level == level
    assert sys.stderr is stream
