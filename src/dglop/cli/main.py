# SPDX-License-Identifier: Apache-2.0
"""`dglop`: runs the operator, prints its CRDs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ("main",)

USAGE = """\
dglop - trains graph networks with DGL on Kubernetes

usage: dglop <command> [options]

commands:
  operator    run the operator (dglop operator --help lists its options)
  crd         print the CustomResourceDefinitions: dglop crd --kinds DGLJob,MPIJob | kubectl apply -f -
  manifests   print what an operator of your own needs in a cluster (dglop manifests --help)
  version     print the version
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code is 0, 1 for a failure, 2 for a wrong command line.

    Each command's code is imported only when it runs, so that the others start at once.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    command = words[0] if words else "--help"
    if command in ("-h", "--help", "help"):
        sys.stdout.write(USAGE)
        return 0 if words else 2
    run = _commands().get(command)
    if run is None:
        sys.stderr.write(f"dglop: there is no command {command!r}\n\n{USAGE}")
        return 2
    return run(words[1:])


def _commands() -> dict[str, Callable[[list[str]], int]]:
    return {
        "operator": _operator,
        "crd": _crd,
        "manifests": _manifests,
        "version": _version,
        "--version": _version,
    }


def _operator(words: list[str]) -> int:
    from dglop.cli.operator import run  # noqa: PLC0415 - see main

    return run(words)


def _crd(words: list[str]) -> int:
    from dglop.cli.crd import run  # noqa: PLC0415 - see main

    return run(words)


def _manifests(words: list[str]) -> int:
    from dglop.cli.manifests import run  # noqa: PLC0415 - see main

    return run(words)


def _version(words: list[str]) -> int:
    from importlib.metadata import version  # noqa: PLC0415 - see main

    if words:
        sys.stderr.write(f"dglop version takes no options, but got {' '.join(words)}\n")
        return 2
    sys.stdout.write(f"dglop {version('dglop')}\n")
    return 0
