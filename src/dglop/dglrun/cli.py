# SPDX-License-Identifier: Apache-2.0
"""The command line of dglrun.pyz: one command a container."""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import Dict, List, Mapping, Sequence, Tuple

from . import VERSION, contract
from .ending import Ending, Refusal, config_refusal, write_last_words

__all__ = ("main",)

USAGE = """usage: dglrun.pyz COMMAND [NAME=VALUE...] [-- COMMAND...]
  partition [-- COMMAND...]   make this job's parts (without a command: of the job's dataset)
  serve                       serve the parts to the job's Workers
  fetch                       bring this Worker's part, verified
  worker -- COMMAND...        meet the other Workers, run servers and trainers, fail once
  assemble                    make this Worker's part together with the other Workers
  partition-dataset           what partition runs where it is given no command
  partition-parallel          the same by several processes
  assemble-process            one of the processes that assemble and partition-parallel start
  verify-parts                compare all parts in $DGLJOB_PARTS_DIR with the dataset they were made of
  hosts FILE                  wait until the hosts of an MPI host file have addresses
  progress PERCENT [SECONDS_LEFT] [NAME=VALUE...]   say how far the training is
  --version
NAME=VALUE is set as if it were in the environment, for dglrun and all that it starts."""

_PARTS_COMMANDS = ("partition-dataset", "partition-parallel", "assemble-process", "verify-parts")
_SETTING = re.compile(r"[A-Z_][A-Z0-9_]*=")


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit code and last words are the contract's."""
    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if argv else contract.EXIT_CONFIG
    command, rest = argv[0], list(argv[1:])
    if command == "--version":
        print("dglrun %s" % VERSION)
        return 0
    if command in ("progress", *_PARTS_COMMANDS):
        return _inside(command, rest)
    if command == "hosts":
        return _hosts(rest)
    return _container(command, rest, os.environ)


def _container(command: str, rest: List[str], variables: Mapping[str, str]) -> int:
    # as pid 1 a signal without a handler would be lost
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    stated, rest = _settings(rest)
    variables = {**variables, **stated}
    try:
        ending = _run(command, rest, variables)
    except Refusal as refusal:
        print("dglrun: " + refusal.sentence, file=sys.stderr, flush=True)
        ending = refusal.ending("config" if refusal.reason == "ConfigInvalid" else command)
    except KeyboardInterrupt:
        ending = Ending(
            contract.EXIT_PEER, {"cause": "stop", "process": command, "exitCode": contract.EXIT_PEER}
        )
    path = variables.get(contract.ENV_TERMINATION_LOG) or contract.TERMINATION_LOG
    if ending.message or command != "serve":
        write_last_words(path, ending.message)
    return ending.exit_code


def _run(command: str, rest: List[str], variables: Mapping[str, str]) -> Ending:
    user = _user_command(rest)
    if command == "partition":
        from .partition import partition  # noqa: PLC0415

        return partition(user, variables)
    if command == "serve":
        from .serve import serve  # noqa: PLC0415

        return serve(variables)
    if command == "fetch":
        from .fetch import fetch  # noqa: PLC0415

        return fetch(variables)
    if command == "assemble":
        from .assemble.msp import assemble  # noqa: PLC0415

        return assemble(variables)
    if command == "worker":
        from .worker import worker  # noqa: PLC0415

        return worker(user, variables)
    raise config_refusal("there is no command %r\n%s" % (command, USAGE))


def _settings(rest: List[str]) -> Tuple[Dict[str, str], List[str]]:
    """The settings before `--`, which go before the environment's, and what is left."""
    stated: Dict[str, str] = {}
    for place, word in enumerate(rest):
        if not _SETTING.match(word):
            return stated, rest[place:]
        name, _, value = word.partition("=")
        stated[name] = value
    return stated, []


def _hosts(rest: List[str]) -> int:
    """An init container that has no part in a DGLJob, and whose last words are what it printed."""
    from .hosts import await_hosts, hosts_of  # noqa: PLC0415

    if len(rest) != 1:
        print("dglrun: hosts takes the path of a host file", file=sys.stderr, flush=True)
        return contract.EXIT_CONFIG
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with open(rest[0], encoding="utf-8") as file:
            hosts = hosts_of(file.read())
        await_hosts(hosts)
    except OSError as error:
        print("dglrun: cannot read %s: %s" % (rest[0], error.strerror), file=sys.stderr, flush=True)
        return contract.EXIT_CONFIG
    except KeyboardInterrupt:
        return contract.EXIT_PEER
    return 0


def _user_command(rest: List[str]) -> List[str]:
    """What stands behind `--`. Raises Refusal for anything before it."""
    if not rest:
        return []
    if rest[0] != "--":
        raise config_refusal("put -- before your command, got %r" % " ".join(rest))
    return rest[1:]


def _inside(command: str, rest: List[str]) -> int:
    """The commands that run inside a container of ours and have no last words of their own."""
    variables: Dict[str, str] = dict(os.environ)
    try:
        if command == "progress":
            from .progress import progress  # noqa: PLC0415

            progress(rest, variables)
        else:
            return _parts_command(command, {**variables, **_settings(rest)[0]})
    except Refusal as refusal:
        print("dglrun: " + refusal.sentence, file=sys.stderr, flush=True)
        return refusal.exit_code
    return 0


def _parts_command(command: str, variables: Dict[str, str]) -> int:
    """Raises Refusal."""
    if command == "partition-parallel":
        from .assemble.smp import partition_parallel  # noqa: PLC0415

        return partition_parallel(variables)
    if command == "assemble-process":
        from .assemble.rank import rank_main  # noqa: PLC0415

        return rank_main(variables)
    from .env import Env  # noqa: PLC0415

    if command == "verify-parts":
        from .compare.command import verify_parts  # noqa: PLC0415

        return verify_parts(Env(variables))
    from .single import partition_dataset  # noqa: PLC0415

    partition_dataset(Env(variables))
    return 0
