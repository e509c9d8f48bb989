# SPDX-License-Identifier: Apache-2.0
"""Soak the runtime, and print what happened and what did not hold."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

from dglop.testing.envtest import EnvtestAssets
from hack import stack
from hack.cluster.errors import ClusterError
from hack.cluster.report import choose_report
from hack.soak.soak import soak


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1800.0, help="how long; half an hour by default")
    parser.add_argument("--seed", type=int, default=1, help="of what the writer does")
    arguments = parser.parse_args()
    report = choose_report(sys.stderr)
    if "KUBEBUILDER_ASSETS" not in os.environ:
        try:
            os.environ["KUBEBUILDER_ASSETS"] = str(stack.envtest_assets(report))
        except (ClusterError, RuntimeError) as error:
            print(f"the soak needs etcd and kube-apiserver: {error}", file=sys.stderr)
            return 1

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    found = asyncio.run(soak(EnvtestAssets.find(), seconds=arguments.seconds, say=say, seed=arguments.seed))
    print(found.table(), flush=True)
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
