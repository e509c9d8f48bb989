# SPDX-License-Identifier: Apache-2.0
"""`dglop crd`: the CRDs as YAML, ready for `kubectl apply -f -`."""

from __future__ import annotations

import argparse
import sys

import yaml

from dglop.cli.kinds import DEFAULT, KINDS, known_kinds, resource_class
from dglop.errors import ConfigError
from dglop.runtime.api import crd_manifest

__all__ = ("run",)


def run(words: list[str]) -> int:
    """Prints the CRDs of the kinds that `--kinds` names, of DGLJob where it names none."""
    parser = argparse.ArgumentParser(prog="dglop crd", description="Print CustomResourceDefinitions.")
    parser.add_argument("--kinds", action="append", metavar="KIND,...", help=f"of {', '.join(KINDS)}")
    try:
        chosen = parser.parse_args(words).kinds
        kinds = known_kinds(chosen or [DEFAULT])
    except SystemExit as ended:  # argparse has said what is wrong, or has helped
        return int(ended.code or 0)
    except ConfigError as problem:
        sys.stderr.write(f"dglop crd: --kinds: {problem}\n")
        return 2
    manifests = [crd_manifest(resource_class(kind)) for kind in kinds]
    sys.stdout.write(yaml.safe_dump_all(manifests, sort_keys=False, width=110))
    return 0
