"""The command line. Imports lazily, so that help and wrong flags are answered at once."""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

import beamjudge
from beamjudge.pipelines.flags import EXAMPLES, Parser, add_evaluate_flags, unknown_flag
from beamjudge.schemas.errors import RunFailed, UsageError
from beamjudge.schemas.judges import BUILT_IN_JUDGES

_DESCRIPTION = "LLM judges and deterministic metrics over logs of LLM applications, in an Apache Beam pipeline."
_EXAMPLES = """examples:
  beamjudge evaluate --input log.jsonl --output eval/
  beamjudge judges list
  beamjudge judges show groundedness"""
# For reports of faults in beamjudge itself: a set variable shows the traceback behind the one line.
TRACEBACK = "BEAMJUDGE_TRACEBACK"
USAGE_EXIT, FAILED_EXIT, INTERRUPTED_EXIT = 2, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; every error is one line on standard error."""
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except UsageError as error:
        print(f"beamjudge: {error}", file=sys.stderr)
        return USAGE_EXIT
    except RunFailed as error:
        print(f"beamjudge: the run failed: {error}", file=sys.stderr)
        if os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        return FAILED_EXIT
    except KeyboardInterrupt:
        print("beamjudge: interrupted; run the same command again to start over", file=sys.stderr)
        return INTERRUPTED_EXIT
    except BrokenPipeError:
        # The reader of our output has gone (`| head`), which is no failure; Python would complain once more at exit.
        sys.stderr.close()
        return 0


def _run(argv: list[str]) -> int:
    parser = _parser()
    if not argv:
        parser.print_help()
        return USAGE_EXIT
    arguments, rest = parser.parse_known_args(argv)
    if arguments.command == "evaluate":
        from beamjudge.pipelines.launch import launch

        return launch(arguments, rest)
    if rest:
        raise unknown_flag(rest[0], [])
    if arguments.command == "judges" and arguments.action == "list":
        return _list_judges()
    return _show_judge(arguments.name)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="beamjudge", description=_DESCRIPTION, epilog=_EXAMPLES)
    parser.add_argument("--version", action="version", version=f"beamjudge {beamjudge.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    evaluate = commands.add_parser(
        "evaluate", help="judge and measure a log", description="Judge and measure a log.", epilog=EXAMPLES
    )
    add_evaluate_flags(evaluate)
    judges = commands.add_parser("judges", help="the built-in judges", epilog=_EXAMPLES)
    actions = judges.add_subparsers(dest="action", required=True, metavar="list|show")
    actions.add_parser("list", help="name, stage and question of every judge", epilog=_EXAMPLES)
    show = actions.add_parser("show", help="a judge's needs and its prompt", epilog=_EXAMPLES)
    show.add_argument("name", metavar="NAME", choices=[spec.name for spec in BUILT_IN_JUDGES])
    return parser


def _list_judges() -> int:
    width = max(len(spec.name) for spec in BUILT_IN_JUDGES)
    for spec in BUILT_IN_JUDGES:
        mark = "" if spec.by_default else " (only when named)"
        print(f"{spec.name:<{width}}  {spec.stage:<9}  {spec.asks}{mark}")
    return 0


def _show_judge(name: str) -> int:
    from beamjudge.prompts import load_prompt

    spec = next(spec for spec in BUILT_IN_JUDGES if spec.name == name)
    print(f"{spec.name} (version {spec.version}, {spec.stage}): {spec.asks}")
    print(f"needs: request, {', '.join(sorted(need.value for need in spec.needs))}")
    print(f"columns: {spec.column}/...\n")
    print(load_prompt(name), end="")
    return 0
