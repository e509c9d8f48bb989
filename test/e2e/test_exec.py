# SPDX-License-Identifier: Apache-2.0
"""launchMode Exec on real pods: a Launcher trains real DGL in its Workers by kubexec.sh."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from hack import stack as hack_stack
from hack.overlay import overlay_with
from test.e2e.jobs import condition, phase, status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hack.stack import Stack
    from test.e2e.jobs import Jobs
    from test.e2e.kubectl import Kubectl

PHASES = ["Pending", "Partitioning", "Partitioned", "Dispatching", "Starting", "Training", "Completed"]
_SAMPLE = Path(__file__).parents[2] / "config" / "samples" / "exec.yaml"
_OURS = ("clusterrole", "dglop-exec-role"), ("clusterrolebinding", "dglop-exec-rolebinding")


@pytest.fixture(scope="module")
def _component(stack: Stack, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The operator with config/components/exec; afterwards it is as it was."""
    hack_stack.install(stack, str(overlay_with(tmp_path_factory.mktemp("exec"), "exec")))
    hack_stack.standing(stack)
    yield
    for kind, name in _OURS:
        kubectl.run("delete", kind, name, "--ignore-not-found")
    hack_stack.install(stack)
    hack_stack.standing(stack)


pytestmark = pytest.mark.usefixtures("_component")


def sample(jobs: Jobs, name: str, *train: str, **spec: Any) -> dict[str, Any]:
    """The shipped sample under another name, with other arguments of the training."""
    job: dict[str, Any] = yaml.safe_load(_SAMPLE.read_text())
    job["metadata"] = {"name": name, "namespace": jobs.namespace}
    job["spec"] |= spec
    for each in job["spec"]["dglReplicaSpecs"].values():
        each["template"]["spec"]["containers"][0]["image"] = jobs.image
    if train:
        launcher = job["spec"]["dglReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
        launcher["args"] = ["python3", "/opt/dgl/examples/graphsage/train.py", *train]
    return job


def log(kubectl: Kubectl, jobs: Jobs, name: str) -> str:
    return kubectl.out("logs", f"{name}-launcher-0", "-n", jobs.namespace)


def test_a_launcher_trains_on_two_workers_to_the_end_and_each_phase_is_seen_once(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    with kubectl.watch("dgljobs", jobs.namespace) as seen:
        jobs.submit(sample(jobs, "digits"))
        job = jobs.until_phase("digits", "Completed")
        kubectl.until("the watch saw the end", lambda: "Completed" in seen.distinct("digits", phase))
    assert seen.distinct("digits", phase) == PHASES
    said = log(kubectl, jobs, "digits")
    accuracy = float(said.split("test accuracy ")[-1].split(";")[0])
    assert accuracy > 0.9, said
    assert status(job)["dispatch"] == {"ready": 2, "total": 2}
    assert status(job)["restartCount"] == 0
    assert status(job)["trainer"]["progress"] == "100%"
    metrics = {each["name"]: each["value"] for each in status(job)["trainer"]["metrics"]}
    assert float(metrics["testAccuracy"]) == pytest.approx(accuracy, abs=0.01), "what its trainer reported"
    words = {
        each["reason"]: each
        for each in kubectl.list("events", jobs.namespace)
        if each["type"] == "Warning" and each["involvedObject"]["kind"] == "DGLJob"
    }
    assert not words, "something went wrong on the way"

    def only_what_ended() -> bool:
        return {each["metadata"]["name"] for each in kubectl.list("pods", jobs.namespace)} <= {
            "digits-launcher-0",
            "digits-partitioner-0",
        }

    kubectl.until("the Workers, which never end by themselves, are deleted", only_what_ended)


def test_a_killed_worker_restarts_the_gang_which_trains_to_the_end_with_new_addresses(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    jobs.submit(sample(jobs, "killed", "--epochs", "6", "--epoch-seconds", "2"))
    jobs.until_phase("killed", "Training")
    kubectl.until("it trains", lambda: "epoch 0" in log(kubectl, jobs, "killed"))
    before = jobs.get("killed")
    kubectl.run("delete", "pod", "killed-worker-1", "-n", jobs.namespace, "--grace-period=0", "--force")
    job = jobs.until_attempt("killed", 2)
    job = jobs.until_phase("killed", "Completed")
    assert status(job)["attempt"] == 2
    assert status(job)["restartCount"] == 1
    assert before is not None
    assert status(job)["partition"]["manifestHash"] == status(before)["partition"]["manifestHash"]
    config = kubectl.get("configmap", "killed-config-2", jobs.namespace)
    assert config is not None
    assert "test accuracy" in log(kubectl, jobs, "killed")


_PROBE = """
set -u
echo one > /tmp/one; mkdir -p /tmp/some/below; head -c 3000000 /dev/urandom > /tmp/some/below/big
/opt/kube/kubectl cp /tmp/some {name}-worker-0:/tmp/copied && echo sent
/opt/kube/kubectl cp {name}-worker-0:/tmp/copied /tmp/back && diff -r /tmp/some /tmp/back && echo same
$DGL_OPERATOR_KUBEXEC_PATH {name}-worker-1 'cat /etc/dgl/ip_config; echo "$NODE_RANK" $(hostname)'
$DGL_OPERATOR_KUBEXEC_PATH {name}-worker-1 'exit 7'; echo "code $?"
/opt/kube/kubectl exec {name}-partitioner-0 -- ls; echo "partitioner $?"
/opt/kube/kubectl exec bystander -- ls; echo "bystander $?"
/opt/kube/kubectl exec -n dglop-system x -- ls; echo "system $?"
cat "$DGL_OPERATOR_HOSTFILE_PATH" "$DGL_OPERATOR_LEADFILE_PATH"
"""


def test_a_launcher_reaches_its_own_workers_and_nobody_else(jobs: Jobs, kubectl: Kubectl) -> None:
    bystander = jobs.template(["sleep", "3600"])["spec"] | {"terminationGracePeriodSeconds": 0}
    metadata = {"name": "bystander", "namespace": jobs.namespace}
    jobs.submit({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": bystander})
    job = sample(jobs, "probe")
    job["spec"]["dglReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0] |= {
        "command": ["sh", "-c", _PROBE.format(name="probe")],
        "args": [],
    }
    jobs.submit(job)
    jobs.until_phase("probe", "Completed")
    said = log(kubectl, jobs, "probe")
    assert "sent\nsame\n" in said, said
    assert "1 probe-worker-1" in said
    assert "code 7" in said
    for stranger in ("partitioner", "bystander", "system"):
        assert f"{stranger} 1" in said, "it could run a command there"
    assert said.count("is forbidden") >= 3
    assert "probe-launcher-0" in said.splitlines()[-1], "the leadfile"
    assert "30050 1 probe-worker-0 0" in said


def test_rights_and_host_files_go_with_the_job(jobs: Jobs, kubectl: Kubectl) -> None:
    job = sample(jobs, "goes")
    job["spec"]["dglReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0] |= {
        "command": ["true"],
        "args": [],
    }
    jobs.submit(job)
    jobs.until_phase("goes", "Completed")
    kinds = "serviceaccounts,roles,rolebindings,configmaps"

    def theirs() -> list[str]:
        found = kubectl.list(kinds, jobs.namespace, "training.kubeflow.org/job-name=goes")
        return sorted(each["kind"] for each in found)

    assert theirs() == ["ConfigMap", "Role", "RoleBinding", "ServiceAccount"]
    kubectl.delete("dgljob", "goes", jobs.namespace)
    kubectl.until("all of it is gone", lambda: not theirs())


def test_without_a_dataset_the_launchers_command_partitions_too(jobs: Jobs, kubectl: Kubectl) -> None:
    job = sample(jobs, "both")
    del job["spec"]["dataset"]
    script = (
        'if [ "$DGL_OPERATOR_PHASE_ENV" = Partitioner ]; then '
        "exec python3 /opt/dgl/examples/graphsage/partition.py --dataset digits; fi; "
        "exec python3 /opt/dglrun/dglrun.pyz launch -- "
        "python3 /opt/dgl/examples/graphsage/train.py --epochs 3"
    )
    job["spec"]["dglReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0] |= {
        "command": ["sh", "-c", script],
        "args": [],
    }
    jobs.submit(job)
    jobs.until_phase("both", "Completed")
    assert "test accuracy" in log(kubectl, jobs, "both")


def test_a_launcher_that_fails_ends_the_job_after_its_restarts_in_its_own_words(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    arguments = ("--epochs", "3", "--fail-at-epoch", "1", "--fail-rank", "1", "--fail-attempts", "9")
    jobs.submit(sample(jobs, "fails", *arguments, runPolicy={"backoffLimit": 0}))
    job = jobs.until_phase("fails", "Failed")
    failed = condition(job, "Failed")
    assert failed is not None
    last = status(job)["lastFailure"]
    assert last["podName"] == "fails-launcher-0", json.dumps(last)
    assert "fails in epoch 1, as it was told to" in last["message"]


def test_parts_on_a_claim_are_mounted_and_another_jobs_launcher_trains_on_them(
    jobs: Jobs, kubectl: Kubectl
) -> None:
    storage = {"type": "PVC", "claimName": "parts"}
    first = sample(jobs, "makes", "--epochs", "3", storage=storage)
    jobs.submit(jobs.claim("parts"), first)
    launcher = jobs.until_pod("makes-launcher-0", "is there", bool)
    inits = [each["name"] for each in launcher["spec"]["initContainers"]]
    assert "dglop-dispatch" not in inits, "what is mounted need not be brought"
    jobs.until_phase("makes", "Completed")
    kubectl.delete("dgljob", "makes", jobs.namespace)
    existing = {"storage": {**storage, "existing": True}, "partitionMode": "Skip"}
    second = sample(jobs, "takes", "--epochs", "3", **existing)
    del second["spec"]["dataset"]
    jobs.submit(second)
    job = jobs.until_phase("takes", "Completed")
    assert status(job)["partition"]["state"] in {"Reused", "Skipped"}
    assert "test accuracy" in log(kubectl, jobs, "takes")


def test_the_workers_may_fetch_their_own_parts(jobs: Jobs, kubectl: Kubectl) -> None:
    jobs.submit(sample(jobs, "pulls", "--epochs", "3", dispatch={"mode": "Pull"}))
    worker = jobs.until_pod("pulls-worker-0", "is there", bool)
    assert "dglop-fetch" in [each["name"] for each in worker["spec"]["initContainers"]]
    jobs.until_phase("pulls", "Completed")
    assert "test accuracy" in log(kubectl, jobs, "pulls")
