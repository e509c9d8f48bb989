# SPDX-License-Identifier: Apache-2.0
"""`python -m hack.images build [operator] [dgl] [openmpi]`."""

from __future__ import annotations

import argparse
import sys

from hack.cluster.errors import ClusterError
from hack.cluster.report import choose_report
from hack.images.build import announcement, build_images, lacking
from hack.images.model import RECIPES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m hack.images", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="build what has changed and print name, sizes and archive")
    build.add_argument("names", nargs="*", metavar="NAME", help=", ".join(recipe.name for recipe in RECIPES))
    arguments = parser.parse_args()
    report = choose_report()
    try:
        if missing := lacking(arguments.names):
            report.say(announcement(missing))
        images = build_images(report, arguments.names)
    except ClusterError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    for image in images:
        print(f"  {image}\n    {image.tag}\n    {image.archive}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
