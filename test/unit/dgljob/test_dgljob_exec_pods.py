# SPDX-License-Identifier: Apache-2.0
"""launchMode Exec: the pods, the rights, and what a spec may not say."""

from __future__ import annotations

import asyncio
import json
import subprocess
from typing import TYPE_CHECKING, Any, cast

import pytest

from dglop.dgljob.exec.hostfiles import kubectl_script, kubexec_script
from dglop.dgljob.exec.right import ExecRight
from test.unit.dgljob.dgljob_exec import WORKER, ExecWorld, exec_job, exec_kind
from test.unit.dgljob.dgljob_pods import container, env, mounts, variables, volumes
from test.unit.dgljob.dgljob_world import template

if TYPE_CHECKING:
    from dglop.runtime.client import Client


def launched(job):
    world = ExecWorld(job)
    world.partition()
    world.start_workers()
    return world


def specs_of(job):
    return {name: pod["spec"] for name, pod in launched(job).pods.items()}


def names_of_inits(spec):
    return [each["name"] for each in spec.get("initContainers", [])]


def test_a_worker_that_says_nothing_waits_and_ends_at_once_when_told_to():
    main = container(specs_of(exec_job())["g-worker-0"])
    process = subprocess.Popen(main["command"])
    process.terminate()
    assert process.wait(timeout=60) in (143, -15)


def test_a_workers_own_command_stays():
    worker = {**WORKER, "command": ["/usr/sbin/sshd", "-D"]}
    assert container(specs_of(exec_job(worker=worker))["g-worker-0"])["command"] == ["/usr/sbin/sshd", "-D"]


def test_the_launchers_init_containers_bring_parts_and_host_files_before_its_program_begins():
    spec = specs_of(exec_job())["g-launcher-0"]
    assert names_of_inits(spec) == ["dglop-deliver", "dglop-dispatch", "dglop-connect"]
    main = container(spec)
    assert main["command"] == ["sh", "run.sh"]
    assert {"/etc/dgl", "/opt/kube", "/opt/dglrun"} <= set(mounts(main))
    kubectl = volumes(spec)["dglop-kubectl"]["configMap"]
    assert kubectl == {"name": "g-config-1", "items": [{"key": "kubectl", "path": "kubectl", "mode": 0o555}]}


def test_init_containers_of_the_operator_are_restricted():
    spec = specs_of(exec_job())["g-launcher-0"]
    for each in spec["initContainers"]:
        assert each["securityContext"]["runAsNonRoot"] is True
        assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert each["resources"]["limits"]


def test_parts_may_be_fetched_by_the_workers_too_or_mounted():
    pulled = specs_of(exec_job(dispatch={"mode": "Pull"}))
    assert "dglop-fetch" in names_of_inits(pulled["g-worker-0"])
    assert "dglop-dispatch" not in names_of_inits(pulled["g-launcher-0"])
    mounted = specs_of(exec_job(storage={"type": "PVC", "claimName": "parts"}))
    assert "dglop-fetch" not in names_of_inits(mounted["g-worker-0"])
    assert "dglop-dispatch" not in names_of_inits(mounted["g-launcher-0"])
    assert mounts(container(mounted["g-worker-0"]))["/dgl_workspace/workload"]["readOnly"] is True
    assert variables(container(mounted["g-launcher-0"]))["DGLJOB_VERIFY_PARTS"] == "1"


def test_launch_is_told_which_parts_the_attempt_is_for_and_what_starts_it_in_a_worker():
    launcher = variables(container(specs_of(exec_job(python="/opt/py/bin/python"))["g-launcher-0"]))
    assert launcher["DGLJOB_MANIFEST_HASH"]
    assert launcher["DGLJOB_PYTHON"] == "/opt/py/bin/python"
    assert launcher["DGLJOB_EXEC_CONTAINER"] == "dgl"
    assert "DGLJOB_VERIFY_PARTS" not in launcher, "parts that were brought have been compared"


def test_launcher_and_workers_are_told_what_programs_of_upstream_and_dgl_read():
    found = specs_of(exec_job(slotsPerWorker=2, numSamplers=4, numServers=1))
    launcher = variables(container(found["g-launcher-0"]))
    assert launcher["DGL_OPERATOR_HOSTFILE_PATH"] == "/etc/dgl/hostfile"
    assert launcher["DGL_OPERATOR_KUBEXEC_PATH"] == "/etc/dgl/kubexec.sh"
    assert launcher["DGL_OPERATOR_KUBECTL_PATH"] == "/opt/kube/kubectl"
    assert launcher["DGL_OPERATOR_ENV"] == "1"
    assert launcher["DGL_OPERATOR_PHASE_ENV"] not in ("Partitioner", "Launcher_Workload")
    assert launcher["DGL_NUM_CLIENT"] == str(2 * 2 * 5)
    assert launcher["DGL_IP_CONFIG"] == "/etc/dgl/ip_config"
    worker = variables(container(found["g-worker-1"]))
    assert worker["NODE_RANK"] == "1"
    assert worker["WORLD_SIZE"] == "4"
    assert "DGL_OPERATOR_KUBEXEC_PATH" not in worker


def test_the_launcher_posts_what_is_reported_and_the_workers_have_no_token_at_all():
    found = specs_of(exec_job())
    launcher = container(found["g-launcher-0"])
    assert variables(launcher)["DGLJOB_STATUS_URL"].startswith("http://operator:8082/")
    token = variables(launcher)["DGLJOB_STATUS_TOKEN_FILE"]
    assert any(token.startswith(f"{path}/") for path in mounts(launcher))
    for name in ("g-worker-0", "g-worker-1"):
        worker = container(found[name])
        assert not [each for each in variables(worker) if "TOKEN" in each or "STATUS" in each]
        assert not [each for each in found[name]["volumes"] if "secret" in each]
        assert found[name]["automountServiceAccountToken"] is False


def test_a_partitioner_that_nobody_describes_runs_the_launchers_command_in_a_workers_pod():
    worker = {**WORKER, "resources": {"limits": {"cpu": "4", "nvidia.com/gpu": 1}}, "image": "worker:1"}
    job = exec_job(worker=worker, dataset=None)
    main = container(specs_of(job)["g-partitioner-0"])
    assert main["command"][-3:] == ["--", "sh", "run.sh"]
    assert main["image"] == "dgl:test"
    assert main["resources"] == {"limits": {"cpu": "4"}}
    assert env(main)["DGL_OPERATOR_PHASE_ENV"] == "Partitioner"


def test_the_launcher_may_run_commands_in_the_jobs_own_workers_and_nothing_else():
    world = launched(exec_job())
    assert world.pods["g-launcher-0"]["spec"]["serviceAccountName"] == "g-launcher-2"
    assert world.pods["g-launcher-0"]["spec"]["automountServiceAccountToken"] is True
    for name in ("g-worker-0", "g-partitioner-0"):
        assert world.pods[name]["spec"]["automountServiceAccountToken"] is False


def test_no_rule_about_exec_is_ever_without_names():
    for workers in (1, 2, 11):
        objects = exec_kind().extra_objects(exec_job(workers))
        [role] = [each for each in objects if each["kind"] == "Role"]
        assert [rule["resources"] for rule in role["rules"]] == [["pods"], ["pods/exec"]]
        for rule in role["rules"]:
            assert rule["resourceNames"] == [f"g-worker-{index}" for index in range(workers)]


def test_a_role_comes_before_the_binding_that_needs_it():
    kinds = [each["kind"] for each in exec_kind().extra_objects(exec_job())]
    assert kinds.index("Role") < kinds.index("RoleBinding")


def test_an_account_that_the_launchers_template_names_is_used_and_none_is_made():
    specs = {
        "Launcher": {"template": {"spec": {**template()["spec"], "serviceAccountName": "mine"}}},
        "Worker": {"replicas": 2, "template": {"spec": {"containers": [dict(WORKER)]}}},
    }
    world = launched(exec_job(specs=specs))
    assert world.pods["g-launcher-0"]["spec"]["serviceAccountName"] == "mine"
    assert not [name for name in world.objects if "launcher" in name]


def test_in_direct_there_is_no_role_and_no_config_map():
    kinds = {each["kind"] for each in exec_kind().extra_objects(exec_job(launchMode="Direct"))}
    assert kinds == {"Secret"}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no launcher": (
        {"specs": {"Worker": {"replicas": 2, "template": {"spec": {"containers": [dict(WORKER)]}}}}},
        "launchMode Exec needs dglReplicaSpecs.Launcher",
    ),
    "at startup": ({"launcherCreationPolicy": "AtStartup"}, "use WaitForWorkersReady"),
    "exec on a claim": (
        {"dispatch": {"mode": "Exec"}, "storage": {"type": "PVC", "claimName": "parts"}},
        "does not go with storage.type PVC",
    ),
    "own paths": (
        {
            "specs": {
                "Launcher": {"template": template(volumeMounts=[{"name": "x", "mountPath": "/opt/kube"}])},
                "Worker": {"template": {"spec": {"containers": [dict(WORKER)]}}},
            }
        },
        "/opt/kube is where the operator mounts its own",
    ),
    "nobody partitions": (
        {
            "dataset": None,
            "specs": {
                "Launcher": {"template": template(command=[])},
                "Worker": {"template": {"spec": {"containers": [dict(WORKER)]}}},
            },
        },
        "must state command",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_said_in_a_sentence_with_the_fix(case):
    spec, sentence = REFUSED[case]
    assert sentence in "; ".join(exec_kind().validate(exec_job(**spec)))


class Reviews:
    """An API server that is asked for rights."""

    def __init__(self, *denied: str) -> None:
        self.denied = denied
        self.asked: list[tuple[str, str, str]] = []

    async def raw(self, method: str, path: str, *, body: bytes) -> bytes:
        wanted = json.loads(body)["spec"]["resourceAttributes"]
        self.asked.append((wanted["namespace"], wanted["resource"], wanted["verb"]))
        return json.dumps({"status": {"allowed": wanted["resource"] not in self.denied}}).encode()


@pytest.mark.parametrize("denied", ["pods", "roles", "rolebindings"])
def test_an_operator_that_lacks_one_of_the_rights_refuses_launch_mode_exec(denied):
    right = ExecRight(("a", "b"))
    asyncio.run(right.load(cast("Client", Reviews(denied))))
    assert right.is_held is False


def test_the_right_is_asked_for_in_each_namespace_of_the_operator():
    right, server = ExecRight(("a", "b")), Reviews()
    asyncio.run(right.load(cast("Client", server)))
    assert right.is_held is True
    assert {namespace for namespace, _, _ in server.asked} == {"a", "b"}


def test_the_scripts_hand_on_words_and_exit_codes(tmp_path):
    kubectl, kubexec = tmp_path / "kubectl", tmp_path / "kubexec.sh"
    kubectl.write_text('#!/bin/sh\nfor each in "$@"; do echo "[$each]"; done\nexit 7\n')
    kubexec.write_text(kubexec_script("main").replace("/opt/kube/kubectl", str(kubectl)))
    kubectl.chmod(0o755)
    command = ["sh", str(kubexec), "g-worker-0", "echo $HOME", "&&", "ls"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "[exec]\n[g-worker-0]\n[-c]\n[main]\n[--]\n[/bin/sh]\n[-c]\n[echo $HOME && ls]\n"
    assert (done.stdout, done.returncode) == (said, 7)
    assert "exec '/my python' /opt/dglrun/dglrun.pyz" in kubectl_script("/my python")
