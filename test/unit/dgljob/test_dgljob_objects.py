# SPDX-License-Identifier: Apache-2.0
"""Objects of a job besides its pods."""

from __future__ import annotations

from dglop.dgljob import Tokens
from test.unit.dgljob.dgljob_world import UID, World, make_job

SECRET = f"g-dglrun-{UID[:8]}"


def objects(job):
    world = World(job)
    world.settle()
    return world


def test_the_secret_carries_the_uid_and_tokens_that_only_the_key_can_make():
    world = objects(make_job())
    secret = world.objects[SECRET]
    tokens = Tokens(b"k" * 32)
    assert secret["stringData"] == {"parts-token": tokens.parts(UID), "status-token": tokens.status(UID)}
    assert secret["metadata"]["ownerReferences"][0]["uid"] == UID


def test_one_headless_service_names_pods_before_they_are_ready():
    service = objects(make_job()).services["g"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert list(objects(make_job()).services) == ["g"]


def test_a_claim_is_made_from_its_template_and_goes_with_the_job():
    template = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    world = objects(make_job(storage={"type": "PVC", "claimTemplate": template}))
    claim = world.objects["g-partitions"]
    assert claim["spec"] == template
    assert claim["metadata"]["ownerReferences"][0]["uid"] == UID
    pod = world.pods["g-partitioner-0"]["spec"]
    named = [each["persistentVolumeClaim"] for each in pod["volumes"] if "persistentVolumeClaim" in each]
    assert named == [{"claimName": "g-partitions"}]


def test_a_retained_claim_has_no_owner():
    storage = {
        "type": "PVC",
        "claimTemplate": {"accessModes": ["ReadWriteMany"]},
        "retentionPolicy": "Retain",
    }
    assert objects(make_job(storage=storage)).objects["g-partitions"]["metadata"]["ownerReferences"] == []


def test_a_network_policy_lets_only_the_jobs_own_pods_in():
    world = objects(make_job(network={"policy": "JobOnly"}))
    policy = world.objects["g"]
    selector = policy["spec"]["podSelector"]["matchLabels"]
    assert policy["spec"]["ingress"] == [{"from": [{"podSelector": {"matchLabels": selector}}]}]
    assert selector.items() <= world.pods["g-partitioner-0"]["metadata"]["labels"].items()


def test_no_object_grants_anything_in_the_cluster():
    kinds = {each["kind"] for each in objects(make_job()).objects.values()}
    assert not kinds & {"Role", "RoleBinding", "ServiceAccount", "ClusterRole"}
