# SPDX-License-Identifier: Apache-2.0
"""`launch -- COMMAND`: DGL's servers and trainers on all Workers, each started by kubexec.sh, as one."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from dataclasses import dataclass, field
from typing import Dict, List, Mapping, Optional, Sequence, Set, Tuple

from .. import contract
from ..children import ChildExit, Children, Command, become_reaper
from ..ending import Ending, Refusal, config_refusal
from ..env import Env, Identity
from ..events import ChildrenEnded, Events, Told
from ..launch import Shape, launch_plan, server_names
from ..output import Stdout
from ..pythonpath import home
from ..rendezvous import Who
from .hostfile import Host, read_hosts

__all__ = ("launch",)

_FIND_CONFIG = (
    'for each in "${%(dir)s}"/*.json; do case "$each" in */%(manifest)s) ;; *) echo "$each" ;; esac; done'
    % {"dir": contract.ENV_PARTS_DIR, "manifest": contract.MANIFEST_FILE}
)


def launch(argv: Sequence[str], variables: Mapping[str, str]) -> Ending:
    """Run the command as every server and trainer of the job, until all trainers are done or one fails.

    Raises Refusal.
    """
    if not argv:
        raise config_refusal("launch takes your command behind --, as in: launch -- python3 train.py")
    env = Env(variables)
    kubexec = env.text("DGL_OPERATOR_KUBEXEC_PATH", os.path.join(contract.RUN_DIR, contract.KUBEXEC_NAME))
    hosts = read_hosts(env.text(contract.ENV_RUN_DIR, contract.RUN_DIR))
    shape = Shape.from_env(env)
    if shape.workers != len(hosts):
        raise config_refusal("the host file has %d Workers, the job %d" % (len(hosts), shape.workers))
    config = env.maybe("DGL_CONF_PATH") or _find_config(kubexec, hosts[0], variables)
    commands = _commands(argv, variables, shape, hosts, (kubexec, config))
    return _Run(env, Stdout(), {name for name in commands if "/trainer-" in name}).run(
        list(commands.values())
    )


def _find_config(kubexec: str, host: Host, variables: Mapping[str, str]) -> str:
    """The partition config in the parts of a Worker. Raises Refusal."""
    found = subprocess.run(
        [kubexec, host.name, _FIND_CONFIG], env=dict(variables), stdout=subprocess.PIPE, check=False
    )
    paths = found.stdout.decode("utf-8", "replace").split()
    if found.returncode or len(paths) != 1 or "*" in paths[0]:
        sentence = "%s has no partition config (<graph>.json) in $%s: %s" % (
            host.name,
            contract.ENV_PARTS_DIR,
            ", ".join(paths) or "nothing there",
        )
        raise Refusal("PartitionInvalid", contract.EXIT_RETRYABLE, sentence)
    return paths[0]


def _commands(
    argv: Sequence[str], variables: Mapping[str, str], shape: Shape, hosts: List[Host], paths: Tuple[str, str]
) -> Dict[str, Command]:
    """All servers before all trainers: a trainer waits for the servers, a server for nobody."""
    kubexec, config = paths
    peers = [Who(index, host.name, host.ip, "", 1, "") for index, host in enumerate(hosts)]
    listed = os.path.join(contract.RUN_DIR, contract.IP_CONFIG_NAME)
    threads = int(variables.get("OMP_NUM_THREADS") or 1)
    servers: List[Command] = []
    trainers: List[Command] = []
    for index, host in enumerate(hosts):
        identity = Identity(Env({contract.ENV_JOB_UID: host.name, contract.ENV_REPLICA_INDEX: str(index)}))
        plan = launch_plan(
            argv,
            identity=identity,
            shape=shape,
            peers=peers,
            paths=(listed, config),
            threads=threads,
            base={},
        )
        for command in plan:
            remote = Command(
                "%s/%s" % (host.name, command.name),
                [kubexec, host.name, _remotely(command)],
                dict(variables),
            )
            (servers if command.name in server_names(shape) else trainers).append(remote)
    return {each.name: each for each in servers + trainers}


def _remotely(command: Command) -> str:
    settings = ["%s=%s" % (name, shlex.quote(value)) for name, value in sorted(command.env.items())]
    path = 'export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}"%s;' % shlex.quote(
        home()
    )  # as in a Worker of Direct
    return " ".join([path, "exec", "env", *settings, *(shlex.quote(word) for word in command.argv)])


@dataclass
class _Run:
    """The exec sessions of one launch; the first that fails ends all."""

    env: Env
    out: Stdout
    training: Set[str]
    events: Events = field(default_factory=Events)

    def run(self, commands: List[Command]) -> Ending:
        self.events.listen_to_signals()
        become_reaper()
        children = Children(self.out)
        try:
            return self._watch(children, commands)
        finally:
            children.end(self.env.seconds(contract.ENV_KILL_SECONDS, 5.0), self.events.wait_for_child)
            self.events.ignore_signals()

    def _watch(self, children: Children, commands: List[Command]) -> Ending:
        for command in commands:
            end = children.start(command)
            if end is not None:
                return self._failed(end, children)
        self.out.say("%d processes are started on the Workers" % len(commands))
        deadline: Optional[float] = None
        while children.running():
            event = self.events.get(None if deadline is None else max(0.0, deadline - time.monotonic()))
            if isinstance(event, Told):
                return Ending(
                    contract.EXIT_PEER,
                    {"cause": "stop", "process": "launch", "exitCode": contract.EXIT_PEER},
                )
            if event is None:
                break  # servers that do not end though all trainers have
            for end in children.reap() if isinstance(event, ChildrenEnded) else []:
                self.out.say("%s ended: exit code %d" % (end.name, end.code))
                if end.code:
                    return self._failed(end, children)
                self.training.discard(end.name)
            if not self.training and deadline is None:
                deadline = time.monotonic() + self.env.seconds(contract.ENV_SERVER_EXIT_SECONDS, 30.0)
        self.out.say("all trainers are done")
        return Ending(0)

    def _failed(self, end: ChildExit, children: Children) -> Ending:
        message = {
            "cause": "self",
            "process": end.name,
            "exitCode": end.code,
            "lines": children.last_lines(end.name, patience=0.5),
        }
        return Ending(end.code, message)
