# SPDX-License-Identifier: Apache-2.0
"""`launch -- COMMAND`: DGL's servers and trainers on all Workers, each started by kubexec.sh, as one."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass, field
from typing import Dict, List, Mapping, Optional, Sequence, Set, Tuple

from .. import contract
from ..children import ChildExit, Children, Command, become_reaper
from ..ending import Ending, config_refusal
from ..env import Env, Identity
from ..events import ChildrenEnded, Events, Told
from ..launch import Shape, launch_plan, server_names
from ..output import Stdout
from ..pythonpath import home
from ..rendezvous import Who
from .hostfile import Host, read_hosts
from .parts import ask_for_parts
from .reports import Reports

__all__ = ("launch",)


def launch(argv: Sequence[str], variables: Mapping[str, str]) -> Ending:
    """Run the command as every server and trainer of the job, until all trainers are done or one fails.

    Raises Refusal.
    """
    if not argv:
        raise config_refusal("launch takes your command behind --, as in: launch -- python3 train.py")
    env = Env(variables)
    kubexec = env.text("DGL_OPERATOR_KUBEXEC_PATH", os.path.join(contract.RUN_DIR, contract.KUBEXEC_NAME))
    folder = env.text(contract.ENV_RUN_DIR, contract.RUN_DIR)  # the same in Launcher and Workers
    hosts = read_hosts(folder)
    shape = Shape.from_env(env)
    if shape.workers != len(hosts):
        raise config_refusal("the host file has %d Workers, the job %d" % (len(hosts), shape.workers))
    dglrun = _dglrun(env)
    config = env.maybe("DGL_CONF_PATH") or ask_for_parts(
        kubexec, [host.name for host in hosts], dglrun, variables
    )
    commands = _commands([*dglrun, "attend", "--", *argv], variables, shape, hosts, (kubexec, config, folder))
    out = Stdout()
    reports = Reports.begin(variables, hosts[0].name, os.path.join(folder, contract.PROGRESS_NAME), out)
    ending = _Run(env, out, {name for name in commands if " trainer-" in name}).run(list(commands.values()))
    said = reports.finish() if reports else {}
    return ending if ending.exit_code else Ending(0, said)


def _commands(
    argv: Sequence[str],
    variables: Mapping[str, str],
    shape: Shape,
    hosts: List[Host],
    paths: Tuple[str, str, str],
) -> Dict[str, Command]:
    """All servers before all trainers: a trainer waits for the servers, a server for nobody."""
    kubexec, config, folder = paths
    peers = [Who(index, host.name, host.ip, "", 1, "") for index, host in enumerate(hosts)]
    listed = os.path.join(folder, contract.IP_CONFIG_NAME)
    reporting = {contract.PROGRESS_FILE_ENV: os.path.join(folder, contract.PROGRESS_NAME)}
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
            base={} if index else reporting,
        )
        for command in plan:
            words = [kubexec, host.name, _remotely(command)]
            remote = Command("%s %s" % (host.name, command.name), words, dict(variables))
            (servers if command.name in server_names(shape) else trainers).append(remote)
    return {each.name: each for each in servers + trainers}


def _remotely(command: Command) -> str:
    """The shell's words."""
    settings = ["%s=%s" % (name, shlex.quote(value)) for name, value in sorted(command.env.items())]
    return " ".join(["exec", "env", *settings, *map(shlex.quote, command.argv)])


def _dglrun(env: Env) -> List[str]:
    """How to start this program in a Worker, where it lies where it lies here."""
    here = home()
    python = env.text(contract.ENV_PYTHON, "python3")
    if os.path.isfile(here):
        return [python, here]
    return ["env", "PYTHONPATH=" + here, python, "-m", "dglrun"]


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
