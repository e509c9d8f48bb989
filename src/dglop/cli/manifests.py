# SPDX-License-Identifier: Apache-2.0
"""`dglop manifests`: what an operator of one's own needs in a cluster, as YAML for `kubectl apply -f -`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import yaml

from dglop.cli.finding import find_manager
from dglop.errors import ConfigError
from dglop.runtime.installing import install_manifests

if TYPE_CHECKING:
    from dglop.runtime.manager import Manager

__all__ = ("run",)

_EXAMPLE = "dglop manifests website:manager --home website-system --image registry.example/website:1"
_FEW = "several replicas need leader election: add -- --leader-elect"


def run(words: list[str]) -> int:
    """Prints the manifests; 2 for a wrong command line or a Manager that is not found."""
    parser = argparse.ArgumentParser(
        prog="dglop manifests",
        description="Print namespace, CRDs, service account, rights and, with an image, the Deployment.",
        epilog=f"example: {_EXAMPLE} -- --leader-elect",
    )
    parser.add_argument("manager", help="MODULE:NAME of a Manager, or of a function that makes one")
    parser.add_argument("--home", required=True, metavar="NAMESPACE", help="where the operator runs")
    parser.add_argument("--image", default="", help="its image, whose entry point is the program")
    parser.add_argument("--replicas", type=int, default=1, help="more than one need --leader-elect")
    own, flags = words, []
    if "--" in words:
        own, flags = words[: words.index("--")], words[words.index("--") + 1 :]
    given = parser.parse_args(own)
    try:
        manager = find_manager(given.manager)
        manager.reconfigure(manager.settings.with_flags(flags, program=manager.name), manager.log)
        if given.replicas > 1:
            _need_election(manager)
        found = install_manifests(
            manager, home=given.home, image=given.image, replicas=given.replicas, flags=flags
        )
    except ConfigError as problem:
        sys.stderr.write(f"dglop manifests: {problem}\n")
        return 2
    sys.stdout.write(yaml.safe_dump_all(found, sort_keys=False, width=110))
    return 0


def _need_election(manager: Manager) -> None:
    if not manager.settings.leader_elect:
        raise ConfigError(_FEW)
