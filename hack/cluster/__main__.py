# SPDX-License-Identifier: Apache-2.0
"""`python -m hack.cluster up|down|status|env|kubeconfig|load ARCHIVE|logs`."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from pathlib import Path

from hack.cluster import ClusterError, choose_provider
from hack.cluster.report import choose_report

HELP = {
    "up": "have the cluster ready",
    "down": "end it and clean up",
    "status": "say how it stands; exit code 1 where none runs",
    "env": 'print what a shell must know to use it: eval "$(make -s env)"',
    "kubeconfig": "print the path of its kubeconfig",
    "load": "make the images of an archive known to its nodes",
    "logs": "print the last lines of every part",
}


def main(argv: list[str] | None = None) -> int:
    """Do one command; 0 where it succeeded."""
    parser = argparse.ArgumentParser(
        prog="python -m hack.cluster", description="a Kubernetes cluster for tests"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    made = {name: commands.add_parser(name, help=text) for name, text in HELP.items()}
    made["load"].add_argument("archive", type=Path, help="a docker-archive or OCI archive")
    arguments = parser.parse_args(argv)
    try:
        return run(arguments.command, getattr(arguments, "archive", None))
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130


def run(command: str, archive: Path | None) -> int:
    """The command itself."""
    provider = choose_provider()
    if command == "up":
        provider.up(choose_report())
        print("  next:")
        print('    eval "$(make -s env)"')
        print("    kubectl get nodes")
    elif command == "down":
        provider.down(choose_report())
    elif command == "env":
        print(exports(provider.kubeconfig(), provider.kubectl(), shutil.which("kubectl")))
    elif command == "kubeconfig":
        print(provider.kubeconfig())
    elif command == "logs":
        print(provider.logs())
    elif archive is not None:
        print(provider.load(archive))
    else:
        status = provider.status()
        print(f"{provider.name}: {status.text}")
        return 0 if status.running else 1
    return 0


def exports(kubeconfig: Path, kubectl: Path, there: str | None) -> str:
    """Lines for a shell: where the cluster is, and a kubectl where the machine has none."""
    lines = [f"export KUBECONFIG={shlex.quote(str(kubeconfig))}"]
    if not there:
        lines.append(f'export PATH={shlex.quote(str(kubectl.parent))}:"$PATH"')
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
