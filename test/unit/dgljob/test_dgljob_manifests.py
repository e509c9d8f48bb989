# SPDX-License-Identifier: Apache-2.0
"""What is shipped in config/: generated files are current, samples can run, rights are few."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dglop.dgljob import DGLJob
from dglop.dgljob.operator import make_operator
from dglop.dgljob.rbac import MANAGER_RULES, OWN_RULES
from dglop.dgljob.settings import OperatorSettings
from dglop.dgljob.validation import problems
from hack import generate
from test.unit.dgljob.dgljob_world import World, make_job

ROOT = Path(__file__).parents[3]
_SAMPLES = (ROOT / "config" / "samples").glob("*.yaml")
# model-reader is a pod, which shows what a job left in its claim; the others are of other kinds
JOBS = sorted(each for each in _SAMPLES if each.stem not in ("model-reader", "pytorchjob", "mpijob"))


def jobs(path):
    return [each for each in yaml.safe_load_all(path.read_text()) if each["kind"] == "DGLJob"]


def test_the_generated_files_are_current():
    stale = [path.name for path, text in generate.generated().items() if path.read_text() != text]
    assert not stale, "run: make generate"


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_a_sample_has_jobs_that_can_run(path):
    found = jobs(path)
    assert found
    for wire in found:
        assert problems(DGLJob.from_wire(wire)) == []


def test_the_demo_leaves_its_model_in_the_claim_that_it_makes():
    documents = list(yaml.safe_load_all((ROOT / "config/samples/graphsage.yaml").read_text()))
    claim, job = documents
    assert job["spec"]["output"]["claimName"] == claim["metadata"]["name"] == "digits-model"
    assert job["spec"]["dglReplicaSpecs"]["Worker"]["replicas"] == 2


def test_the_columns_are_those_that_people_look_for():
    assert list(DGLJob.definition.columns) == [
        "State", "Workers", "Parts", "Restarts", "Progress", "Reason",
        "Servers", "Samplers", "Trainers", "Mode", "Attempt", "Disruptions", "Last Failure", "Age",
    ]  # fmt: skip
    narrow = [name for name, column in DGLJob.definition.columns.items() if not column.priority]
    assert narrow == ["State", "Workers", "Parts", "Restarts", "Progress", "Reason", "Age"]


def test_the_reason_column_tells_why_a_job_failed_without_any_pod():
    world = World(make_job(specs={"Worker": {"replicas": 2, "template": {"spec": {"containers": []}}}}))
    world.settle()
    assert world.job.status.phase == "Failed"
    assert cell("Reason", world.job.to_wire()) == "InvalidSpec"
    assert cell("Last Failure", world.job.to_wire()) is None


def test_the_columns_tell_what_a_pod_died_of_and_what_that_meant_for_the_job():
    world = World(make_job())
    world.partition()
    world.train()
    assert not cell("Reason", world.job.to_wire())
    world.end("g-worker-0", 1)
    world.settle()
    assert cell("Reason", world.job.to_wire()) == "DGLJobFailed"
    assert cell("Last Failure", world.job.to_wire()) == "Error"


def cell(column, wire):
    """What the shipped CRD's column shows."""
    (crd,) = yaml.safe_load_all((ROOT / "config/crd/bases/kubeflow.org_dgljobs.yaml").read_text())
    columns = crd["spec"]["versions"][0]["additionalPrinterColumns"]
    (path,) = [each["jsonPath"] for each in columns if each["name"] == column]
    for key in path.split(".")[1:]:
        wire = (wire or {}).get(key)
    return wire


def test_the_operator_reads_no_secret_but_its_own_and_no_log():
    rules = (*MANAGER_RULES, *OWN_RULES)
    for rule in rules:
        assert "*" not in (*rule.groups, *rule.resources, *rule.verbs)
        assert not {"pods/log", "pods/exec", "nodes"} & set(rule.resources)
        if "secrets" in rule.resources and set(rule.verbs) - {"create"}:
            assert rule.names == ("dglop-operator-key",)


def flags_of(*manifests):
    """The operator's flags as config/ gives them, without those that kubernetes fills in."""
    return [flag for args in manifests for flag in args if flag.startswith("--") and "$(" not in flag]


def test_metrics_are_plain_as_shipped_and_over_tls_with_the_component():
    deployment = yaml.safe_load((ROOT / "config/manager/workload/manager.yaml").read_text())
    shipped = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    component = yaml.safe_load((ROOT / "config/secure-metrics/kustomization.yaml").read_text())
    changes = yaml.safe_load(component["patches"][0]["patch"])
    added = [each["value"] for each in changes if each["path"].endswith("/args/-")]
    plain = OperatorSettings().with_flags(flags_of(shipped))
    secure = OperatorSettings().with_flags(flags_of(shipped, added))
    assert (plain.metrics_secure, plain.metrics_bind) == (False, ":8080")
    assert (secure.metrics_secure, secure.metrics_bind) == (True, ":8443")
    mounts = [each["value"][0]["mountPath"] for each in changes if each["path"].endswith("/volumeMounts")]
    assert mounts == [secure.metrics_cert_path]


def test_the_lease_of_the_shipped_operator_is_the_one_that_its_role_names():
    deployment = yaml.safe_load((ROOT / "config/manager/workload/manager.yaml").read_text())
    shipped = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    operator = make_operator(OperatorSettings().with_flags(flags_of(shipped)))
    lease = operator.settings.lease_name(operator.name)
    role = yaml.safe_load((ROOT / "config/rbac/own/role.yaml").read_text())
    named = [each.get("resourceNames") for each in role["rules"] if each["resources"] == ["leases"]]
    assert operator.settings.leader_elect
    assert lease == operator.name
    assert named == [None, [lease]]
